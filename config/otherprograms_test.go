package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherPrograms_KeysAreExplained(t *testing.T) {
	t.Parallel()
	r := newReader("config.yaml", defaults())
	for key, it := range otherProgramKeys {
		_, isKey := r.fields[key]
		_, isSection := r.sections[key]
		require.False(t, isKey || isSection, "%s is a key of ours", key)
		require.False(t, slices.ContainsFunc(r.fieldOrder, func(ours string) bool {
			return ours == "memory."+key || ours == "llm."+key || ours == "heartbeat."+key
		}), "%s is a key of ours", key)
		if it.ours != "" {
			_, isKey = r.fields[it.ours]
			_, isSection = r.sections[it.ours]
			require.True(t, isKey || isSection || slices.Contains(r.keyNames(""), it.ours), "%s is no key of ours", it.ours)
		}
		require.True(t, it.ours != "" || it.note != "", key)
	}
}

func TestOtherPrograms_ConfigurationsAreAnswered(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"bot_mode: personal":                         `bot_mode: unknown key; it is called chats.profile here: personal or business`,
		"memory: {enabled: true}":                    `memory.enabled: unknown key; there is no such setting here: notes are taken where llm.model names a model`,
		"memory: {decay_rate: 0.05}":                 `memory.decay_rate: unknown key; there is no such setting here: `,
		"memory: {memory_section_cap: 5}":            `memory.memory_section_cap: unknown key; it is called memory.memory_max_sections here`,
		"tools: {agentToAgent: {allow: [a]}}":        `tools.agentToAgent: unknown key; it is called agents here: `,
		"task: {timeout_sec: 300}":                   `task: unknown key; there is no such setting here: the time of a task is fixed`,
		"business: {escalation: {admin_chat: x}}":    `business.escalation.admin_chat: unknown key; there is no such setting here: escalations come to the admin room`,
		"llm: {provider: openai}":                    `llm.provider: unknown key; it is called llm.model here`,
		"llm: {circuit_breaker: {threshold: 5}}":     `llm.circuit_breaker: unknown key; there is no such setting here`,
		"llm: {apiKey: x}":                           `llm.apiKey: unknown key; did you mean "api_key"?`,
		"heartbeat: {interval_minutes: 30}":          `heartbeat.interval_minutes: unknown key; it is called heartbeat.every here: such as 30m`,
		"heartbeat: {active_hours: {start: 7}}":      `heartbeat.active_hours: unknown key; it is called heartbeat.active_from here`,
		"bindings: []":                               `bindings: unknown key; it is called agents here: each agent says where it answers`,
		"agents: {list: [{id: main}]}":               `agents.list: it is called agents here: write a section for each agent`,
		"agents: {defaults: {model: x}}":             `agents.defaults: it is called llm.model here`,
		"providers: {routing_strategy: cheap_first}": `providers: unknown key; it is called llm.providers here`,
		"session: {identityLinks: {}}":               `session: unknown key; there is no such setting here`,
		"cron: {maxConcurrentRuns: 1}":               `cron: unknown key; there is no such setting here`,
		"observability: {metrics_enabled: false}":    `observability: unknown key; it is called logging here`,
		"platforms: {telegram: {enabled: true}}":     `platforms: unknown key; it is called chats.networks here`,
	} {
		t.Run(data, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(least+data+"\n"), noEnv)
			require.Error(t, err, data)
			require.True(t, slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool {
				_, text, _ := strings.Cut(line, " ")
				return strings.HasPrefix(text, want)
			}), "%s\n%s", want, err)
		})
	}
	_, err := Parse("config.yaml", []byte(least+"agents: {list: {name: List}}\n"), noEnv)
	require.NoError(t, err, "an agent may be called so")
}
