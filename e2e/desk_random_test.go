//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
)

const (
	// deskRound is how many conversations run at once, and deskSteps how many random steps each has.
	deskRound = 10
	deskSteps = 10
	// defaultDeskSequences is how many random conversations are tried; MULTIS_DESK_SEQUENCES sets another number.
	defaultDeskSequences = 20
)

// deskText is what somebody wrote in a conversation. Its token is in all of its versions.
type deskText struct {
	token    string
	event    id.EventID
	message  string          // its id on the network, for a line of the contact
	by       *mautrix.Client // nil for a line of the contact and of the owner's phone
	isNote   bool
	wasReply bool // it is a note now, and was a reply before
	deleted  bool
}

// deskTalk is one random conversation with the desk, and what is expected of it.
type deskTalk struct {
	*app

	rng     *rand.Rand
	contact string
	room    id.RoomID
	card    id.EventID
	n       int
	replies []*deskText // in the thread
	lines   []*deskText // of the contact and of the owner's phone
	asked   int         // how often the contact asked what a document answers
	signs   map[string]bool
	silent  bool // a person has the conversation, and multis knows
	spoken  int  // what the assistant had said by then
}

func deskSequences(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MULTIS_DESK_SEQUENCES"), strconv.Itoa(defaultDeskSequences)))
	require.NoError(t, err)
	return n
}

// Two operators and an owner with a phone answer customers in threads, write notes, edit and delete, while the customers
// write, edit and delete, and multis is killed. Whatever the order: no note reaches a contact, no reply is lost or comes
// twice, and the assistant says nothing while a person has the conversation.
func TestDesk_RandomSequencesLeakNothing(t *testing.T) {
	a := start(t, setup{Operators: fmt.Sprintf("[\"@eva:%[1]s\", \"@bob:%[1]s\"]", devstack.Domain)})
	a.learn()
	people := []*mautrix.Client{a.operator(t, "eva"), a.operator(t, "bob"), a.Owner}
	answered := 0
	for first, n := 0, deskSequences(t); first < n; first += deskRound {
		rng := rand.New(rand.NewPCG(uint64(first), 11))
		began := time.Now()
		var talks []*deskTalk
		for i := first; i < min(first+deskRound, n); i++ {
			talks = append(talks, &deskTalk{app: a, rng: rng, contact: fmt.Sprintf("desk-%d", i), signs: map[string]bool{}})
		}
		a.beginDeskTalks(talks)
		dead := 0
		for range deskSteps * len(talks) {
			if dead == 0 && rng.IntN(25) == 0 {
				require.NoError(t, a.process.Kill())
				dead = 1 + rng.IntN(4)
			}
			talks[rng.IntN(len(talks))].step(people, dead > 0)
			if dead > 0 {
				if dead--; dead == 0 {
					a.run()
				}
			}
		}
		if dead > 0 {
			a.run()
		}
		a.awaitDeskIdle(talks)
		for _, c := range talks {
			c.verify()
			answered += c.assistantSaid() - 1
		}
		a.resolveDeskTalks(talks, people)
		t.Logf("%d conversations from %d on took %s", len(talks), first, time.Since(began).Round(time.Second))
	}
	require.Positive(t, answered, "the assistant answers while nobody is there, or its silence says nothing")
	t.Logf("the assistant answered %d questions before a person came", answered)
}

// beginDeskTalks opens the escalations of new contacts.
func (a *app) beginDeskTalks(talks []*deskTalk) {
	a.t.Helper()
	var asked []id.EventID
	for _, c := range talks {
		a.say(c.contact, "hi")
		c.room = *a.chat(c.contact).RoomID
		asked = append(asked, a.write("/mode business "+a.chat(c.contact).Name))
	}
	for i, c := range talks {
		require.Contains(a.t, a.answer(asked[i]), "is now business")
		_, err := a.Say(a.t.Context(), c.contact, "I want to speak to a person")
		require.NoError(a.t, err)
	}
	for _, c := range talks {
		a.await("the card", func(ctx context.Context) (bool, error) {
			err := a.db.DB().QueryRow(ctx,
				"select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id where e.chat_id = $1",
				a.chat(c.contact).ID).Scan(&c.card)
			return c.card != "", err
		})
		a.await("the sentence that a person will answer", func(context.Context) (bool, error) {
			return len(a.deliveriesSoFar(c.contact)) > 0, nil
		})
	}
	a.awaitIdle()
}

// token returns a text that no other one contains.
func (c *deskTalk) token() string {
	c.n++
	return fmt.Sprintf("<%s.%d>", c.contact, c.n)
}

// pick returns one of the texts that are not deleted; nil for none.
func (c *deskTalk) pick(from []*deskText) *deskText {
	from = slices.DeleteFunc(slices.Clone(from), func(w *deskText) bool { return w.deleted })
	if len(from) == 0 {
		return nil
	}
	return from[c.rng.IntN(len(from))]
}

