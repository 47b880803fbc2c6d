package main

import (
	"time"

	"multis/admin"
	"multis/appservice"
	"multis/business/desk"
	"multis/business/hours"
	"multis/config"
	"multis/outbox"
	"multis/policy"
	"multis/safety/pin"
)

// storeCap limits how many messages of one contact are stored.
var storeCap = policy.Rate{Minute: 60, Day: 2000}

func outboxSettings(cfg *config.Config) outbox.Settings {
	return outbox.Settings{
		Owner:      cfg.Owner,
		Defaults:   chatDefaults(cfg),
		OwnerPause: cfg.Chats.OwnerPause,
		SendCap:    sendCap(cfg),
		Name:       cfg.Name,
		Disclose:   disclosureByNetwork(cfg),
	}
}

// inboxSettings returns the settings of the inbox. Messages with a PIN are intercepted by pins; nil: no PIN is used.
func inboxSettings(cfg *config.Config, pins *pin.Keeper) appservice.Settings {
	return appservice.Settings{
		PIN:                pins,
		Owner:              cfg.Owner,
		Bot:                cfg.BotID(),
		Operators:          cfg.Operators,
		OperatorsAnswer:    cfg.OperatorsAnswer,
		Name:               cfg.Name,
		Defaults:           chatDefaults(cfg),
		ReplyMaxAge:        cfg.Chats.ReplyMaxAge,
		OwnerPause:         cfg.Chats.OwnerPause,
		DeleteAnswers:      cfg.Chats.DeleteAnswers,
		EscalationKeywords: cfg.Business.Escalation.Keywords,
		StoreCap:           storeCap,
		SendCap:            sendCap(cfg),
		CanTranscribe:      cfg.Speech.Model != config.NoModel,
		CanViewPictures:    cfg.Vision.Model != config.NoModel,
		Keep:               cfg.Media.Keep,
		Spaces:             routedSpaces(cfg),
	}
}

// deskOptions returns the options of the desk, without the store and the outbox.
func deskOptions(cfg *config.Config) desk.Options {
	o := desk.Options{
		Owner:       cfg.Owner,
		OwnRoom:     cfg.Business.Escalation.Room,
		ClaimWithin: cfg.Business.Escalation.ClaimWithin,
		OwnerPause:  cfg.Chats.OwnerPause,
		Name:        cfg.Name,
		Zone:        cfg.TimeZone,
	}
	o.OnCall = cfg.Business.Escalation.OnCall
	if cfg.OperatorsAnswer {
		o.Operators = cfg.Operators
	}
	return o
}

func adminSettings(cfg *config.Config, model string, inTerminal bool) (admin.Settings, error) {
	shortcuts, err := newShortcuts(cfg)
	return admin.Settings{
		Version:        version,
		Name:           cfg.Name,
		Terminal:       inTerminal,
		Model:          model,
		Zone:           cfg.TimeZone,
		Defaults:       chatDefaults(cfg),
		LabelHours:     labelsWithHours(cfg),
		OwnerPause:     cfg.Chats.OwnerPause,
		WebhookAddress: webhookAddress(cfg.Watches),
		Disclose:       disclosureByNetwork(cfg),
		DayBudget:      int64(cfg.Budget.PerDay),
		Currency:       cfg.Budget.Currency,
		EscalateAtCap:  cfg.Budget.AtCap == config.AtCapEscalate,
		Embeddings:     cfg.Embeddings.Model,
		ViewsPictures:  cfg.Vision.Model != config.NoModel,
		Shortcuts:      shortcuts,
		WebAddress:     cfg.Ops.Web,
		Monitors:       shownMonitors(cfg),
	}, err
}

// chatDefaults returns the settings of chats for which the owner set none.
func chatDefaults(cfg *config.Config) policy.Defaults {
	return policy.Defaults{
		Profile: cfg.Chats.Profile, Networks: modesByNetwork(cfg), Labels: labels(cfg), FirstDelivery: cfg.Chats.FirstDelivery,
		FollowUpDays: cfg.Business.FollowUpDays, AskRating: cfg.Business.AskRating,
	}
}

// labels returns the configured labels in the order of the file.
func labels(cfg *config.Config) []policy.Label {
	var labels []policy.Label
	for _, l := range cfg.Chats.Labels {
		label := policy.Label{
			Name:         l.Name,
			Names:        l.Names,
			Words:        l.Words,
			Mode:         l.Mode,
			Delivery:     l.Delivery,
			FollowUpDays: l.FollowUpDays,
			AskRating:    l.AskRating,
		}
		for _, network := range l.Networks {
			label.Networks = append(label.Networks, policy.CanonicalNetwork(network))
		}
		labels = append(labels, label)
	}
	return labels
}

// labelHours returns the opening hours of labels that have any, by the labels' names.
func labelHours(cfg *config.Config) map[string]hours.Hours {
	byLabel := map[string]hours.Hours{}
	for _, l := range cfg.Chats.Labels {
		if len(l.Hours) > 0 {
			byLabel[l.Name] = cfg.Business.HoursAt(cfg.TimeZone, l.Hours)
		}
	}
	return byLabel
}

// labelsWithHours returns the labels that have opening hours of their own.
func labelsWithHours(cfg *config.Config) map[string]bool {
	has := map[string]bool{}
	for name := range labelHours(cfg) {
		has[name] = true
	}
	return has
}

// modesByNetwork returns the configured mode of each network that has one.
func modesByNetwork(cfg *config.Config) map[string]policy.Mode {
	modes := map[string]policy.Mode{}
	for protocol, n := range cfg.Chats.Networks {
		if n.Mode != "" {
			modes[policy.CanonicalNetwork(protocol)] = n.Mode
		}
	}
	return modes
}

func sendCap(cfg *config.Config) policy.Rate {
	return policy.Rate{Minute: cfg.Chats.ContactCaps.PerMinute, Day: cfg.Chats.ContactCaps.PerDay}
}

func keepLimits(m config.Media) appservice.AttachmentLimits {
	return appservice.AttachmentLimits{Total: int64(m.MaxMB) << 20, Age: time.Duration(m.MaxDays) * 24 * time.Hour}
}

// disclosureByNetwork returns a function that reports whether messages to a network are marked with the assistant's name.
// The default is true.
func disclosureByNetwork(cfg *config.Config) func(protocol string) bool {
	disclosure := map[string]bool{}
	for name, n := range cfg.Chats.Networks {
		disclosure[policy.CanonicalNetwork(name)] = n.Disclosure
	}
	return func(protocol string) bool {
		isOn, isSet := disclosure[policy.CanonicalNetwork(protocol)]
		return isOn || !isSet
	}
}
