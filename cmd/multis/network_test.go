package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/policy"
)

func TestNetwork_SettingsHoldUnderAliases(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Chats: config.Chats{
		Profile:  policy.ProfileBusiness,
		Networks: map[string]config.Network{"discord": {Mode: policy.ModeOff}, "Slack": {Disclosure: true}},
	}}
	mode, _ := chatDefaults(cfg).Mode(policy.ChatFacts{Kind: policy.KindDM, Protocol: "discordgo"})
	require.Equal(t, policy.ModeOff, mode)
	told := disclosureByNetwork(cfg)
	require.False(t, told("discordgo"))
	require.True(t, told("slackgo"))
	require.True(t, told("whatsapp"))
}
