package admin_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/jobs"
	"multis/store"
	"multis/store/storetest"
)

// crashingAdmin fails after each transaction, like a process that dies before its job ends.
type crashingAdmin struct{ *admin.Admin }

var errDied = errors.New("died after the transaction")

func (d crashingAdmin) RequestApproval(ctx context.Context, approval int64) error {
	return errors.Join(d.Admin.Tasks.RequestApproval(ctx, approval), errDied)
}

func (d crashingAdmin) Notify(ctx context.Context, what jobs.NoticeArgs) error {
	return errors.Join(d.Admin.Notices.Notify(ctx, what), errDied)
}

func TestQuestion_NotRepeatedAfterCrash(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	task := r.addTask("what is going on?")
	call := storetest.OpenApproval(t, r.st, store.Approval{
		TaskID:    task.ID,
		CallID:    "c1",
		Tool:      "send_file",
		Arguments: `{}`,
		ExpiresAt: r.now.Add(time.Minute),
	})
	var bot int64
	require.NoError(t, r.st.DB().QueryRow(r.ctx,
		"insert into bridge_bots (bot, protocol) values ('@new:example.com', 'signal') returning id").Scan(&bot))
	r.exec("delete from river.river_job")
	r.tx(func(tx store.Tx) error {
		return jobs.Enqueue(r.ctx, tx, jobs.ApprovalArgs{ApprovalID: call.ID}, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot})
	})
	r.exec("update river.river_job set state = 'available', scheduled_at = now()")
	ctx, cancel := context.WithCancel(r.ctx)
	runner, err := jobs.NewRunner(ctx, r.st, jobs.Handlers{
		Approval: crashingAdmin{r.admin},
		Notice:   crashingAdmin{r.admin},
		Folders:  r.admin.Documents,
		Send:     r.box,
	}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	const open = "select count(*) from river.river_job where kind in ('approval', 'notice') and (state <> 'completed' or attempt > 1)"
	require.Eventually(t, func() bool {
		return r.count("select count(*) from river.river_job where kind in ('approval', 'notice') and state in ('completed', 'retryable')") == 2
	}, time.Minute, 20*time.Millisecond)
	require.Zero(t, r.count(open))
	require.Equal(t, 2, r.count("select count(*) from outbox where chat_id = $1", r.room.ID))
}

// A transaction that ends by a deadlock is run again; the answer is written as if it had been run once.
func TestAnswer_SameAfterDeadlock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/safe on")
	r.exec("create sequence deadlocks")
	r.exec(`create function deadlock_once() returns trigger language plpgsql as $$
		begin if nextval('deadlocks') = 2 then raise exception 'deadlock' using errcode = 'deadlock_detected'; end if; return new; end $$`)
	r.exec("create trigger deadlock_once before insert on outbox for each row execute function deadlock_once()")
	answer := r.asOwner("/plan sell the piano")
	require.Equal(t, 1, strings.Count(answer, "I am in safe mode"), answer)
	require.Equal(t, 4, r.count("select nextval('deadlocks') - 1"), "the reaction and the text, twice")
}

// A contact deletes a message in the moment in which the answer to a command quotes it.
func TestAnswer_OmitsDeletedMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	said := r.addMessageIn(ana, "my password is hunter2", time.Minute)
	command := r.storeCommand(store.Message{Body: "/why Ana"})
	answered := make(chan error, 1)
	r.tx(func(tx store.Tx) error {
		deleted := r.now.Add(-time.Second) // by the contact, before it is stored
		if _, err := store.RedactMessage(r.ctx, tx, ana.ID, said.EventID, deleted); err != nil {
			return err
		}
		go func() { answered <- r.runJobs(command, false) }()
		require.Eventually(t, func() bool {
			return len(answered) == 1 ||
				r.count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
		}, time.Minute, time.Millisecond)
		return nil
	})
	require.True(t, jobs.IsSnooze(<-answered), "it is answered again")
	r.now = r.now.Add(10 * time.Second)
	require.NoError(t, r.runJobs(command, false))
	require.NotContains(t, bodies(r.sendQueued()), "hunter2")
	require.Zero(t, r.count("select count(*) from outbox where content::text like '%hunter2%'"))
}

// A contact deletes a message in the moment in which a notice quotes it that comes by itself.
func TestNotice_OmitsDeletedMessage(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(r *rig) (deleted store.Message, write func() error){
		"shadow card": func(r *rig) (store.Message, func() error) {
			ana := r.addShadow("Ana")
			out := r.answerInShadow(ana, "my password is hunter2, are you open?", "We are open.", time.Minute)
			asked, err := store.NewestMessageAnsweredBy(r.ctx, r.st.DB(), out)
			require.NoError(t, err)
			return asked, func() error { return r.admin.Drafts.PresentDraft(r.ctx, out) }
		},
		"weekly report": func(r *rig) (store.Message, func() error) {
			ana := r.addShadow("Ana")
			out := r.answerInShadow(ana, "my password is hunter2, are you open?", "We are open.", 50*time.Hour)
			r.storeOwnerMessage(ana, "sorry, not today", 49*time.Hour)
			asked, err := store.NewestMessageAnsweredBy(r.ctx, r.st.DB(), out)
			require.NoError(t, err)
			return asked, func() error {
				_, err := r.admin.Shadows.Report(r.ctx)
				return err
			}
		},
		"after a restore": func(r *rig) (store.Message, func() error) {
			restored, ana, out := makeRestored(r.t)
			*r = *restored
			said := r.addMessageIn(ana, "my password is hunter2", time.Minute)
			r.exec(`update outbox set quotes = array[$2::bigint], content = '{"msgtype": "m.text", "body": "You wrote: hunter2"}' where id = $1`,
				out, said.ID)
			return said, func() error { return r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicRestored}) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			said, write := prepare(r)
			written := make(chan error, 1)
			r.tx(func(tx store.Tx) error {
				if _, err := store.RedactMessage(r.ctx, tx, said.ChatID, said.EventID, r.now); err != nil {
					return err
				}
				go func() { written <- write() }()
				require.Eventually(t, func() bool {
					return len(written) == 1 ||
						r.count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
				}, 10*time.Second, time.Millisecond)
				return nil
			})
			require.NoError(t, <-written)
			require.Zero(t, r.count("select count(*) from outbox where content::text like '%hunter2%'"))
		})
	}
}
