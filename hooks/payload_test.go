package hooks

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// emitAndDeliver emits an event, delivers it, and returns the payload that the receiver got.
func (r *rig) emitAndDeliver(event policy.HookEvent, ref string) payload {
	r.t.Helper()
	ids := r.emit(event, ref)
	require.Len(r.t, ids, 1)
	require.NoError(r.t, r.hooks.Deliver(r.t.Context(), ids[0], false))
	require.Equal(r.t, store.DeliveryDelivered, r.delivery(ids[0]).State, r.delivery(ids[0]).Error)
	got := r.to.requests()
	var b payload
	require.NoError(r.t, json.Unmarshal(got[len(got)-1].body, &b))
	require.Equal(r.t, event, b.Event)
	return b
}

func (r *rig) queryText(sql string, args ...any) string {
	r.t.Helper()
	var n int64
	require.NoError(r.t, r.st.DB().QueryRow(r.t.Context(), sql, args...).Scan(&n))
	return strconv.FormatInt(n, 10)
}

func TestPayloadOfEachEvent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	due := time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)

	failed := r.queryText(`with s as (insert into schedules (kind, zone, action, body, catch_up, created_by) values ('at', 'UTC', 'ask', 'sum up', 'once', '@you:x') returning id)
		insert into schedule_executions (schedule_id, due_at, state, note) select id, $1, 'failed', 'the model is away' from s returning id`, due)
	b := r.emitAndDeliver(policy.HookCronFail, failed)
	require.Equal(t, &job{ID: 1, What: "sum up", Due: due}, b.Job)
	require.Equal(t, "the model is away", b.Why)

	waits := r.queryText(`with t as (insert into tasks (key, kind, chat_id, agent, model, input, state) values ('k', 'ask', $1, '', 'm', 'x', 'running') returning id)
		insert into approvals (task_id, call_id, tool, arguments, expires_at) select id, 'c', 'exec', '{"secret": 1}', $2 from t returning id`,
		r.ana.ID, due)
	b = r.emitAndDeliver(policy.HookApproval, waits)
	require.Equal(t, &approval{ID: 1, Task: 1, Tool: "exec", Expires: due}, b.Approval)

	b = r.emitAndDeliver(policy.HookBudget, "2026-11-20/agent/100/the shop/west")
	require.Equal(t, &budget{Day: "2026-11-20", Cap: "agent", Percent: 100, Subject: "the shop/west"}, b.Budget)

	down := r.queryText("insert into bridge_states (bot, login, protocol, reason, changed_at, down_since) values ('@wa:x', 'me', 'whatsapp', 'logged out', $1, $1) returning id", due)
	b = r.emitAndDeliver(policy.HookBridgeDown, down)
	require.Equal(t, &bridge{Network: "whatsapp", Bot: "@wa:x", Login: "me", Since: due}, b.Bridge)
	require.Equal(t, "logged out", b.Why)

	section := r.storeNote("Ana wants delivery on Monday.")
	b = r.emitAndDeliver(policy.HookCapture, section)
	require.Equal(t, []string{"Ana wants delivery on Monday."}, b.Notes)
	require.Equal(t, "Ana", b.Chat.Name)
}

// storeNote stores a note of Ana's chat like a capture, and returns its reference.
func (r *rig) storeNote(text string) string {
	r.t.Helper()
	role := policy.UserRole(r.ana.ID)
	var section store.SectionID
	require.NoError(r.t, r.st.AsOwner(r.t.Context(), policy.OwnerScope(r.ana.ID), func(tx store.Tx) (err error) {
		if section, err = store.InsertSection(r.t.Context(), tx, r.ana.ID, role, r.storeMessage(text)); err != nil {
			return err
		}
		_, err = store.InsertNote(r.t.Context(), tx, store.Note{
			Role:      role,
			ChatID:    r.ana.ID,
			Section:   &section,
			Kind:      "fact",
			Body:      text,
			ValidFrom: time.Now(),
		})
		return err
	}))
	return strconv.FormatInt(int64(section), 10)
}

func TestDelivery_OmitsDeletedSubjects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	section := r.storeNote("a secret")
	told := r.emit(policy.HookCapture, section)[0]
	down := r.emit(policy.HookBridgeDown,
		r.queryText("insert into bridge_states (bot, login, protocol, reason, changed_at) values ('@wa:x', 'me', 'whatsapp', '', now()) returning id"))[0]
	require.NoError(t, r.st.AsOwner(t.Context(), policy.OwnerScope(r.ana.ID), func(tx store.Tx) error {
		_, err := tx.Exec(t.Context(), "delete from notes")
		return err
	}))
	for range 2 {
		require.NoError(t, r.hooks.Deliver(t.Context(), told, false))
		require.NoError(t, r.hooks.Deliver(t.Context(), down, false))
	}
	require.Empty(t, r.to.requests())
	require.Equal(t, store.DeliveryDropped, r.delivery(told).State)
	require.Equal(t, store.DeliveryDropped, r.delivery(down).State)
}
