package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamed_FindsChatsInQuestion(t *testing.T) {
	t.Parallel()
	chats := []ChatName{
		{ID: 1, Name: "Ana", Network: "WhatsApp"},
		{ID: 2, Name: "Ana", Network: "Signal"},
		{ID: 3, Name: "Ben Miller", Network: "WhatsApp"},
		{ID: 4, Name: "Cleo", Network: "Telegram"},
		{ID: 5, Name: "Cleo Marie", Network: "Telegram"},
		{ID: 6, Name: "Dr. Weber", Network: "WhatsApp"},
		{ID: 7, Name: "Family", Network: "WhatsApp"},
		{ID: 8, Name: "Eva Long", Network: "Signal"},
		{ID: 9, Name: "Eva Short", Network: "Signal"},
		{ID: 10, Name: "X", Network: "Signal"},
		{ID: 11, Name: "", Network: "Signal"},
	}
	for text, want := range map[string]struct{ named, unclear []ChatID }{
		"what did ben miller say about the fence?":    {named: []ChatID{3}},
		"What did BEN say?":                           {named: []ChatID{3}},
		"what did Ana say on Friday?":                 {unclear: []ChatID{1, 2}},
		"what did Ana say on signal?":                 {named: []ChatID{2}},
		"Is Cleo coming?":                             {named: []ChatID{4}},
		"Is Cleo Marie coming?":                       {named: []ChatID{5}},
		"When does dr. weber open, and family?":       {named: []ChatID{6, 7}},
		"Did Eva pay?":                                {unclear: []ChatID{8, 9}},
		"Did Eva Long pay?":                           {named: []ChatID{8}},
		"the banana and the analysis in benches":      {},
		"x":                                           {},
		"when do we deliver?":                         {},
		"what did Ana and Ben agree on, on WhatsApp?": {named: []ChatID{1, 3}},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			named, unclear := FindChats(text, chats)
			require.Equal(t, want.named, ids(named))
			require.Equal(t, want.unclear, ids(unclear))
		})
	}
}

func TestNamed_MergedPersonHasAllChats(t *testing.T) {
	t.Parallel()
	chats := []ChatName{
		{ID: 1, Name: "Ana", Network: "WhatsApp", Person: 1},
		{ID: 2, Name: "Ana", Network: "Signal", Person: 1},
		{ID: 3, Name: "Annabel", Network: "Telegram", Person: 1},
		{ID: 4, Name: "Ben", Network: "WhatsApp"},
	}
	named, unclear := FindChats("what did Ana say?", chats)
	require.Equal(t, []ChatID{1, 2, 3}, ids(named))
	require.Empty(t, unclear)
	named, _ = FindChats("what did Annabel and Ben say?", chats)
	require.ElementsMatch(t, []ChatID{1, 2, 3, 4}, ids(named))
	chats[2].Name, chats[2].Person = "Ana", 0
	_, unclear = FindChats("what did Ana say?", chats)
	require.Equal(t, []ChatID{1, 2, 3}, ids(unclear), "one of them is somebody else")
}

func ids(chats []ChatName) []ChatID {
	var list []ChatID
	for _, c := range chats {
		list = append(list, c.ID)
	}
	return list
}
