package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// addTask stores a running task of the owner.
func (r *rig) addTask(question string) store.Task {
	r.t.Helper()
	task, err := store.InsertTask(r.ctx, r.st.Writer(), store.Task{Key: "ask:" + question, Kind: "ask", ChatID: r.room.ID, Input: question})
	require.NoError(r.t, err)
	task, err = store.ClaimTask(r.ctx, r.st.Writer(), task.ID)
	require.NoError(r.t, err)
	return task
}

func TestTask_StopByNumberOrReaction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "Nothing runs that could be stopped.", r.asOwner("/cancel-task"))
	require.Equal(t, "There is no task 99. `/cancel-task` lists what runs.", r.asOwner("/cancel-task 99"))
	first, second := r.addTask("what is going on?"), r.addTask("and what else?")
	require.Contains(t, r.asOwner("/cancel-task"), "what is going on?")
	require.Contains(t, r.asOwner(fmt.Sprintf("/cancel-task %d", first.ID)), fmt.Sprintf("Stopping task %d", first.ID))
	require.NoError(t, store.SetTaskProgressEvent(r.ctx, r.st.Writer(), second, "$live"))
	r.react("$live", "❌")
	for _, task := range []store.Task{first, second} {
		why, err := store.StopReason(r.ctx, r.st.DB(), task.ID)
		require.NoError(t, err)
		require.Equal(t, "you asked me to", why)
	}
}

func TestApproval_CountsOnceInTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ask := func(call string) store.Approval {
		task := r.addTask(call)
		approval := storetest.OpenApproval(t, r.st, store.Approval{
			TaskID:    task.ID,
			CallID:    call,
			Tool:      "send_file",
			Arguments: `{"path": "**offer**.pdf", "to": 3}`,
			ExpiresAt: r.now.Add(15 * time.Minute),
		})
		require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, approval.ID))
		r.sendQueued()
		return approval
	}
	decided := func(a store.Approval) *bool {
		now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
		require.NoError(t, err)
		return now.Allowed
	}
	yes := ask("c1")
	require.Contains(t, r.lastSent().Body, "wants to use `send_file`")
	require.Contains(t, r.lastSent().HTML, "**offer**.pdf", "what a model wrote stands there as it is")
	require.Contains(t, r.react(r.lastSent().Event, "👍"), "Allowed")
	require.True(t, *decided(yes))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'task'"))

	no := ask("c2")
	require.Contains(t, r.asOwner("no"), "Not done")
	require.False(t, *decided(no))

	late := ask("c3")
	r.now = r.now.Add(16 * time.Minute)
	require.Contains(t, r.react(r.lastSent().Event, "👍"), "That question was open until")
	require.Nil(t, decided(late))
	require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, late.ID), "and what is over is not asked for again")
	require.Empty(t, r.sendQueued())
}

// requestApproval asks the owner about a call with these arguments.
func (r *rig) requestApproval(arguments string) store.Approval {
	r.t.Helper()
	task := r.addTask(arguments)
	a := storetest.OpenApproval(r.t, r.st, store.Approval{
		TaskID:    task.ID,
		CallID:    "c1",
		Tool:      "mail__send",
		Arguments: arguments,
		ExpiresAt: r.now.Add(time.Minute),
	})
	require.NoError(r.t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	return a
}

func TestTask_LongCallIsFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var args []string
	for _, name := range []string{"a", "b", "c", "d"} {
		args = append(args, fmt.Sprintf("%q: %q", name, strings.Repeat(name, 1990)))
	}
	a := r.requestApproval("{" + strings.Join(args, ", ") + `, "to": "mallory@example.org"}`)
	var file []byte
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select data from outbox_files").Scan(&file))
	for _, name := range []string{"a", "b", "c", "d"} {
		require.Contains(t, string(file), name+": “"+strings.Repeat(name, 1990)+"”")
	}
	require.Contains(t, string(file), "to: “mallory@example.org”")
	r.sendQueued()
	shown := r.lastSent()
	require.Equal(t, "m.file", shown.Type)
	require.Contains(t, shown.Body, "wants to use `mail__send`")
	require.Contains(t, shown.Body, "This is only its beginning.")
	require.Contains(t, shown.Body, "👍 do it · 👎 don't · or reply why not. Open until 18:01.")
	require.Contains(t, r.react(shown.Event, "👍"), "Allowed")
	now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
	require.NoError(t, err)
	require.True(t, *now.Allowed)

	r.requestApproval(`{"text": "` + strings.Repeat("x", 2500) + `"}`)
	r.sendQueued()
	require.Equal(t, "m.text", r.lastSent().Type)
	require.Contains(t, r.lastSent().Body, strings.Repeat("x", 2500), "what fits stands in the message, whole")
}

func TestTask_ShowsInvisibleCharacters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for arguments, want := range map[string]string{
		`{"to": "ana@example.org", "to": "mallory@example.org"}`: "to: “ana@example.org”\nto: “mallory@example.org”",
		`{"command": "ls\nrm -rf x"}`:                            `command: “ls\nrm -rf x”`,
		`{"name": "invoice\u202egpj.exe"}`:                       `name: “invoice\u202egpj.exe”`,
		`{"name": "a\u200bb"}`:                                   `name: “a\u200bb”`,
		`{"name": "a\u2800b"}`:                                   `name: “a\u2800b”`,
		`{"name": "a\u00a0b\u3000c"}`:                            `name: “a\u00a0b\u3000c”`,
		`{"a\nb": "x  y"}`:                                       `a\nb: “x \x20y”`,
		`{"list": ["a", {"b":1,"b":2}]}`:                         `list: “["a", {"b":1,"b":2}]”`,
		`{"a": 1} {"b": 2}`:                                      `{"a": 1} {"b": 2}`,
		`{"quote": "say \"yes\""}`:                               `quote: “say "yes"”`,
		`{}`:                                                     `{}`,
	} {
		r.requestApproval(arguments)
		r.sendQueued()
		require.Contains(t, r.lastSent().Body, want, arguments)
	}
}

func TestReplay_OtherModelIsOwnTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	task := r.addTask("what is going on?")
	require.Equal(t, "it said zanzibar", r.asOwner(fmt.Sprintf("/replay %d", task.ID)))
	require.Equal(t, "[👀]", r.asOwner(fmt.Sprintf("/replay %d openai/other", task.ID)))
	require.Equal(t, []string{fmt.Sprintf("replay %d with openai/other", task.ID)}, r.agent.goals)
}
