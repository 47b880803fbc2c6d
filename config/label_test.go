package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestLabelsKeepTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	c := parse(t, least+"chats:\n  labels:\n    wholesale: {networks: [whatsapp], mode: business, delivery: auto}\n    angry: {words: [money back], delivery: draft, hours: [\"mon-fri 8-20\"]}\n    a: {}\n")
	require.Equal(t, []Label{
		{Name: "wholesale", Networks: []string{"whatsapp"}, Mode: policy.ModeBusiness, Delivery: policy.DeliveryAuto},
		{Name: "angry", Words: []string{"money back"}, Delivery: policy.DeliveryDraft, Hours: []string{"mon-fri 8-20"}},
		{Name: "a"},
	}, c.Chats.Labels)
}

func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range policy.MaxLabels + 1 {
		fmt.Fprintf(&many, "    label%d: {}\n", i)
	}
	_, err := Parse("config.yaml", []byte(least+"chats:\n  labels:\n"+many.String()), noEnv)
	require.ErrorContains(t, err, "config.yaml:11: chats.labels: has 51 labels; write at most 50")
}
