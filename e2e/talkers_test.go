//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// senders are contacts who keep asking.
type senders struct {
	a        *app
	contacts []string
	stop     chan struct{}
	group    sync.WaitGroup

	mu   sync.Mutex
	said map[string][]id.EventID // by contact
	err  error
}

// pace is the time between two questions of one contact, of whom multis keeps 60 a minute.
const pace = 1200 * time.Millisecond

// startTalking makes contacts ask until finish is called.
func (a *app) startTalking(contacts ...string) *senders {
	l := &senders{a: a, contacts: contacts, stop: make(chan struct{}), said: map[string][]id.EventID{}}
	for _, contact := range contacts {
		l.group.Go(func() {
			for {
				said, err := a.Say(context.WithoutCancel(a.t.Context()), contact, question)
				l.mu.Lock()
				if err != nil {
					l.err = err
					l.mu.Unlock()
					return
				}
				l.said[contact] = append(l.said[contact], said.Event)
				l.mu.Unlock()
				select {
				case <-l.stop:
					return
				case <-time.After(pace):
				}
			}
		})
	}
	return l
}

// count returns how many questions were asked.
func (l *senders) count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, events := range l.said {
		n += len(events)
	}
	return n
}

// awaitMore waits until n more questions were asked.
func (l *senders) awaitMore(n int) {
	l.a.t.Helper()
	before := l.count()
	l.a.await("more questions", func(context.Context) (bool, error) { return l.count() >= before+n, nil })
}

// finish ends the questions.
func (l *senders) finish() {
	l.a.t.Helper()
	close(l.stop)
	l.group.Wait()
	require.NoError(l.a.t, l.err)
}

const eachOnceSQL = `select
	(select count(*) from messages m where m.event_id = any($1)) as kept,
	(select count(*) from messages m where m.event_id = any($1) and m.answered_at is null) as unanswered,
	(select count(*) from outbox o where o.purpose = $2 and not exists (select from messages m where m.outbox_id = o.id and m.event_id = any($1))) as extra,
	(select count(*) from outbox o where o.purpose = $2 and o.state <> 'delivered') as undelivered`

// requireEachOnce checks that each question is kept and answered, and that no answer is there without a question or came twice.
func (a *app) requireEachOnce(load *senders) {
	a.t.Helper()
	var all []id.EventID
	for _, events := range load.said {
		all = append(all, events...)
	}
	a.await("all questions", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select count(*) = $2 from messages where event_id = any($1) and answered_at is not null", all, len(all))
	})
	a.awaitIdle()
	a.await("the bridge's word about all answers", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select not exists (select from outbox where purpose = $1 and state = 'sent')", policy.PurposeReply)
	})
	var kept, unanswered, extra, undelivered int
	require.NoError(a.t, a.db.DB().QueryRow(a.t.Context(), eachOnceSQL, all, policy.PurposeReply).Scan(&kept, &unanswered, &extra,
		&undelivered))
	require.Equal(a.t, fmt.Sprint(len(all), 0, 0, 0), fmt.Sprint(kept, unanswered, extra, undelivered),
		"kept, unanswered, without a question, undelivered")
	answers := 0
	for _, contact := range load.contacts {
		replies := a.count("select count(*) from outbox where chat_id = $1 and purpose = $2", a.chat(contact).ID, policy.PurposeReply)
		require.Positive(a.t, replies)
		a.awaitDeliveries(contact, replies)
		answers += replies
	}
	a.t.Logf("%d questions, %d answers: none lost, none twice", len(all), answers)
}
