package policy

import "strings"

// Network is one name for each network, whatever its bridge or its users call it: "discord" for the protocol "discordgo" and for "Discord".
// Settings and chats are compared by it.
func Network(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "messenger", "facebookgo":
		return "facebook"
	case "discordgo", "slackgo", "instagramgo", "imessagego":
		return strings.TrimSuffix(name, "go")
	case "x":
		return "twitter"
	default:
		return name
	}
}
