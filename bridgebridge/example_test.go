package bridgebridge_test

import (
	"fmt"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
)

func ExampleEvent_Author() {
	who := bridgebridge.Senders{Owner: "@owner:example.com", Bot: "@multis:example.com", BridgeBot: "@whatsappbot:example.com"}
	for _, sender := range []id.UserID{"@whatsapp_4917:example.com", "@owner:example.com", "@whatsappbot:example.com"} {
		evt, err := bridgebridge.Parse(&event.Event{Sender: sender})
		fmt.Println(evt.Author(who), err)
	}
	// Output:
	// contact <nil>
	// owner_client <nil>
	// bridge_bot <nil>
}
