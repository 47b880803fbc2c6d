package store

import (
	"fmt"

	"multis/bridgebridge"
	"multis/policy"
)

// Label names the chat for people, with its network: "Ana · WhatsApp", "Family · WhatsApp group", or "Ana · WhatsApp #12" if several chats have that
// name.
func (c Chat) Label() string {
	label := bridgebridge.DisplayName(c.Name) + " · " + bridgebridge.NetworkName(c.Protocol)
	if c.Kind == policy.KindGroup {
		label += " group"
	}
	return label + c.numberSuffix()
}

// TypedName is the name by which a command names the chat: "Ana", or "Ana #12" if several chats have that name.
func (c Chat) TypedName() string { return bridgebridge.DisplayName(c.Name) + c.numberSuffix() }

// numberSuffix returns the chat's number if several chats have its name, else nothing.
func (c Chat) numberSuffix() string {
	if !c.Namesake {
		return ""
	}
	return fmt.Sprintf(" #%d", c.ID)
}