// step does one random thing. While multis is dead, it does not learn of a person at once.
func (c *deskTalk) step(people []*mautrix.Client, dead bool) {
	c.t.Helper()
	who := people[c.rng.IntN(len(people))]
	switch c.rng.IntN(13) {
	case 0:
		c.addLine("more ", false)
	case 1, 2: // the assistant answers it, unless a person is there
		_, err := c.Say(c.t.Context(), c.contact, question)
		require.NoError(c.t, err)
		c.asked++
	case 3:
		c.addLine("by phone ", true)
		c.becomeSilent(c.lines[len(c.lines)-1].event, dead)
	case 4, 5, 6:
		w := &deskText{token: c.token(), by: who}
		w.event = c.inThread(c.t, who, c.card, "reply "+w.token)
		c.replies = append(c.replies, w)
		c.becomeSilent(w.event, dead)
	case 7, 8:
		w := &deskText{token: c.token(), by: who, isNote: true}
		note := []string{"note ", "Note: ", "📝 ", "\u200bnote ", "nоte ", "@bob "}[c.rng.IntN(6)]
		w.event = c.inThread(c.t, who, c.card, note+"SECRET "+w.token)
		c.replies = append(c.replies, w)
	case 9:
		c.editOne()
	case 10:
		c.deleteOne()
	case 11:
		if w := c.pick(c.replies); w != nil && !w.isNote {
			_, err := w.by.SendReaction(c.t.Context(), c.adminRoom(), w.event, "📝")
			require.NoError(c.t, err)
			w.isNote, w.wasReply = true, true
		}
	default:
		c.sign(who, "✋")
	}
}

// sign reacts to the card, once for each person.
func (c *deskTalk) sign(who *mautrix.Client, sign string) {
	if key := who.UserID.String() + sign; !c.signs[key] {
		c.signs[key] = true
		_, err := who.SendReaction(c.t.Context(), c.adminRoom(), c.card, sign)
		require.NoError(c.t, err)
	}
}

// addLine has the contact write, or the owner on the phone.
func (c *deskTalk) addLine(text string, onPhone bool) {
	c.t.Helper()
	w := &deskText{token: c.token()}
	say := c.Say
	if onPhone {
		say = c.OwnerOnPhone
	}
	said, err := say(c.t.Context(), c.contact, text+w.token)
	require.NoError(c.t, err)
	w.event, w.message = said.Event, said.Message
	c.lines = append(c.lines, w)
}

// becomeSilent waits until multis has stored what a person wrote and what it had begun before is over. From then on the
// assistant says nothing.
func (c *deskTalk) becomeSilent(event id.EventID, dead bool) {
	c.t.Helper()
	if dead || c.silent {
		return
	}
	c.awaitMessage(event)
	c.await("the person's message to be handled", func(ctx context.Context) (bool, error) {
		return c.exists(ctx,
			`select not exists (select from river.river_job where kind = 'command' and state in ('available', 'running', 'retryable', 'scheduled', 'pending'))`)
	})
	c.awaitNoTurn()
	c.await("what the assistant sent to arrive", func(context.Context) (bool, error) { // the bridge brings it a moment later
		return c.assistantSaid() >= c.count(assistantSentSQL, c.room), nil
	})
	c.silent, c.spoken = true, c.assistantSaid()
}

const assistantSentSQL = `select count(*) from outbox o join chats c on c.id = o.chat_id where c.room_id = $1 and o.state in ('sent', 'delivered') and o.content->>'body' like '[Nora]%'`

// assistantSaid counts what the assistant has said by itself.
func (c *deskTalk) assistantSaid() (n int) {
	for _, d := range c.deliveriesSoFar(c.contact) {
		if strings.HasPrefix(d.Text, "[Nora]") {
			n++
		}
	}
	return n
}

func (c *deskTalk) editOne() {
	c.t.Helper()
	if c.rng.IntN(2) == 0 {
		if w := c.pick(c.lines); w != nil {
			require.NoError(c.t, c.Network.Edit(c.t.Context(), c.contact, w.message, "edited "+w.token))
		}
		return
	}
	w := c.pick(c.replies)
	if w == nil {
		return
	}
	text := "edited " + w.token // a note stays one
	if w.isNote || c.rng.IntN(3) == 0 {
		text = "note SECRET " + w.token
		w.wasReply, w.isNote = w.wasReply || !w.isNote, true
	}
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: text}
	content.SetEdit(w.event)
	_, err := w.by.SendMessageEvent(c.t.Context(), c.adminRoom(), event.EventMessage, content)
	require.NoError(c.t, err)
}

func (c *deskTalk) deleteOne() {
	c.t.Helper()
	w := c.pick(slices.Concat(c.lines, c.replies))
	if w == nil {
		return
	}
	w.deleted = true
	if w.by == nil {
		require.NoError(c.t, c.Network.Delete(c.t.Context(), c.contact, w.message))
		return
	}
	_, err := w.by.RedactEvent(c.t.Context(), c.adminRoom(), w.event)
	require.NoError(c.t, err)
}

