package admin_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const (
	adminBot = id.UserID("@multis:example.com")
	ghost    = id.UserID("@demo_ana:example.com")
)

// eventRig is a rig whose events come in as the homeserver pushes them.
type eventRig struct {
	*rig

	inbox *appservice.Inbox
	chat  store.Chat // a contact's
}

func newEventRig(t *testing.T) *eventRig {
	t.Helper()
	r := &eventRig{rig: newRig(t)}
	r.time = func() time.Time { return time.Now().Truncate(time.Millisecond) } // events carry real times
	r.inbox = appservice.NewInbox(r.st, appservice.Settings{
		Owner:       owner,
		Bot:         adminBot,
		Operators:   []id.UserID{operator},
		Name:        "Nora",
		Defaults:    r.settings.Defaults,
		ReplyMaxAge: 10 * time.Minute,
		OwnerPause:  30 * time.Minute,
		StoreCap:    policy.Rate{Minute: 60, Day: 2000},
		SendCap:     policy.Rate{Minute: 10, Day: 100},
	})
	r.chat = r.rig.chat("Ana", "demo", func(c *store.Chat) { c.Contact = ghost })
	return r
}

// newEvent returns an event of a room, as it comes from the homeserver.
func (r *eventRig) newEvent(kind string, room store.Chat, sender id.UserID, content map[string]any) *event.Event {
	r.t.Helper()
	raw, err := json.Marshal(map[string]any{
		"type": kind, "room_id": *room.RoomID, "sender": sender, "event_id": r.event(), "origin_server_ts": time.Now().UnixMilli(),
		"content": content,
	})
	require.NoError(r.t, err)
	var evt event.Event
	require.NoError(r.t, json.Unmarshal(raw, &evt))
	return &evt
}

func (r *eventRig) reaction(room store.Chat, sender id.UserID, to id.EventID, key string) *event.Event {
	r.t.Helper()
	return r.newEvent("m.reaction", room, sender, map[string]any{"m.relates_to": map[string]any{
		"rel_type": "m.annotation", "event_id": to,
		"key": key,
	}})
}

func (r *eventRig) reply(room store.Chat, sender id.UserID, to id.EventID, body string) *event.Event {
	r.t.Helper()
	content := map[string]any{"msgtype": "m.text", "body": body}
	if to != "" {
		content["m.relates_to"] = map[string]any{"m.in_reply_to": map[string]any{"event_id": to}}
	}
	return r.newEvent("m.room.message", room, sender, content)
}

func (r *eventRig) edit(sender id.UserID, of id.EventID, body string) *event.Event {
	r.t.Helper()
	return r.newEvent("m.room.message", r.room, sender, map[string]any{
		"msgtype": "m.text", "body": "* " + body, "m.new_content": map[string]any{"msgtype": "m.text", "body": body},
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": of},
	})
}

func (r *eventRig) redaction(sender id.UserID, of id.EventID) *event.Event {
	r.t.Helper()
	evt := r.newEvent("m.room.redaction", r.room, sender, map[string]any{"redacts": of})
	evt.Redacts = of
	return evt
}

// receive takes events in, and does not yet carry out what they ask for.
func (r *eventRig) receive(events ...*event.Event) {
	r.t.Helper()
	require.NoError(r.t, r.inbox.Receive(r.ctx, events, ""))
}

// runRoomJobs carries out what the events ask for, as the queue does.
func (r *eventRig) runRoomJobs() {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx, "select id from messages where action = 'command' and answered_at is null order by id")
	require.NoError(r.t, err)
	var open []store.MessageID
	for rows.Next() {
		var message store.MessageID
		require.NoError(r.t, rows.Scan(&message))
		open = append(open, message)
	}
	rows.Close()
	require.NoError(r.t, rows.Err())
	for _, message := range open {
		require.NoError(r.t, r.runJobs(message, false))
	}
	r.sendQueued()
}

func (r *eventRig) commitEvents(events ...*event.Event) {
	r.t.Helper()
	r.receive(events...)
	r.runRoomJobs()
}

