package store_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// history is what happens in one chat, and the facts that a plain loop over it finds.
type history struct {
	chat        store.ChatID
	from, until time.Time
	messages    [][]any // rows of messages
	outbox      [][]any
	escalations [][]any
	tasks       [][]any
	ratings     [][]any
	facts       []store.DeskFact
	spoken      []spoken
}

// spoken is something that was said, in the order of time.
type spoken struct {
	at            time.Time
	reply, person bool
	asks          bool
}

const openFor = 24 * time.Hour

// in reports whether a time is in the period that is counted.
func (h *history) in(at time.Time) bool { return !at.Before(h.from) && at.Before(h.until) }

func (h *history) add(kind store.DeskFactKind, at time.Time, f store.DeskFact) {
	f.Kind = kind
	f.ChatID = h.chat
	f.At = at
	h.facts = append(h.facts, f)
}

// message adds a message of an author. answeredBy is the outbox message that answers it; nil for none.
func (h *history) message(author policy.Author, at time.Time, action policy.Action, answeredBy *uuid.UUID) {
	h.messages = append(h.messages, []any{
		h.chat, fmt.Sprintf("$%d-%d", h.chat, len(h.messages)), author, "@x:x", "text", "words", at, action,
		"code", "reason", answeredBy,
	})
	h.spoken = append(h.spoken, spoken{at, author != policy.AuthorContact, author != policy.AuthorContact, action == policy.ActionAnswer})
}

// send adds an outbox message.
func (h *history) send(out uuid.UUID, purpose policy.Purpose, state, code string, created time.Time, sent *time.Time, about int64) {
	h.outbox = append(h.outbox, []any{
		out, h.chat, "owner", purpose, "m.room.message", []byte("{}"), code, "reason", state, created, sent,
		[]int64{about},
		"",
	})
}

// draftedAs makes the last outbox message an approved draft of a purpose.
func (h *history) draftedAs(p policy.Purpose) {
	last := h.outbox[len(h.outbox)-1]
	last[len(last)-1] = p
}

// rate asks for a rating, and has the contact give one most of the time.
func (h *history) rate(r *rand.Rand, out uuid.UUID, at time.Time) {
	value, given := []policy.Rating{"", policy.RatingGood, policy.RatingBad}[r.IntN(3)], at.Add(time.Minute)
	if value == "" {
		h.ratings = append(h.ratings, []any{out, h.chat, "@x:x", at, value, nil})
		return
	}
	h.ratings = append(h.ratings, []any{out, h.chat, "@x:x", at, value, given})
	if h.in(given) {
		h.add(map[policy.Rating]store.DeskFactKind{policy.RatingGood: store.FactGood, policy.RatingBad: store.FactBad}[value], given,
			store.DeskFact{})
	}
}

