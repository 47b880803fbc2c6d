package agent

import (
	"cmp"
	"context"
	"time"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/policy"
	"multis/store"
)

// languageMessages is from how many of a contact's messages the language of the conversation is detected.
const languageMessages = 20

// standardTexts are the texts that contacts get without a model, in their language.
type standardTexts struct {
	texts    catalog.Texts
	language catalog.Lang // of contacts whose language is not known
	hours    hours.Hours
	// labelHours are the opening hours of chats with a label, by its name.
	labelHours map[string]hours.Hours
	defaults   policy.Defaults
}

// hoursOf returns the opening hours for a chat: those of its labels, or else of the business.
func (s standardTexts) hoursOf(chat store.Chat) hours.Hours {
	h, _, found := policy.ResolveSetting(nil, chat.LabelsIn(s.defaults), func(l policy.Label) (hours.Hours, bool) {
		h, found := s.labelHours[l.Name]
		return h, found
	})
	if !found {
		return s.hours
	}
	return h
}

// languageOf returns the language in which a contact writes in a chat. It is that of the conversation, because one
// message is often too short to tell.
func (s standardTexts) languageOf(ctx context.Context, db store.DB, chat store.ChatID) (catalog.Lang, error) {
	texts, err := store.ContactTexts(ctx, db, chat, languageMessages)
	return catalog.DetectLanguage(texts, s.language), err
}

// greeting returns the greeting in the language of a chat.
func (s standardTexts) greeting(ctx context.Context, db store.DB, chat store.ChatID) (string, error) {
	lang, err := s.languageOf(ctx, db, chat)
	return s.texts.Text(catalog.Greeting, lang), err
}

// escalation returns what a contact is told when the chat is escalated: that a person will answer, and while the business
// is closed when it opens again. It is empty if the contact was told before: that a person will answer once in each
// escalation, and when the business opens again once in each closed period. Where somebody is in danger, it says first
// what to do, at any time.
func (s standardTexts) escalation(ctx context.Context, db store.DB, chat store.Chat, cause policy.Cause, contactKnows bool,
	now time.Time,
) (string, error) {
	open := s.hoursOf(chat)
	state := open.At(now)
	if contactKnows && (state.Open || cause == policy.CauseDanger) {
		return "", nil
	}
	if !state.Open && cause != policy.CauseDanger {
		told, err := store.WasSentSince(ctx, db, chat.ID, policy.PurposeEscalation, state.Since)
		if err != nil {
			return "", err
		}
		if told {
			return "", nil
		}
	}
	lang, err := s.languageOf(ctx, db, chat.ID)
	return s.escalationText(lang, cause, open, now), err
}

// escalationText returns the text that a person will answer; while the business is closed, with the time when it opens again. Where
// somebody is in danger, what to do stands first.
func (s standardTexts) escalationText(lang catalog.Lang, cause policy.Cause, open hours.Hours, now time.Time) string {
	state := open.At(now)
	opening := ""
	if !state.Open && !state.Until.IsZero() {
		zone := open.Zone
		opening = s.texts.Text(catalog.Away, lang, "{opening}", catalog.FormatOpening(lang, state.Until.In(zone), now.In(zone)))
	}
	if cause == policy.CauseDanger {
		return joinLines(s.texts.Text(catalog.Danger, lang), opening)
	}
	return cmp.Or(opening, s.texts.Text(catalog.Escalated, lang))
}