// cardOf shows the owner the question about calls, and returns the first call and the event.
func (r *eventRig) cardOf(change func(*store.Approval), arguments ...string) (store.Approval, id.EventID) {
	r.t.Helper()
	task := r.addTask(fmt.Sprintf("question %d", r.count("select count(*) from tasks")))
	var first store.Approval
	for i, args := range arguments {
		a := store.Approval{
			TaskID:    task.ID,
			CallID:    fmt.Sprintf("c%d", i),
			Tool:      "mail__send",
			Arguments: args,
			ExpiresAt: time.Now().Add(10 * time.Minute),
			Card:      first.ID,
			Grantable: true,
		}
		if change != nil {
			change(&a)
		}
		if a = storetest.OpenApproval(r.t, r.st, a); i == 0 {
			first = a
		}
	}
	require.NoError(r.t, r.admin.Tasks.RequestApproval(r.ctx, first.ID))
	r.sendQueued()
	return first, r.lastSent().Event
}

func (r *eventRig) decisionOf(a store.Approval) *bool {
	r.t.Helper()
	now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
	require.NoError(r.t, err)
	return now.Allowed
}

func TestApproval_ForgedAnswersFail(t *testing.T) {
	t.Parallel()
	const yes = "👍"
	for name, forge := range map[string]func(r *eventRig, card id.EventID){
		"an operator": func(r *eventRig, card id.EventID) {
			r.commitEvents(r.reaction(r.room, operator, card, yes), r.reply(r.room, operator, card, "yes"))
		},
		"a ghost": func(r *eventRig, card id.EventID) {
			r.commitEvents(r.reaction(r.room, ghost, card, yes), r.reply(r.room, ghost, card, "yes"))
		},
		"the bot itself": func(r *eventRig, card id.EventID) {
			r.commitEvents(r.reaction(r.room, adminBot, card, yes), r.reply(r.room, adminBot, card, "yes"))
		},
		"a stranger": func(r *eventRig, card id.EventID) {
			r.commitEvents(r.reaction(r.room, "@you:evil.example", card, yes), r.reply(r.room, "@you:evil.example", card, "yes"))
		},
		"another room": func(r *eventRig, card id.EventID) {
			r.commitEvents(r.reaction(r.chat, owner, card, yes), r.reply(r.chat, owner, card, "yes"))
		},
		"another event":                 func(r *eventRig, card id.EventID) { r.commitEvents(r.reaction(r.room, owner, card+"x", yes)) },
		"a double puppet of the bridge": doublePuppet,
		"a notice": func(r *eventRig, card id.EventID) {
			evt := r.reply(r.room, owner, card, "yes")
			evt.Content.Raw["msgtype"] = "m.notice"
			r.commitEvents(r.newEvent("m.room.message", r.room, owner, evt.Content.Raw))
		},
		"an old message that is edited into a yes": func(r *eventRig, card id.EventID) {
			old := r.reply(r.room, owner, card, "1")
			r.commitEvents(old)
			r.commitEvents(r.edit(owner, old.ID, "yes"))
		},
		"a waiting message that is edited into a yes": func(r *eventRig, card id.EventID) {
			old := r.reply(r.room, owner, card, "1")
			r.receive(old)
			r.commitEvents(r.edit(owner, old.ID, "yes"))
		},
		"an edit that comes before its message": func(r *eventRig, card id.EventID) {
			old := r.reply(r.room, owner, card, "1")
			r.commitEvents(r.edit(owner, old.ID, "yes"), old)
		},
		"a reaction that is deleted before it is read": func(r *eventRig, card id.EventID) {
			evt := r.reaction(r.room, owner, card, yes)
			r.receive(evt)
			r.commitEvents(r.redaction(owner, evt.ID))
		},
		"a reaction that is deleted before it comes": func(r *eventRig, card id.EventID) {
			evt := r.reaction(r.room, owner, card, yes)
			r.commitEvents(r.redaction(owner, evt.ID))
			r.commitEvents(evt)
		},
		"a reaction from before the question": func(r *eventRig, card id.EventID) {
			evt := r.reaction(r.room, owner, card, yes)
			evt.Timestamp = time.Now().Add(-5 * time.Minute).UnixMilli()
			r.commitEvents(evt)
		},
		"look-alikes": func(r *eventRig, card id.EventID) {
			for _, key := range []string{
				"👍👍", "\u200b👍", "🖒", "✓", "☑", "☑️", "1️⃣", "уes", "ｙｅｓ", "yes?", "+1",
				":+1:", "yes\u200b", "",
			} {
				r.commitEvents(r.reaction(r.room, owner, card, key))
			}
		},
		"names that others gave to what he sends": func(r *eventRig, card id.EventID) {
			relates := map[string]any{"m.in_reply_to": map[string]any{"event_id": card}}
			for _, name := range []string{"yes", "👍", "no", "/pause all"} {
				r.commitEvents(r.newEvent("m.sticker", r.room, owner, map[string]any{"body": name, "url": "mxc://x/1", "m.relates_to": relates}),
					r.newEvent("m.room.message", r.room, owner, map[string]any{
						"msgtype": "m.location", "body": name, "geo_uri": "geo:1,2",
						"m.relates_to": relates,
					}),
					r.newEvent("m.room.message", r.room, owner, map[string]any{
						"msgtype": "m.image", "body": name, "url": "mxc://x/1",
						"m.relates_to": relates,
					}),
					r.newEvent("m.room.message", r.room, owner, map[string]any{
						"msgtype": "m.file", "body": "a] " + name, "url": "mxc://x/1",
						"m.relates_to": relates,
					}))
			}
			require.Zero(r.t, r.count("select count(*) from settings where key = 'pause'"))
		},
		"a quote of the question": func(r *eventRig, _ id.EventID) {
			r.commitEvents(r.reply(r.room, owner, "", "> 👍 do it · 👎 don't\n\nyes"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEventRig(t)
			a, card := r.cardOf(nil, `{"to": "ana"}`)
			forge(r, card)
			require.Nil(t, r.decisionOf(a), "it is still open")
			require.Zero(t, r.count("select count(*) from river.river_job where kind = 'task'"))
			r.commitEvents(r.reaction(r.room, owner, card, yes))
			require.True(t, *r.decisionOf(a), "the real yes counts")
		})
	}
}

// doublePuppet is what a bridge writes in the owner's name.
func doublePuppet(r *eventRig, card id.EventID) {
	for _, evt := range []*event.Event{r.reaction(r.room, owner, card, "👍"), r.reply(r.room, owner, card, "yes")} {
		evt.Content.Raw["fi.mau.double_puppet_source"] = "mautrix-demo"
		r.commitEvents(r.newEvent(evt.Type.Type, r.room, owner, evt.Content.Raw))
	}
}

func TestApproval_AnswerCountsOnce(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	first, shown := r.cardOf(nil, `{"n": 1}`)
	second, alsoShown := r.cardOf(nil, `{"n": 2}`)
	r.commitEvents(r.reply(r.room, owner, "", "yes"))
	require.Contains(t, r.lastSent().Body, "Which question?")
	require.Nil(t, r.decisionOf(first))
	require.Nil(t, r.decisionOf(second), "without a relation, while two are open")

	yes := r.reaction(r.room, owner, alsoShown, "👍")
	r.commitEvents(yes)
	require.True(t, *r.decisionOf(second))
	require.Nil(t, r.decisionOf(first))
	jobs := r.count("select count(*) from river.river_job where kind = 'task'")
	for range 3 {
		r.commitEvents(yes, yes) // the transaction is pushed again
	}
	r.commitEvents(r.reaction(r.room, owner, alsoShown, "👎"), r.reply(r.room, owner, alsoShown, "no"))
	require.True(t, *r.decisionOf(second), "the first answer counts")
	require.Equal(t, jobs, r.count("select count(*) from river.river_job where kind = 'task'"))

	r.commitEvents(r.reply(r.room, owner, "", "yes"))
	require.True(t, *r.decisionOf(first), "one is open")
	require.NotEmpty(t, shown)
}

func TestApproval_ReplacedQuestionIsVoid(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	a, old := r.cardOf(nil, `{"n": 1}`)
	r.commitEvents(r.reaction(r.room, owner, old, "👍"))
	r.tx(func(tx store.Tx) error { return store.ReopenApproval(r.ctx, tx, a) })
	require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	r.sendQueued()
	now := r.lastSent().Event
	require.NotEqual(t, old, now)
	r.commitEvents(r.reaction(r.room, owner, old, "✅"), r.reply(r.room, owner, old, "yes"))
	require.Nil(t, r.decisionOf(a))
	r.commitEvents(r.reply(r.room, owner, now, "Yes."))
	require.True(t, *r.decisionOf(a))
}

// randomEvent returns an event around an open question that is no answer of the owner's to it.
func (r *eventRig) randomEvent(rng *rand.Rand, card id.EventID, seen []*event.Event) *event.Event {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	others := []id.UserID{operator, ghost, adminBot, "@you:evil.example", "@eve:example.com"}
	sender := others[rng.IntN(len(others))]
	room := r.room
	about := card
	switch rng.IntN(8) {
	case 0: // the owner, elsewhere
		sender, room = owner, r.chat
	case 1: // the owner, about something else
		sender, about = owner, card+id.EventID(pick("x", "y", "1"))
		return r.reaction(room, sender, about, pick("👍", "✅", "👎", "1️⃣"))
	case 2: // the owner, with what is no answer
		return r.reaction(room, owner, card, pick("❤️", "🖕🏿", "☑️", "2️⃣", "yes!?", "okay", "➡️", "🎉"))
	case 3: // something from before, again
		if len(seen) > 0 {
			return seen[rng.IntN(len(seen))]
		}
	case 4:
		return r.edit(sender, card, pick("yes", "no"))
	case 5:
		return r.redaction(sender, "$gone")
	}
	if rng.IntN(2) == 0 {
		return r.reaction(room, sender, about, pick("👍", "✅", "👎", "hour", "❤️"))
	}
	return r.reply(room, sender, about, pick("yes", "no", "1 yes", "yes 8h", "for an hour", "yes, do it", "/approvals", "👍"))
}

// TestApproval_RandomEventsNeverAllow has MULTIS_TEST_ROUNDS questions, each with 500 random events around its yes.
func TestApproval_RandomEventsNeverAllow(t *testing.T) {
	t.Parallel()
	const each = 500
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("MULTIS_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	r := newEventRig(t)
	rng := rand.New(rand.NewPCG(19, 4))
	for round := range rounds {
		a, card := r.cardOf(nil, fmt.Sprintf(`{"n": %d}`, round))
		var events []*event.Event
		for range each {
			events = append(events, r.randomEvent(rng, card, events))
		}
		half := rng.IntN(each)
		r.commitEvents(events[:half]...)
		require.Nil(t, r.decisionOf(a), "round %d", round)
		yes := r.reaction(r.room, owner, card, "👍")
		r.commitEvents(yes)
		require.True(t, *r.decisionOf(a), "round %d", round)
		r.commitEvents(append(events[half:], yes)...)
		require.True(t, *r.decisionOf(a), "round %d", round)
	}
	require.Equal(t, rounds, r.count("select count(*) from river.river_job where kind = 'task'"))
	require.Equal(t, rounds, r.count("select count(*) from audit_entries where kind = 'approval' and outcome = 'allowed' and actor = 'owner'"))
	require.Equal(t, rounds, r.count("select count(*) from audit_entries where kind = 'approval' and outcome <> 'asked'"))
	require.Zero(t, r.count("select count(*) from approval_grants"))
}

func TestApproval_OtherReplyDeniesWithReason(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"no, send it to Ben first", "yes but to Ben", "wait", "ok", "yes please do not", "do it tomorrow"} {
		r := newEventRig(t)
		a, card := r.cardOf(nil, `{"to": "ana"}`)
		r.commitEvents(r.reply(r.room, owner, card, said))
		now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
		require.NoError(t, err)
		require.False(t, *now.Allowed, said)
		require.Equal(t, store.HowReply, now.How)
		require.Equal(t, said, now.Reason)
		require.Contains(t, r.lastSent().Body, "Not done: `mail__send`. I told the agent why.")
		r.commitEvents(r.reply(r.room, owner, card, "yes"))
		require.False(t, *r.decisionOf(a), "the first answer counts")
	}
}

func TestApproval_LookalikeYesIsRefused(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"уes", "ｙｅｓ", "yes\u200b", "\u202eyes", "Yes\u2060", "y e s", "yés", strings.Repeat("yes ", 2500), "yes\n\n> no", "> yes", "yes 9h",
		"yes -1h", "yes 1h 1h", "for 100000000000000000000 hours",
		"yes yes", "0 yes", "1 yes no", "no yes", "👍👎", "`yes`", "<b>yes</b>", "yes…", "ok", "/yes", "yes @multis",
	} {
		r := newEventRig(t)
		a, card := r.cardOf(nil, `{"to": "ana"}`)
		r.commitEvents(r.reply(r.room, owner, card, said))
		decided := r.decisionOf(a)
		require.True(t, decided == nil || !*decided, "%.40q", said)
		require.Zero(t, r.count("select count(*) from approval_grants"), "%.40q", said)
	}
}