// turn adds a question and what becomes of it: an answer, a draft, an escalation or nothing.
func (h *history) turn(r *rand.Rand, at time.Time, open *bool, closed *time.Time) {
	out, later := uuid.New(), at.Add(time.Duration(1+r.IntN(3000))*time.Second)
	about := r.Int64()
	switch r.IntN(10) {
	case 0:
		h.message(policy.AuthorContact, at, policy.ActionAnswer, &out)
		h.send(out, policy.PurposeReply, "delivered", "ok", at, &later, about)
		h.spoken = append(h.spoken, spoken{at: later, reply: true})
		if h.in(later) {
			h.add(store.FactAlone, later, store.DeskFact{})
		}
	case 1, 2:
		h.message(policy.AuthorContact, at, policy.ActionAnswer, &out)
		kind := store.FactDraft
		changed := r.IntN(2) == 0
		if changed {
			kind = store.FactChanged
			h.send(uuid.New(), policy.PurposeReply, "dropped", string(policy.CodeDraftChanged), at, nil, about)
		}
		h.send(out, policy.PurposeDraft, "sent", "ok", at, &later, about)
		if !changed {
			h.draftedAs(policy.PurposeReply)
		}
		h.spoken = append(h.spoken, spoken{at: later, reply: true})
		if h.in(later) {
			h.add(kind, later, store.DeskFact{})
		}
	case 3:
		h.message(policy.AuthorContact, at, policy.ActionAnswer, &out)
		h.send(out, policy.PurposeReply, "dropped", string(policy.CodeDraftDropped), at, nil, about)
		if h.in(at) {
			h.add(store.FactDropped, at, store.DeskFact{})
		}
	case 4:
		h.message(policy.AuthorContact, at, policy.ActionAnswer, nil)
		if !*open {
			h.escalate(r, at, open, closed)
		}
	case 6: // a question back, a greeting or that a person will answer, as it stood in a draft: no answer
		h.message(policy.AuthorContact, at, policy.ActionAnswer, &out)
		h.send(out, policy.PurposeDraft, "sent", "ok", at, &later, about)
		h.draftedAs([]policy.Purpose{policy.PurposeClarify, policy.PurposeGreeting, policy.PurposeEscalation}[r.IntN(3)])
	case 7: // a follow-up or a question for a rating, of which the contact may have thought something
		if r.IntN(2) == 0 {
			h.send(out, policy.PurposeDraft, "sent", "ok", at, &later, about)
			h.draftedAs([]policy.Purpose{policy.PurposeFollowUp, policy.PurposeRating}[r.IntN(2)])
		} else {
			h.send(out, policy.PurposeRating, "delivered", "ok", at, &later, about)
		}
		h.rate(r, out, later)
	case 8: // one that was dropped, as it stood or with other words
		h.send(out, []policy.Purpose{policy.PurposeFollowUp, policy.PurposeDraft}[r.IntN(2)], "dropped", string(policy.CodeDraftDropped), at, nil,
			about)
	case 9: // an approved answer
		h.message(policy.AuthorContact, at, policy.ActionAnswer, &out)
		h.send(out, policy.PurposeDraft, "sent", "ok", at, &later, about)
		h.draftedAs(policy.PurposeReply)
		h.spoken = append(h.spoken, spoken{at: later, reply: true})
		if h.in(later) {
			h.add(store.FactDraft, later, store.DeskFact{})
		}
	case 5: // a person answers from the thread, which answers no message
		h.send(out, policy.PurposeDraft, "sent", "ok", at, &later, about)
		h.spoken = append(h.spoken, spoken{at: later, reply: true, person: true})
	}
	if r.IntN(3) == 0 {
		cost := int64(1 + r.IntN(1000))
		h.tasks = append(h.tasks, []any{fmt.Sprintf("t%d-%d", h.chat, len(h.tasks)), "turn", h.chat, "completed", cost, at})
		if h.in(at) {
			h.add(store.FactCost, at, store.DeskFact{Cost: cost})
		}
	}
}

// escalate opens an escalation, and resolves most of them some time later.
func (h *history) escalate(r *rand.Rand, at time.Time, open *bool, closed *time.Time) {
	causes := []policy.Cause{policy.CauseNoAnswer, policy.CausePerson, policy.CauseModel, policy.CauseBudget, ""}
	cause := causes[r.IntN(len(causes))]
	opened := at.Add(time.Millisecond)
	var closedAt *time.Time
	reopened := !closed.IsZero() && !closed.After(opened) && closed.After(opened.Add(-7*24*time.Hour))
	if *open = r.IntN(4) == 0; !*open {
		end := opened.Add(500 * time.Millisecond)
		closedAt, *closed = &end, end
	}
	h.escalations = append(h.escalations, []any{h.chat, int64(1), "why", opened, closedAt, cause})
	if !h.in(opened) {
		if *open && opened.Before(h.until.Add(-openFor)) && opened.Before(h.until) {
			h.add(store.FactOpen, opened, store.DeskFact{Cause: cause, Seconds: h.until.Sub(opened).Seconds()})
		}
		return
	}
	h.add(store.FactEscalated, opened, store.DeskFact{Cause: cause})
	if reopened {
		h.add(store.FactReopened, opened, store.DeskFact{Cause: cause})
	}
	if cause.LacksDocument() {
		h.add(store.FactUnanswered, opened, store.DeskFact{Cause: cause})
	}
	if *open && opened.Before(h.until.Add(-openFor)) {
		h.add(store.FactOpen, opened, store.DeskFact{Cause: cause, Seconds: h.until.Sub(opened).Seconds()})
	}
}

