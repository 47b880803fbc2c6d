package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestLabels_KeepFileOrder(t *testing.T) {
	t.Parallel()
	c := parse(t, least+
		"chats:\n  labels:\n    wholesale: {networks: [whatsapp], mode: business, delivery: auto}\n    angry: {words: [money back], mode: silent, delivery: draft}\n    early: {hours: [\"mon-fri 8-20\"]}\n    a: {}\n")
	require.Equal(t, []Label{
		{Name: "wholesale", Networks: []string{"whatsapp"}, Mode: policy.ModeBusiness, Delivery: policy.DeliveryAuto},
		{Name: "angry", Words: []string{"money back"}, Mode: policy.ModeSilent, Delivery: policy.DeliveryDraft},
		{Name: "early", Hours: []string{"mon-fri 8-20"}},
		{Name: "a"},
	}, c.Chats.Labels)
}

func TestLabels_AreBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range policy.MaxLabels + 1 {
		fmt.Fprintf(&many, "    label%d: {}\n", i)
	}
	_, err := Parse("config.yaml", []byte(least+"chats:\n  labels:\n"+many.String()), noEnv)
	require.ErrorContains(t, err, "config.yaml:11: chats.labels: has 51 labels; write at most 50")
}

func TestLabel_SelfGivenLoosensNothing(t *testing.T) {
	t.Parallel()
	for setting, complaint := range map[string]string{
		"mode: business": `mode: cannot be "business"`, "mode: personal": `mode: cannot be "personal"`, "mode: off": `mode: cannot be "off"`,
		"delivery: auto": `delivery: cannot be "auto"`, `hours: ["mon-sun 0-24"]`: "hours: cannot be set",
	} {
		t.Run(setting, func(t *testing.T) {
			for _, rule := range []string{`names: ["*acme*"]`, "words: [hello]"} {
				file := least + "chats:\n  labels:\n    vip:\n      " + rule + "\n      " + setting + "\n"
				_, err := Parse("config.yaml", []byte(file), noEnv)
				want := fmt.Sprintf("config.yaml:%d: chats.labels.vip.%s, because contacts choose their names and words", strings.Count(file, "\n"),
					complaint)
				require.ErrorContains(t, err, want, rule)
			}
			parse(t, least+"chats:\n  labels:\n    vip:\n      networks: [whatsapp]\n      "+setting+"\n")
		})
	}
}