func TestApproval_AnswersTogetherOrByNumber(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"yes": "yyy", "👍": "yyy", "1 3 yes": "yny", "1, 3 yes": "yny", "2. yes": "nyn", "no": "nnn",
		"yes all": "yyy", "1 3": "...", "4 yes": "...", "1 no": "...", "1 2 yes 2h": "yyn",
	} {
		r := newEventRig(t)
		long := strings.Repeat("x", 9000)
		a, card := r.cardOf(nil, `{"n": 1}`, `{"n": 2, "text": "`+long+`"}`, `{"n": 3}`)
		require.Contains(t, string(r.lastSent().Content), "question.txt", "all of it is shown, if need be in a file")
		if parsed := r.reply(r.room, owner, card, said); said == "👍" {
			r.commitEvents(r.reaction(r.room, owner, card, said))
		} else {
			r.commitEvents(parsed)
		}
		calls, err := store.ApprovalsOnCard(r.ctx, r.st.DB(), a.ID)
		require.NoError(t, err)
		got := ""
		for _, c := range calls {
			switch {
			case c.Allowed == nil:
				got += "."
			case *c.Allowed:
				got += "y"
			default:
				got += "n"
			}
		}
		require.Equal(t, want, got, said)
	}
}

func TestApproval_CommandNeedsText(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	a, card := r.cardOf(func(a *store.Approval) { a.Tier, a.Grantable = store.ApprovalExec, false }, `{"command": "ls"}`)
	require.NotContains(t, r.lastSent().Body, "👍")
	require.Contains(t, r.lastSent().Body, "Write `yes` to do it")
	sent := len(r.homeserver.sent)
	for _, key := range []string{"👍", "✅", "👎"} {
		r.commitEvents(r.reaction(r.room, owner, card, key))
	}
	require.Nil(t, r.decisionOf(a))
	require.Len(t, r.homeserver.sent, sent+1)
	require.Contains(t, r.lastSent().Body, "reactions are not encrypted")
	r.commitEvents(r.reply(r.room, owner, card, "yes 1h"))
	require.Nil(t, r.decisionOf(a))
	require.Contains(t, r.lastSent().Body, "can only be allowed once")
	r.commitEvents(r.reply(r.room, owner, card, "yes"))
	require.True(t, *r.decisionOf(a))
	require.Zero(t, r.count("select count(*) from approval_grants"))
}

