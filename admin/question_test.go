package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/store"
)

// askAboutNewBridge posts the question whether a new bot is a bridge of the owner's.
func (r *rig) askAboutNewBridge() sentEvent {
	r.t.Helper()
	var bot store.BridgeBot
	r.tx(func(tx store.Tx) (err error) {
		bot, _, err = store.InsertBridgeBot(r.ctx, tx, "@wabot:example.com", "whatsapp", false)
		return err
	})
	require.NoError(r.t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot.ID}))
	r.sendQueued()
	return r.lastSent()
}

// handleLate runs the jobs of messages some time after the last of them was written, as after an outage, and returns what was sent.
func (r *rig) handleLate(lines ...string) string {
	r.t.Helper()
	var stored []store.MessageID
	for _, line := range lines {
		stored = append(stored, r.storeCommand(store.Message{Body: line}))
	}
	r.now = r.now.Add(10 * time.Second)
	before := len(r.homeserver.sent)
	for _, m := range stored {
		require.NoError(r.t, r.runJobs(m, false))
		r.sendQueued()
	}
	return bodies(r.homeserver.sent[before:])
}

// Messages that come at once, as after an outage, were written before the questions that they lead to, so that they are no answers to them.
func TestQuestion_EarlierTextNeverAnswers(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.chat("Ana", "whatsapp")
	r.chat("Ana", "signal")
	r.handleLate("/merge Ana", "yes")
	require.Zero(t, r.count("select count(*) from chats where person is not null"))
	require.Contains(t, r.asOwner("yes"), "One person", "the question is still open")

	r.handleLate("/business setup rules", "Do you deliver?")
	require.Empty(t, r.loadConfig().Business.Rules)
	r.asOwner("We close at noon.")
	require.Equal(t, []string{"We close at noon."}, r.loadConfig().Business.Rules)
}

// The homeserver's clock may be somewhat behind, so that an answer seems older than its question.
func TestQuestion_HomeserverClockBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.chat("Ana", "signal")
	r.asOwner("/merge Ana")
	yes := r.storeCommand(store.Message{Body: "yes"})
	r.exec("update messages set ts = ts - interval '20 seconds' where id = $1", yes)
	require.NoError(t, r.runJobs(yes, false))
	require.Equal(t, 2, r.count("select count(*) from chats where person is not null"))
}

// A question that nobody asked for takes no word that may be meant for another one.
func TestQuestion_UnrequestedTakesNoWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ask  func(r *rig)
		word string
	}{
		"a picker":    {func(r *rig) { r.asOwner("/mode") }, "1"},
		"a question":  {func(r *rig) { r.asOwner("/merge Ana") }, "yes"},
		"a draft":     {func(r *rig) { r.addDraft() }, "yes"},
		"a tool call": {func(r *rig) { r.requestApproval(`{}`); r.sendQueued() }, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.chat("Ben", "whatsapp")
			if name == "a question" {
				r.chat("Ana", "whatsapp")
				r.chat("Ana", "signal")
			}
			c.ask(r)
			bridge := r.askAboutNewBridge()
			require.Contains(t, r.asOwner(c.word), "Which question?")
			require.Zero(t, r.count("select count(*) from bridge_bots where confirmed_at is not null"))
			require.Contains(t, bodies(r.handle(store.Message{Body: c.word, RelatesTo: bridge.Event})), "is your WhatsApp bridge")
		})
	}
}

// The owner who asks about bridges means the question that this shows, although another one came by itself before.
func TestQuestion_RequestedTakesNextWord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ben", "whatsapp")
	r.askAboutNewBridge()
	require.Contains(t, r.asOwner("/bridges"), "Is @wabot:example.com your WhatsApp bridge?")
	require.Contains(t, r.asOwner("yes"), "is your WhatsApp bridge")
}

// An answer that waits for the PIN is none any more once its question is closed.
func TestPIN_AnswerEndsWithQuestion(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	r.config, r.previewer = newConfigFile(t), previewer{}
	r.restart()
	r.setPIN(canary)
	r.ownerTypes("/business setup rules")
	r.ownerTypes(canary)
	asked := r.lastSent()
	require.Contains(t, asked.Body, "**4 of 9 · rules")
	r.ownerTypes("/pin lock")
	require.Contains(t, r.ownerTypes("We close at noon."), "Your PIN, please")
	stop := textContent("cancel")
	stop["m.relates_to"] = map[string]any{"m.in_reply_to": map[string]any{"event_id": asked.Event}}
	require.Contains(t, r.receive(r.newMessage(owner, stop)), "Stopped")
	require.Contains(t, r.ownerTypes(canary), "That question is closed.")
	require.Empty(t, r.loadConfig().Business.Rules)
}

// A question that this program cannot read, as one of another version, holds up nothing else, and its answer is not taken
// for the answer to an older question.
func TestQuestion_UnreadableHoldsUpNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ kind, payload string }{
		"an unknown kind":  {"of-another-version", "{}"},
		"a broken payload": {"mode", `"no object"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.exec(`insert into dialogs (chat_id, kind, payload, outbox_id, expires_at)
				values ($1, $2, $3, gen_random_uuid(), $4)`, r.room.ID, row.kind, row.payload, r.now.Add(time.Minute))
			r.asOwner("/docs")
			require.Contains(t, r.asOwner("yes"), "I can no longer read that question.")
			require.NotContains(t, r.asOwner("yes"), "I can no longer read that question.", "it is closed")
		})
	}
}