// waits adds the facts about waits and talks, which follow from what was said.
func (h *history) waits() {
	slices.SortFunc(h.spoken, func(a, b spoken) int { return a.at.Compare(b.at) })
	h.spoken = slices.DeleteFunc(h.spoken, func(s spoken) bool { return !s.at.Before(h.until) })
	talked := false
	for i, s := range h.spoken {
		if s.asks && h.in(s.at) && !talked {
			talked = true
			h.add(store.FactConversation, s.at, store.DeskFact{})
		}
		if s.reply || !h.in(s.at) || i > 0 && !h.spoken[i-1].reply {
			continue
		}
		for _, next := range h.spoken[i+1:] {
			if next.reply {
				h.add(store.FactAnswered, s.at, store.DeskFact{Seconds: next.at.Sub(s.at).Seconds()})
				break
			}
		}
	}
	for _, e := range h.escalations {
		opened, cause := e[3].(time.Time), e[5].(policy.Cause) //nolint:forcetypeassert // as they were put there
		i := slices.IndexFunc(h.spoken, func(s spoken) bool { return s.person && !s.at.Before(opened) })
		if h.in(opened) && i >= 0 {
			h.add(store.FactPerson, opened, store.DeskFact{Cause: cause, Seconds: h.spoken[i].at.Sub(opened).Seconds()})
		}
	}
}

// TestNumbers_MatchPlainLoop counts 10,000 random histories of ten days in two ways.
func TestNumbers_MatchPlainLoop(t *testing.T) {
	t.Parallel()
	const histories = 10_000
	st := storetest.New(t)
	r := rand.New(rand.NewPCG(7, 11))
	until := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	var messages, outbox, escalations, tasks, ratings, chats [][]any
	var want []store.DeskFact
	for id := range store.ChatID(histories) {
		h := &history{chat: id + 1, from: until.AddDate(0, 0, -5), until: until}
		open := false
		closed := time.Time{}
		at := until.AddDate(0, 0, -11).Add(time.Duration(r.IntN(1e6)) * time.Second)
		for range r.IntN(8) {
			if r.IntN(5) == 0 {
				h.message(policy.AuthorOwnerPhone, at, policy.ActionArchive, nil)
			} else {
				h.turn(r, at, &open, &closed)
			}
			at = at.Add(time.Duration(3700+r.IntN(200_000)) * time.Second)
		}
		h.waits()
		chats = append(chats, []any{"demo", fmt.Sprint(h.chat), "dm"})
		ratings = append(ratings, h.ratings...)
		messages = append(messages, h.messages...)
		outbox = append(outbox, h.outbox...)
		escalations = append(escalations, h.escalations...)
		tasks = append(tasks, h.tasks...)
		want = append(want, slices.DeleteFunc(h.facts, func(f store.DeskFact) bool { return f.At.Before(until.AddDate(0, 0, -12)) })...)
	}
	copyRows(t, st, map[string]table{
		"chats": {[]string{"protocol", "channel_id", "kind"}, chats},
		"messages": {
			[]string{"chat_id", "event_id", "author", "sender", "kind", "body", "ts", "action", "code", "reason", "outbox_id"},
			messages,
		},
		"outbox": {[]string{
			"id", "chat_id", "send_as", "purpose", "event_type", "content", "code", "reason", "state", "created_at",
			"sent_at", "quotes", "drafted_as",
		}, outbox},
		"escalations": {[]string{"chat_id", "message_id", "reason", "opened_at", "closed_at", "cause"}, escalations},
		"tasks":       {[]string{"key", "kind", "chat_id", "state", "cost", "created_at"}, tasks},
		"ratings":     {[]string{"outbox_id", "chat_id", "contact", "asked_at", "value", "given_at"}, ratings},
	})
	_, err := st.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	got, err := store.DeskFacts(t.Context(), st.DB(), until.AddDate(0, 0, -5), until, openFor)
	require.NoError(t, err)
	require.Greater(t, len(want), histories)
	require.Equal(t, sorted(want), sorted(got))
}

type table struct {
	columns []string
	rows    [][]any
}

// copyRows copies rows into tables, without the triggers that write the audit log.
func copyRows(t *testing.T, st *store.Store, tables map[string]table) {
	t.Helper()
	ctx := context.Background()
	for _, name := range []string{"chats", "messages", "outbox", "escalations", "tasks", "ratings"} {
		_, err := st.Pool().Exec(ctx, "alter table "+name+" disable trigger user")
		require.NoError(t, err)
		_, err = st.Pool().CopyFrom(ctx, pgx.Identifier{name}, tables[name].columns, pgx.CopyFromRows(tables[name].rows))
		require.NoError(t, err)
	}
}

// sorted returns facts in one order, with times in one zone.
func sorted(facts []store.DeskFact) []string {
	lines := make([]string, len(facts))
	for i, f := range facts {
		lines[i] = fmt.Sprintf("%d %s %s %q %.3f %d", f.ChatID, f.Kind, f.At.UTC().Format(time.RFC3339Nano), f.Cause, f.Seconds, f.Cost)
	}
	slices.SortFunc(lines, cmp.Compare[string])
	return lines
}
