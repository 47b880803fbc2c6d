package desk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// written is a text that somebody wrote, as it is last: edits and deletions included.
type written struct {
	event   id.EventID
	sender  id.UserID
	text    string
	isNote  bool
	deleted bool
	refused bool // it came when the escalation was resolved
}

// conversation is one random conversation of a contact with people and the assistant, and what is expected of it.
type conversation struct {
	*rig

	rng      *rand.Rand
	room     id.RoomID
	chat     store.Chat
	card     id.EventID
	n        int
	replies  []*written // in the thread
	lines    []*written // in the chat, by the contact and on the phone
	resolved bool
	silent   bool // a person has the conversation
	outgoing int  // automatic texts that the assistant tried to send
}

// randomConversations is how many random conversations are tried; MULTIS_SEQUENCES sets another number.
func randomConversations(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("MULTIS_SEQUENCES"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	return 100
}

// conversationsPerDatabase is how many random conversations share a database. What the ones before left there makes each slower.
const conversationsPerDatabase = 10

func TestDesk_RandomLeaksNoNote(t *testing.T) {
	t.Parallel()
	n := randomConversations(t)
	for first := 0; first < n; first += conversationsPerDatabase {
		t.Run(fmt.Sprintf("from %d", first), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for i := first; i < min(first+conversationsPerDatabase, n); i++ {
				c := &conversation{rig: r, rng: rand.New(rand.NewPCG(uint64(i), 7)), room: id.RoomID(fmt.Sprintf("!c%d:example.com", i))}
				c.play()
			}
		})
	}
}

func (c *conversation) play() {
	c.t.Helper()
	c.sender.fail, c.sender.after = nil, nil
	c.chat = c.rig.chat("Ana", c.room, policy.KindDM)
	c.card = c.escalate(c.room, c.token("question"), func(k *desk.Case) { k.Proposals = nil })
	c.sender.check = func(o store.OutboxMessage) {
		if o.ChatID == c.chat.ID && o.Purpose == policy.PurposeGreeting {
			require.False(c.t, c.silent, "the assistant wrote over a person in %s", c.room)
		}
	}
	c.sender.fail = func() error { return c.failSometimes(20) }
	c.sender.after = func() error { return c.failSometimes(20) }
	for range 10 {
		c.step()
		for range c.rng.IntN(4) {
			c.runRandomJob()
		}
		if c.rng.IntN(4) == 0 {
			c.receiveEchos()
		}
	}
	c.sender.fail, c.sender.after = nil, nil
	c.runAllJobs()
	c.receiveEchos()
	c.runAllJobs()
	c.verify()
}

// receiveEchos has the sent events come back from the homeserver.
func (c *conversation) receiveEchos() {
	for _, evt := range c.sender.echos {
		c.receive(evt)
	}
	c.sender.echos = nil
}

// failSometimes returns an error once in n times, as if the process was killed there.
func (c *conversation) failSometimes(n int) error {
	if c.rng.IntN(n) == 0 {
		return errKilled
	}
	return nil
}

// token returns a text that no other one contains.
func (c *conversation) token(what string) string {
	c.n++
	return fmt.Sprintf("%s <%s-%d>", what, strings.Trim(c.room.String(), "!"), c.n)
}

// runRandomJob does one of the waiting jobs. Sometimes the process is killed after it: the job is repeated.
func (c *conversation) runRandomJob() {
	list := c.dueJobs()
	if len(list) == 0 {
		return
	}
	q := list[c.rng.IntN(len(list))]
	if err := c.runJob(q); err == nil && c.rng.IntN(5) > 0 {
		c.deleteJob(q)
	}
}

var people = []id.UserID{owner, eva, bob}

func (c *conversation) randomPerson() id.UserID { return people[c.rng.IntN(len(people))] }

// randomText returns a text of a list that is not deleted; nil for none.
func (c *conversation) randomText(list []*written) *written {
	if len(list) == 0 {
		return nil
	}
	w := list[c.rng.IntN(len(list))]
	if w.deleted {
		return nil
	}
	return w
}

