package memory_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

func (r *rig) recall(q memory.Question) memory.RecallResult {
	r.t.Helper()
	require.NoError(r.t, r.mem.IndexMessages(r.ctx))
	found, err := r.mem.Recall(r.ctx, q)
	require.NoError(r.t, err)
	return found
}

// recallAboutAna recalls an owner's question that names Ana.
func (r *rig) recallAboutAna(question string) memory.RecallResult {
	r.t.Helper()
	return r.recall(memory.Question{Text: question, AsOwner: true, Scope: policy.OwnerScope(r.ana.ID)})
}

func texts(found memory.RecallResult) []string {
	var list []string
	for _, h := range found.Hits {
		list = append(list, h.Text)
	}
	return list
}

func TestRecall_NamedChatsOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	weeksAgo := r.now.Add(-21 * 24 * time.Hour)
	said := r.says(r.ana, policy.AuthorContact, "ok 480 for the fence, until the first of december", weeksAgo)
	r.says(r.ben, policy.AuthorContact, "my fence is a secret", weeksAgo)

	found := r.recallAboutAna("What did Ana say about the fence?")
	require.Equal(t, []string{"ok 480 for the fence, until the first of december"}, texts(found))
	hit := found.Hits[0]
	require.Equal(t, "Ana · WhatsApp, "+weeksAgo.UTC().Format("Mon 2 Jan 15:04"),
		strings.Replace(hit.Source, weeksAgo.UTC().Format(" 2006"), "", 1))
	require.Contains(t, hit.Link, "https://matrix.to/#/")
	require.Contains(t, hit.Link, said.EventID.String())
	require.Equal(t, store.MessageRef(said.ID), hit.Ref)

	require.Empty(t, texts(r.recall(memory.Question{
		Text:    "What about the fence?",
		AsOwner: true,
		Scope:   policy.OwnerScope(),
	})), "no chat was named")
}

func TestRecall_NotesRankFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	said := r.talk(r.ana, 6)
	r.says(r.ana, policy.AuthorContact, "the fence will be green then", r.now)
	r.notes(note{Kind: "decision", Subject: "fence", Text: "The fence will be green.", From: []int{1}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, false))
	found := texts(r.recallAboutAna("what colour is ana's fence"))
	require.Contains(t, found[0], "- The fence will be green.")
	require.Contains(t, found, "the fence will be green then")
	require.Equal(t, []store.MessageID{said[0].ID}, r.recallAboutAna("what colour is ana's fence").Hits[0].Messages,
		"what it was learned from")
}

func TestRecall_TimeLimitsHits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r.says(r.ana, policy.AuthorContact, "the fence in may", time.Date(2026, 5, 12, 12, 0, 0, 0, time.UTC))
	r.says(r.ana, policy.AuthorContact, "the fence last week", time.Date(2026, 11, 12, 12, 0, 0, 0, time.UTC))
	r.says(r.ana, policy.AuthorContact, "something else yesterday", time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC))
	require.Equal(t, []string{"the fence in may"}, texts(r.recallAboutAna("what did Ana say about the fence in May?")))
	require.Equal(t, []string{"the fence last week"}, texts(r.recallAboutAna("what did Ana say about the fence last week")))
	require.Equal(t, []string{"something else yesterday"}, texts(r.recallAboutAna("Was hat Ana gestern gesagt?")),
		"without its words, the newest of that time")
}

func TestRecall_NamedTimeRanksFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC) }
	r.says(r.ana, policy.AuthorContact, "painting the fence was fun", at(3, 1))
	r.says(r.ana, policy.AuthorContact, "painting the fence was work", at(5, 12))
	r.says(r.ana, policy.AuthorContact, "painting the fence was long ago", at(10, 1))
	const then, soon = "painting the fence was work", "painting the fence was fun"
	require.Equal(t, then, texts(r.recallAboutAna("when did Ana start painting the fence in May?"))[0])
	require.Equal(t, soon, texts(r.recallAboutAna("who was painting the fence on 26 February?"))[0], "it was spoken of soon after")
	require.Len(t, r.recallAboutAna("tell me who was painting the fence in May").Hits, 3, "what was said at another time may tell as well")
	require.Len(t, r.recallAboutAna("Please write me what Ana thought of painting the fence in May").Hits, 3,
		"who is told to write has not written")
	require.Equal(t, []string{then}, texts(r.recallAboutAna("what did Ana say about painting the fence in May?")))
	require.Equal(t, []string{then}, texts(r.recallAboutAna("write me what Ana wrote about painting the fence in May")))
}

