package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// pinCard shows the owner the question about a call that needs the PIN.
func (r *pinRig) pinCard(command string) store.Approval {
	r.t.Helper()
	task := r.addTask(command)
	a := storetest.OpenApproval(r.t, r.st, store.Approval{
		TaskID:    task.ID,
		CallID:    "c1",
		Tool:      "exec",
		Arguments: `{"command": "` + command + `"}`,
		Tier:      store.ApprovalPIN,
		ExpiresAt: r.now.Add(15 * time.Minute),
	})
	require.NoError(r.t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	r.sendQueued()
	return a
}

// answerCard replies to the message that was sent last, or reacts to it.
func (r *pinRig) answerCard(said string, isReaction bool) string {
	r.t.Helper()
	shown := r.lastSent().Event
	content := textContent(said)
	content["m.relates_to"] = map[string]any{"m.in_reply_to": map[string]any{"event_id": shown}}
	if isReaction {
		content = map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": shown, "key": said}}
	}
	return r.receive(r.newMessage(owner, content))
}

func (r *pinRig) decisionOf(a store.Approval) *bool {
	r.t.Helper()
	now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
	require.NoError(r.t, err)
	return now.Allowed
}

func TestApproval_PINFollowsYes(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	a := r.pinCard("rm notes.md")
	require.Contains(t, r.lastSent().Body, "Write `yes` to do it; then I ask for your PIN")
	require.Contains(t, r.answerCard("yes", false), "That needs a PIN, and none is set.")
	require.Nil(t, r.decisionOf(a))
	r.setPIN(canary)
	r.now = r.now.Add(16 * time.Minute) // that question expires

	a = r.pinCard("rm other.md")
	require.Contains(t, r.answerCard("yes", false), "**Your PIN, please**, for: task 2: exec {\"command\": \"rm other.md\"}")
	require.Nil(t, r.decisionOf(a))
	require.Contains(t, r.ownerTypes("804638"), "That is not the PIN")
	require.Nil(t, r.decisionOf(a))
	require.Contains(t, r.ownerTypes(canary), "Allowed: `exec`.")
	require.True(t, *r.decisionOf(a))

	a = r.pinCard("rm third.md")
	require.Contains(t, r.ownerTypes("yes"), "Your PIN, please", "each call asks for it, and a word is enough while one question is open")
	require.Contains(t, r.ownerTypes(canary), "Allowed: `exec`.")
	require.True(t, *r.decisionOf(a))

	a = r.pinCard("rm fourth.md")
	require.Contains(t, r.answerCard("no", false), "Not done: `exec`.")
	require.False(t, *r.decisionOf(a), "a no needs no PIN")

	a = r.pinCard("rm fifth.md")
	require.Contains(t, r.answerCard("👍", true), "reactions are not encrypted")
	require.Nil(t, r.decisionOf(a))

	a = r.pinCard("rm sixth.md")
	require.Contains(t, r.answerCard("yes", false), "Your PIN, please")
	r.now = r.now.Add(16 * time.Minute)
	r.ownerTypes(canary)
	require.Nil(t, r.decisionOf(a), "the question has expired")
}

func TestApproval_TerminalDeniesPINCall(t *testing.T) {
	t.Parallel()
	r := &pinRig{rig: newRig(t)}
	a := r.pinCard("rm notes.md")
	require.False(t, *r.decisionOf(a))
	require.Empty(t, r.homeserver.sent)
}
