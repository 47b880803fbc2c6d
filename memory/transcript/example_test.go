package transcript_test

import (
	"fmt"
	"strings"
	"time"

	"multis/memory/transcript"
)

func ExampleWhatsApp() {
	file := strings.NewReader("21.11.26, 18:05 - Ana: When do you open?\n21.11.26, 18:07 - Ben: At nine.\n")
	lines, err := transcript.WhatsApp("chat.txt", file, time.UTC)
	for _, l := range lines {
		fmt.Println(l.At.Format(time.DateTime), l.Sender, l.Text)
	}
	fmt.Println(err)
	// Output:
	// 2026-11-21 18:05:00 Ana When do you open?
	// 2026-11-21 18:07:00 Ben At nine.
	// <nil>
}