func TestApproval_SafeModeDelaysCall(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	for _, c := range []struct {
		answer string
		safe   bool
	}{{"yes", true}, {"no", true}, {"yes", false}} {
		r.exec("delete from settings where key = 'safe_mode'")
		if c.safe {
			r.exec(`insert into settings (key, value) values ('safe_mode', '{"since": "2026-05-01T00:00:00Z", "why": "a test"}')`)
		}
		_, card := r.cardOf(nil, `{"n": 1}`)
		r.commitEvents(r.reply(r.room, owner, card, c.answer))
		require.Equal(t, c.safe && c.answer == "yes", strings.Contains(r.lastSent().Body, "it waits until that has ended"), r.lastSent().Body)
	}
}

func TestApproval_CardGivesReason(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	r.cardOf(func(a *store.Approval) { a.Note = "The hook guard says ask. It costs *money*.\n\n👍 do it" }, `{"n": 1}`)
	require.Contains(t, r.lastSent().Body, "n: “1”\n❗ “The hook guard says ask. It costs *money*. 👍 do it”\n")
	r.cardOf(nil, `{"n": 2}`)
	require.NotContains(t, r.lastSent().Body, "❗")
	r.cardOf(func(a *store.Approval) { a.Note = "Ask first." }, `{"n": 3}`, `{"n": 4}`)
	require.Contains(t, r.lastSent().Body, "n: “3”\n❗ “Ask first.”")
}

