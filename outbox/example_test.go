package outbox_test

import (
	"fmt"

	"multis/outbox"
	"multis/policy"
	"multis/store"
)

func ExampleNewNotice() {
	admin := store.Chat{Kind: policy.KindAdmin}
	notice := outbox.NewNotice(admin, "**Ana · WhatsApp** waits for you: `/resume Ana`", outbox.Alert)
	fmt.Println(notice.Purpose)
	fmt.Println(notice.HTML)
	// Output:
	// notice
	// <strong>Ana · WhatsApp</strong> waits for you: <code>/resume Ana</code>
}

func ExamplePlainText() {
	fmt.Println(outbox.PlainText("See [the message](https://matrix.to/#/!a:example.com)."))
	// Output: See the message (https://matrix.to/#/!a:example.com).
}
