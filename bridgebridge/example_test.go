package bridgebridge_test

import (
	"fmt"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
)

func ExampleClassify() {
	who := bridgebridge.Senders{Owner: "@owner:example.com", Bot: "@multis:example.com", BridgeBot: "@whatsappbot:example.com"}
	for _, sender := range []id.UserID{"@whatsapp_4917:example.com", "@owner:example.com", "@whatsappbot:example.com"} {
		fmt.Println(bridgebridge.Classify(&event.Event{Sender: sender}, who))
	}
	// Output:
	// contact
	// owner_client
	// bridge_bot
}