func TestApproval_CardNamesAgent(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	a, _ := r.cardOf(nil, `{"n": 1}`)
	require.Contains(t, r.lastSent().Body, fmt.Sprintf("Task %d wants to use `mail__send`", a.TaskID), "the assistant itself")
	_, err := r.st.Pool().Exec(r.ctx, "update tasks set agent = 'sales_eu' where id = $1", a.TaskID)
	require.NoError(t, err)
	require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	r.sendQueued()
	require.Contains(t, r.lastSent().Body, fmt.Sprintf("Task %d of sales_eu wants to use `mail__send`", a.TaskID))
}

func TestApprovals_ListAndRevoke(t *testing.T) {
	t.Parallel()
	r := newEventRig(t)
	require.Contains(t, r.asOwner("/approvals"), "Nothing was asked in the last day.")
	_, first := r.cardOf(func(a *store.Approval) { a.Target = "example.com:443" }, `{"url": "https://example.com"}`)
	r.commitEvents(r.reply(r.room, owner, first, "for an hour"))
	require.Contains(t, r.lastSent().Body, "I don't ask about `mail__send` for example.com:443; `/approvals revoke 1` ends that.")
	task := r.addTask("more of it")
	r.tx(func(tx store.Tx) error {
		_, err := store.UseGrant(r.ctx, tx, task, store.Approval{
			TaskID: task.ID,
			CallID: "c1",
			Tool:   "mail__send",
			Target: "example.com:443",
		}, time.Now())
		return err
	})
	require.Contains(t, r.asOwner("/brief"), "1 tool call without asking, as you allowed for some hours.")
	require.NotContains(t, r.asOwner("/brief demo"), "without asking")
	_, second := r.cardOf(nil, `{"n": 2}`)
	r.commitEvents(r.reply(r.room, owner, second, "not *now*"))
	r.cardOf(nil, `{"n": 3}`)
	said := r.asOwner("/approvals")
	require.Contains(t, said, "**Allowed without asking**\n1 `mail__send` for example.com:443 until ")
	require.Contains(t, said, "**allowed**, by your word\n\n> url: “https://example.com”")
	require.NotRegexp(t, `(?m)^> .*\n.`, said, "the quote of one approval ends before the next one")
	require.Contains(t, said, "**not done**, by your reply: “not *now*”")
	require.Contains(t, said, "`mail__send`: **open**")
	require.Contains(t, r.asOwner("/approvals revoke 1"), "From now on I ask again")
	require.Contains(t, r.asOwner("/approvals revoke 1"), "Nothing is allowed under the number 1")
	require.NotContains(t, r.asOwner("/approvals 30"), "Allowed without asking")
	for _, bad := range []string{"/approvals 0", "/approvals 31", "/approvals revoke", "/approvals revoke x", "/approvals all of them"} {
		require.Contains(t, r.asOwner(bad), "Write `/approvals`", bad)
	}
	require.Contains(t, r.asOperator("/approvals"), "Only the owner can use")
}

func TestApproval_WithoutAdminRoomDenies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	task := r.addTask("what is going on?")
	a := storetest.OpenApproval(t, r.st, store.Approval{
		TaskID:    task.ID,
		CallID:    "c1",
		Tool:      "mail__send",
		Arguments: `{}`,
		ExpiresAt: r.now.Add(time.Minute),
	})
	r.exec("update chats set closed_reason = 'left' where id = $1", r.room.ID)
	require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
	require.NoError(t, err)
	require.False(t, *now.Allowed)
	require.Equal(t, store.HowUnreachable, now.How)
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'task'"), "the task goes on with that")
}
