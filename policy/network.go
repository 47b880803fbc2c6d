package policy

import "strings"

// CanonicalNetwork returns the canonical name of a network, for a protocol name of a bridge or a name that people use:
// "discord" for "discordgo" and "Discord". Settings and chats are compared by it.
func CanonicalNetwork(name string) string {
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
