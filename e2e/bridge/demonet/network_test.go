package demonet_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/e2e/bridge/demonet"
)

func TestSay_MakesChats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		message demonet.Message
		chat    demonet.Chat
	}{
		"a stranger who speaks opens a DM": {
			demonet.Message{Chat: "anna", Sender: "anna"},
			demonet.Chat{ID: "anna", Kind: demonet.DM, Members: []string{"anna"}},
		},
		"the owner who speaks first opens a DM with the contact": {
			demonet.Message{Chat: "anna", Sender: demonet.Self},
			demonet.Chat{ID: "anna", Kind: demonet.DM, Members: []string{"anna"}},
		},
		"a stranger in a group becomes a member": {
			demonet.Message{Chat: "club", Sender: "anna"},
			demonet.Chat{ID: "club", Kind: demonet.Group, Name: "Club", Members: []string{"berta", "anna"}},
		},
		"the owner in a group does not become a member": {
			demonet.Message{Chat: "club", Sender: demonet.Self},
			demonet.Chat{ID: "club", Kind: demonet.Group, Name: "Club", Members: []string{"berta"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := open(t, filepath.Join(t.TempDir(), "state.json"))
			require.NoError(t, network.SetChat(demonet.Chat{ID: "club", Kind: demonet.Group, Name: "Club"},
				[]demonet.Contact{{ID: "berta"}}))
			message, err := network.Say(test.message, "")
			require.NoError(t, err)
			require.NotEmpty(t, message.ID)
			require.False(t, message.Time.IsZero())
			chat, ok := network.Chat(test.message.Chat)
			require.True(t, ok)
			require.Equal(t, test.chat, chat)
		})
	}
}

func TestNetwork_RefusesMissingIDs(t *testing.T) {
	t.Parallel()
	network := open(t, filepath.Join(t.TempDir(), "state.json"))
	_, err := network.Say(demonet.Message{Sender: "anna"}, "")
	require.ErrorIs(t, err, demonet.ErrNoID)
	require.ErrorIs(t, network.SetChat(demonet.Chat{ID: "club"}, []demonet.Contact{{}}), demonet.ErrNoID)
}

func TestNetwork_SurvivesRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	before := open(t, path)
	first, err := before.Say(demonet.Message{Chat: "anna", Sender: "anna"}, "Anna Berg")
	require.NoError(t, err)
	_, err = before.Deliver(demonet.Delivery{Chat: "anna", Text: "Hello"})
	require.NoError(t, err)
	require.NoError(t, before.SetFailing("anna", true))

	after := open(t, path)
	require.Equal(t, "Anna Berg", after.NameOf("anna"))
	require.Len(t, after.Delivered("anna"), 1)
	require.Empty(t, after.Delivered("berta"))
	_, err = after.Deliver(demonet.Delivery{Chat: "anna", Text: "lost"})
	require.ErrorIs(t, err, demonet.ErrRefused)
	require.Len(t, after.Delivered(""), 1, "what was refused is not delivered")
	next, err := after.Say(demonet.Message{Chat: "anna", Sender: "anna"}, "")
	require.NoError(t, err)
	require.NotEqual(t, first.ID, next.ID)
	require.Equal(t, "Anna Berg", after.NameOf("anna"), "no name changes none")
}

func open(t *testing.T, path string) *demonet.Network {
	t.Helper()
	network, err := demonet.Open(path)
	require.NoError(t, err)
	return network
}