func (c *conversation) step() {
	switch c.rng.IntN(14) {
	case 0, 1:
		w := &written{sender: contactOf(c.room), text: c.token("more")}
		w.event = c.say(c.room, w.sender, w.text)
		c.addLine(w)
	case 2:
		w := &written{sender: owner, text: c.token("by phone")}
		w.event = c.writeOnPhone(c.room, w.text)
		c.addLine(w)
		c.silent = true
	case 3, 4, 5:
		w := &written{sender: c.randomPerson(), text: c.token("reply"), refused: c.resolved}
		w.event = c.reply(c.card, w.sender, w.text)
		c.replies = append(c.replies, w)
		c.silent = c.silent || !c.resolved
	case 6, 7:
		note := []string{"note ", "Note: ", "📝 ", "\u200bnote ", "nоte ", "@bob "}[c.rng.IntN(6)]
		w := &written{sender: c.randomPerson(), text: note + c.token("SECRET"), isNote: true}
		w.event = c.reply(c.card, w.sender, w.text)
		c.replies = append(c.replies, w)
	case 8:
		c.editOne()
	case 9:
		c.deleteOne()
	case 10:
		if w := c.randomText(c.replies); w != nil && !w.isNote {
			c.react(w.sender, w.event, "📝")
			w.isNote = true
		}
	case 11:
		c.react(c.randomPerson(), c.card, "✋")
		c.silent = c.silent || !c.resolved
		c.runAllJobs()
	case 12:
		c.runAllJobs()
		c.react(c.randomPerson(), c.card, "✅")
		c.runAllJobs()
		if !c.resolved {
			c.resolved, c.silent = true, false
		}
	default:
		c.outgoing++
		c.tx(func(tx store.Tx) error {
			_, _, err := c.box.Queue(c.ctx, tx, outbox.Message{Chat: c.chat, Purpose: policy.PurposeGreeting, Text: c.token("assistant")})
			return err
		})
	}
}

func (c *conversation) addLine(w *written) {
	w.refused = c.resolved // it is not shown in a thread that is over
	c.lines = append(c.lines, w)
}

func (c *conversation) editOne() {
	if c.rng.IntN(2) == 0 {
		if w := c.randomText(c.lines); w != nil {
			w.text, w.refused = c.token("edited"), w.refused || c.resolved
			c.edit(c.room, w.sender, w.event, w.text)
		}
		return
	}
	w := c.randomText(c.replies)
	if w == nil {
		return
	}
	if c.rng.IntN(3) == 0 {
		w.text, w.isNote = "note "+c.token("SECRET"), true
	} else {
		w.text = c.token("edited") // a note stays one
	}
	if w.isNote && !strings.HasPrefix(w.text, "note") {
		w.text = c.token("edited SECRET")
	}
	c.edit(deskRoom, w.sender, w.event, w.text)
}

func (c *conversation) deleteOne() {
	if w := c.randomText(slices.Concat(c.lines, c.replies)); w != nil {
		w.deleted = true
		room := deskRoom
		if slices.Contains(c.lines, w) {
			room = c.room
		}
		c.redact(room, w.sender, w.event)
	}
}

// verify compares what stands in the rooms at the end with what was written.
func (c *conversation) verify() {
	c.t.Helper()
	for _, e := range c.sender.sent {
		if e.room == c.room {
			require.NotContains(c.t, e.body, "SECRET", "a note went out in %s", c.room)
		}
	}
	var expected []string
	for _, w := range c.replies {
		if !w.isNote && !w.deleted && !w.refused {
			expected = append(expected, w.text)
		}
	}
	seen := c.sender.view(c.room, func(e sentEvent) bool { return e.purpose == policy.PurposeDraft })
	require.Equal(c.t, expected, slices.Clip(seen), c.room)
	thread := c.sender.view(deskRoom, func(e sentEvent) bool { return e.thread == c.card && strings.Contains(e.body, "💬") })
	shown := strings.Join(thread, "\n")
	for _, w := range c.lines {
		token := strings.TrimSuffix(w.text[strings.Index(w.text, "<")+1:], ">")
		times := strings.Count(shown, token+"&gt;") + strings.Count(shown, token+">") + strings.Count(shown, token+`\>`)
		switch {
		case w.deleted:
			require.Zero(c.t, times, "%s was deleted: %s", w.text, shown)
		case !w.refused:
			require.Equal(c.t, 1, times, "%s in %s", w.text, shown)
		}
	}
}
