package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQuestionNamesAChat(t *testing.T) {
	t.Parallel()
	chats := []ChatName{
		{1, "Ana", "WhatsApp"},
		{2, "Ana", "Signal"},
		{3, "Ben Miller", "WhatsApp"},
		{4, "Cleo", "Telegram"},
		{5, "Cleo Marie", "Telegram"},
		{6, "Dr. Weber", "WhatsApp"},
		{7, "Family", "WhatsApp"},
		{8, "Eva Long", "Signal"},
		{9, "Eva Short", "Signal"},
		{10, "X", "Signal"},
		{11, "", "Signal"},
	}
	for text, want := range map[string]struct{ named, unclear []int64 }{
		"what did ben miller say about the fence?":    {named: []int64{3}},
		"What did BEN say?":                           {named: []int64{3}},
		"what did Ana say on Friday?":                 {unclear: []int64{1, 2}},
		"what did Ana say on signal?":                 {named: []int64{2}},
		"Is Cleo coming?":                             {named: []int64{4}},
		"Is Cleo Marie coming?":                       {named: []int64{5}},
		"When does dr. weber open, and family?":       {named: []int64{6, 7}},
		"Did Eva pay?":                                {unclear: []int64{8, 9}},
		"Did Eva Long pay?":                           {named: []int64{8}},
		"the banana and the analysis in benches":      {},
		"x":                                           {},
		"when do we deliver?":                         {},
		"what did Ana and Ben agree on, on WhatsApp?": {named: []int64{1, 3}},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			named, unclear := Named(text, chats)
			require.Equal(t, want.named, ids(named))
			require.Equal(t, want.unclear, ids(unclear))
		})
	}
}

func ids(chats []ChatName) []int64 {
	var list []int64
	for _, c := range chats {
		list = append(list, c.ID)
	}
	return list
}
