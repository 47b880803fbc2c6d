package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonicalNetwork(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"whatsapp": "whatsapp", "WhatsApp": "whatsapp", "discordgo": "discord", "Discord": "discord", "slackgo": "slack",
		"facebookgo": "facebook", "Messenger": "facebook",
		"instagramgo": "instagram", "imessagego": "imessage", "X": "twitter", "twitter": "twitter", "mango": "mango", "": "",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want, CanonicalNetwork(name), name)
		})
	}
	defaults := Defaults{Profile: ProfileBusiness, Networks: map[string]Mode{CanonicalNetwork("Discord"): ModeOff}}
	mode, _ := defaults.Mode(ChatFacts{Kind: KindDM, Protocol: "discordgo"})
	require.Equal(t, ModeOff, mode)
}
