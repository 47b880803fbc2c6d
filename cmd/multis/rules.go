package main

import (
	"time"

	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/appservice"
	"multis/config"
	"multis/outbox"
	"multis/policy"
)

// storeCap bounds how many messages of one contact are stored.
var storeCap = policy.Rate{Minute: 60, Day: 2000}

func outboxRules(cfg *config.Config) outbox.Rules {
	return outbox.Rules{Owner: cfg.Owner, Defaults: chatDefaults(cfg), OwnerPause: cfg.Chats.AdminPause, SendCap: sendCap(cfg), Name: cfg.Name, Disclose: discloses(cfg)}
}

func inboxRules(cfg *config.Config) appservice.Rules {
	return appservice.Rules{
		Owner: cfg.Owner, Bot: botID(cfg), Operators: cfg.Operators, Name: cfg.Name, Defaults: chatDefaults(cfg), MaxAge: cfg.Chats.ReplyMaxAge,
		OwnerPause: cfg.Chats.AdminPause, DeleteAnswers: cfg.Chats.DeleteAnswers, Keywords: cfg.Business.Escalation.Keywords, StoreCap: storeCap, SendCap: sendCap(cfg),
		Listens: cfg.Speech.Model != config.NoModel, Keep: cfg.Media.Keep, Spaces: routedSpaces(cfg),
	}
}

func adminRules(cfg *config.Config, model string, inTerminal bool) (admin.Rules, error) {
	words, err := shortcuts(cfg)
	return admin.Rules{
		Version: version, Name: cfg.Name, Terminal: inTerminal, Model: model, Zone: cfg.TimeZone, Defaults: chatDefaults(cfg), OwnerPause: cfg.Chats.AdminPause,
		Inbox: webhookAddress(cfg.Watches), Disclose: discloses(cfg), DayBudget: int64(cfg.Budget.PerDay), Currency: cfg.Budget.Currency,
		EscalateAtCap: cfg.Budget.AtCap == config.AtCapEscalate, Embeddings: cfg.Embeddings.Model, Agents: agentList(cfg), Shortcuts: words,
	}, err
}

// chatDefaults returns the defaults for chats of which the owner has not set the mode or the delivery.
func chatDefaults(cfg *config.Config) policy.Defaults {
	return policy.Defaults{Profile: cfg.Chats.Profile, Networks: networks(cfg), FirstDelivery: cfg.Chats.FirstDelivery}
}

// networks returns the configured modes by network.
func networks(cfg *config.Config) map[string]policy.Mode {
	modes := map[string]policy.Mode{}
	for protocol, n := range cfg.Chats.Networks {
		if n.Mode != "" {
			modes[policy.Network(protocol)] = n.Mode
		}
	}
	return modes
}

func sendCap(cfg *config.Config) policy.Rate {
	return policy.Rate{Minute: cfg.Chats.ContactCaps.PerMinute, Day: cfg.Chats.ContactCaps.PerDay}
}

func keepLimits(m config.Media) appservice.KeepLimits {
	return appservice.KeepLimits{Total: int64(m.MaxMB) << 20, Age: time.Duration(m.MaxDays) * 24 * time.Hour}
}

// discloses returns a function that reports whether the assistant's messages are marked with its name on a network. They are unless the
// configuration says otherwise.
func discloses(cfg *config.Config) func(protocol string) bool {
	disclosed := map[string]bool{}
	for name, n := range cfg.Chats.Networks {
		disclosed[policy.Network(name)] = n.Disclosure
	}
	return func(protocol string) bool {
		discloses, isSet := disclosed[policy.Network(protocol)]
		return discloses || !isSet
	}
}

func botID(cfg *config.Config) id.UserID {
	return id.NewUserID(cfg.Appservice.Bot.Username, cfg.Homeserver.Domain)
}