// awaitDeskIdle waits until multis has got everything that was written, and has nothing left to do.
func (a *app) awaitDeskIdle(talks []*deskTalk) {
	a.t.Helper()
	for _, c := range talks {
		a.await("the questions of "+c.contact, func(context.Context) (bool, error) {
			return a.count("select count(*) from messages m join chats c on c.id = m.chat_id where c.room_id = $1 and m.body = $2 and m.author = 'contact'", c.room, question) == c.asked, nil
		})
		for _, w := range slices.Concat(c.lines, c.replies) {
			a.await("the message "+w.token, func(ctx context.Context) (bool, error) {
				return a.exists(ctx, "select exists (select from messages where event_id = $1 union all select from seen_events where event_id = $1)",
					w.event)
			})
		}
	}
	a.awaitBothPaths(a.write("/escalations"))
	a.awaitBothPaths(a.write("/escalations")) // after all that multis wrote until it was idle, which is in the timeline by then
}

// verify compares what stands in the rooms with what was written.
func (c *deskTalk) verify() {
	c.t.Helper()
	if c.silent {
		require.Equal(c.t, c.spoken, c.assistantSaid(), "the assistant spoke to %s while a person was there", c.contact)
	}
	delivered := c.deliveriesSoFar(c.contact)
	for _, d := range delivered {
		require.NotContains(c.t, d.Text, "SECRET", "a note went out to %s", c.contact)
	}
	for _, w := range c.replies {
		var got []id.EventID
		for _, d := range delivered {
			if strings.Contains(d.Text, w.token) {
				got = append(got, id.EventID(d.EventID))
			}
		}
		switch {
		case w.isNote && !w.wasReply:
			require.Empty(c.t, got, "a note: %s", w.token)
		case w.isNote, w.deleted:
			require.LessOrEqual(c.t, len(got), 1, "%s came twice", w.token)
			for _, sent := range got {
				evt, err := c.Owner.GetEvent(c.t.Context(), c.room, sent)
				require.NoError(c.t, err)
				require.NotNil(c.t, evt.Unsigned.RedactedBecause, "%s was taken back and is there", w.token)
			}
		default:
			require.Len(c.t, got, 1, "the reply %s", w.token)
		}
	}
	thread := c.threadOf(c.card)
	require.Equal(c.t, c.asked, strings.Count(thread, ": "+question), "the questions in the thread:\n%s", thread)
	for _, w := range c.lines {
		shown := strings.Count(thread, w.token)
		if w.deleted {
			require.Zero(c.t, shown, "the deleted line %s is in the thread:\n%s", w.token, thread)
		} else {
			require.Equal(c.t, 1, shown, "the line %s in the thread:\n%s", w.token, thread)
		}
	}
}

// threadOf returns the lines of a thread that multis wrote, without edits, the newest first.
func (c *deskTalk) threadOf(card id.EventID) string {
	c.t.Helper()
	var lines []string
	for next := ""; ; {
		page, err := c.Owner.GetRelations(c.t.Context(), c.adminRoom(), card, &mautrix.ReqGetRelations{
			RelationType: event.RelThread,
			From:         next,
			Limit:        100,
		})
		require.NoError(c.t, err)
		for _, evt := range page.Chunk {
			if body, _ := evt.Content.Raw["body"].(string); strings.Contains(body, "💬") {
				lines = append(lines, body)
			}
		}
		if next = page.NextBatch; next == "" {
			return strings.Join(lines, "\n")
		}
	}
}

// resolveDeskTalks gives the chats back to the assistant: a reply that comes then goes to nobody, and the next question is answered.
func (a *app) resolveDeskTalks(talks []*deskTalk, people []*mautrix.Client) {
	a.t.Helper()
	var before []int
	for _, c := range talks {
		before = append(before, len(c.deliveriesSoFar(c.contact)))
		c.sign(people[c.rng.IntN(len(people))], "✅")
	}
	for _, c := range talks {
		a.await("the end", func(ctx context.Context) (bool, error) {
			return a.exists(ctx, "select not exists (select from escalations where chat_id = $1 and closed_at is null)", c.chat(c.contact).ID)
		})
		a.awaitMessage(a.inThread(a.t, people[0], c.card, "too late "+c.token()))
		_, err := a.Say(a.t.Context(), c.contact, question)
		require.NoError(a.t, err)
	}
	for i, c := range talks {
		a.await("the answer", func(context.Context) (bool, error) { return len(a.deliveriesSoFar(c.contact)) > before[i], nil })
	}
	a.awaitIdle()
	for i, c := range talks {
		got := c.deliveriesSoFar(c.contact)
		require.Len(a.t, got, before[i]+1, "what came too late went to %s", c.contact)
		require.Contains(a.t, got[before[i]].Text, "80 EUR", "the assistant answers again")
	}
}
