package config

import (
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/policy"
	"multis/policy/rules"
)

// defaults returns the values of keys that neither the file nor the environment sets. example.yaml shows the same values.
func defaults() *Config {
	return &Config{
		Appservice: Appservice{
			Hostname: "127.0.0.1",
			Port:     29399,
			ID:       "multis",
			Bot:      Bot{Username: "multis", DisplayName: "multis"},
		},
		Operators: []id.UserID{},
		Name:      "Nora",
		Database:  Database{DataDir: "data", Connections: 20},
		Backup:    Backup{Every: 24 * time.Hour, Folder: "backups", Keep: 7, MaxMB: 2000},
		LLM: LLM{
			Model:      NoModel,
			Timeout:    30 * time.Second,
			Providers:  map[string]Provider{},
			Strategies: emptyStrategies(),
			Prices:     []Price{},
			MaxTokens:  1024,
			Contexts:   []ContextWindow{},
			Small:      []string{},
			Rounds:     12,

			AnswerTimeout:     5 * time.Minute,
			UnattendedTimeout: 5 * time.Minute,
		},
		Embeddings: Embeddings{Model: NoModel},
		Media:      Media{Keep: policy.KeepNone, MaxMB: 500, MaxDays: 90},
		Speech:     Speech{Model: NoModel, Timeout: time.Minute},
		Vision:     Vision{Model: NoModel},
		Answers:    Answers{Judge: AgentModel},
		Budget: Budget{
			PerDay:     2_000_000,
			PerChatDay: 500_000,
			PerRun:     500_000,
			AtCap:      AtCapDocuments,
			Currency:   "EUR",
		},
		Chats: Chats{
			Profile: policy.ProfilePersonal, FirstDelivery: policy.DeliveryDraft,
			ReplyMaxAge: 10 * time.Minute,
			OwnerPause:  30 * time.Minute,
			BurstQuiet:  4 * time.Second,
			BurstMax:    15 * time.Second,
			ContactCaps: ContactCaps{PerMinute: 10, PerDay: 100},
			Networks:    map[string]Network{},
		},
		Business:     defaultBusiness(),
		Documents:    Documents{Folder: "documents"},
		Hooks:        map[string]Hook{},
		CommandHooks: map[string]CommandHook{},
		Monitors:     map[string]Monitor{},
		Agents:       map[string]Agent{},
		Skills:       Skills{Folder: "skills"},
		Tasks:        Tasks{Folder: "tasks"},
		Shortcuts:    []Shortcut{},
		Heartbeat:    defaultHeartbeat(),
		MCP:          map[string]MCP{},
		MCPServer:    MCPServer{Hostname: "127.0.0.1"},
		Memory: Memory{
			CaptureThreshold:   20,
			CaptureQuiet:       6 * time.Hour,
			CaptureMinimum:     6,
			CaptureSkill:       "capture.md",
			MaxSections:        12,
			RecentWindow:       20,
			SearchMessages:     true,
			RetentionDays:      90,
			OwnerRetentionDays: 365,
			LogRetentionDays:   30,
		},
		Audit:     Audit{RetentionDays: 30},
		Injection: Injection{Enabled: true, MaxFlags: 3, HoldTime: 24 * time.Hour},
		SafeMode:  SafeMode{AfterCrashes: 3},
		Watches:   WebhookListener{Hostname: "127.0.0.1"},
		Tools:     Tools{Deny: []string{}},
		Policy:    Policy{Rules: []rules.Rule{}},
		Logging:   Logging{Level: zerolog.InfoLevel, Format: FormatPretty},
	}
}

func defaultBusiness() Business {
	return Business{
		Topics: []string{},
		Rules:  []string{},
		Pages:  []string{},
		Escalation: Escalation{
			Keywords:    []string{"refund", "complaint", "urgent", "human", "manager"},
			OnCall:      []id.UserID{},
			ClaimWithin: 10 * time.Minute,
		},
		Language:     catalog.English,
		Texts:        map[catalog.Lang]Texts{},
		Hours:        []string{},
		Holidays:     []hours.Days{},
		OutsideHours: OutsideHoursAnswer,
	}
}