func TestRecall_ParsesTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday
	for question, want := range map[string][2]string{
		"what was said today":           {"2026-11-20", "2026-11-21"},
		"gestern im Chat":               {"2026-11-19", "2026-11-20"},
		"last week":                     {"2026-11-09", "2026-11-16"},
		"letzte Woche":                  {"2026-11-09", "2026-11-16"},
		"this month":                    {"2026-11-01", "2026-12-01"},
		"3 days ago":                    {"2026-11-17", "2026-11-18"},
		"vor 2 Tagen":                   {"2026-11-18", "2026-11-19"},
		"on Friday":                     {"2026-11-13", "2026-11-14"},
		"in May":                        {"2026-05-01", "2026-06-01"},
		"im Dezember":                   {"2025-12-01", "2026-01-01"},
		"in March 2024, about the shed": {"2024-03-01", "2024-04-01"},
		"on 12 November":                {"2026-11-12", "2026-11-13"},
		"on the 3rd of May, please":     {"2026-05-03", "2026-05-04"},
		"on December 24":                {"2025-12-24", "2025-12-25"},
		"May 3, 2023":                   {"2023-05-03", "2023-05-04"},
		"am 3. Juni":                    {"2026-06-03", "2026-06-04"},
		"early September 2023":          {"2023-09-01", "2023-10-01"},
		"on 31 June":                    {"0001-01-01", "0001-01-01"},
		"on 2026-02-03":                 {"2026-02-03", "2026-02-04"},
		"may I ask about the fence":     {"0001-01-01", "0001-01-01"},
		"the 2 days were long":          {"0001-01-01", "0001-01-01"},
	} {
		found, _ := schedule.ParsePast(question, now)
		span := found.Period
		require.Equal(t, want, [2]string{span.From.Format(time.DateOnly), span.Until.Format(time.DateOnly)}, question)
	}
	found, _ := schedule.ParsePast("what about the fence last week?", now)
	require.Equal(t, "what about the fence ?", found.Rest)
}

func TestRecall_StopWordsFindNewest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.says(r.ana, policy.AuthorContact, "older", r.now.Add(-time.Hour))
	r.says(r.ana, policy.AuthorContact, "newer", r.now)
	found := r.recall(memory.Question{Text: "what was it?", Scope: policy.ContactScope(r.ana.ID), Limit: 1})
	require.Equal(t, []string{"newer"}, texts(found))
}

// Two contacts ask a thousand questions (with make chaos ten thousand) about notes and messages with the same words. No
// result may have a row of the other contact.
func TestRecall_FindsNoForeignRow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	words := strings.Fields("fence garden paint ladder money friday meeting train berlin dog cake invoice window chair yes no maybe green blue")
	some := func(n int) string {
		var s []string
		for range n {
			s = append(s, words[rand.IntN(len(words))])
		}
		return strings.Join(s, " ")
	}
	for _, chat := range []store.Chat{r.ana, r.ben} {
		mark := "OF" + chat.Name
		for range 60 {
			r.says(chat, policy.AuthorContact, mark+" "+some(6), r.now.Add(-time.Duration(rand.IntN(1000))*time.Hour))
		}
		r.talk(chat, 6)
		r.notes(note{Kind: "fact", Subject: "all", Text: mark + " " + strings.Join(words, " "), From: []int{1}})
		require.NoError(t, r.mem.Capture(r.ctx, chat.ID, false))
	}
	require.NoError(t, r.mem.IndexMessages(r.ctx))
	for i := range recalls {
		own, other := r.ana, r.ben
		if i%2 == 1 {
			own, other = r.ben, r.ana
		}
		text := some(1 + rand.IntN(4))
		if i%7 == 0 {
			text = "what did OF" + other.Name + " " + other.Name + " say last week " + text
		}
		found, err := r.mem.Recall(r.ctx, memory.Question{Text: text, Scope: policy.ContactScope(own.ID)})
		require.NoError(t, err)
		for _, h := range found.Hits {
			require.NotContains(t, h.Text, "OF"+other.Name, fmt.Sprint(own.Name, " asked ", text))
			require.NotContains(t, h.Source, other.Name)
		}
	}
}
