package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/sandbox"
	"multis/store"
	"multis/store/storetest"
)

// TestMain makes the test program the child of the sandbox as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	storetest.Main(m)
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// The example is from the libraries of the specification.
func TestSignature_FollowsStandardWebhooks(t *testing.T) {
	t.Parallel()
	signature := sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", signature)
	require.NotEqual(t, signature, sign("another secret of 24 letters", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
		[]byte(`{"test": 2432232314}`)))
}

// failingSender is an outbox.Sender that sends nothing. Tests read the notices from the outbox.
type failingSender struct{}

func (failingSender) Send(context.Context, store.OutboxMessage, id.RoomID) (id.EventID, error) {
	return "", errors.New("nothing is sent")
}
func (failingSender) Retract(context.Context, store.OutboxMessage) error { return nil }

// receivedRequest is one request that the receiver got.
type receivedRequest struct {
	id, at, signature string
	body              []byte
}

// receiver is a webhook receiver with configurable responses.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	got    []receivedRequest
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, receivedRequest{
			req.Header.Get("Webhook-Id"), req.Header.Get("Webhook-Timestamp"),
			req.Header.Get("Webhook-Signature"), data,
		})
		answer := r.answer
		r.mu.Unlock()
		if answer != nil {
			answer(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(f http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receiver) requests() []receivedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]receivedRequest(nil), r.got...)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// rig is one hook, "desk", on a database of its own, with a chat of Ana's and an admin room.
type rig struct {
	t     *testing.T
	st    *store.Store
	hooks *Hooks
	to    *receiver
	ana   store.Chat
}

func newRig(t *testing.T, change ...func(*Target)) *rig {
	t.Helper()
	r := &rig{t: t, st: storetest.New(t), to: newReceiver(t)}
	defaults := policy.Defaults{Profile: policy.ProfileBusiness}
	box := outbox.New(r.st, outbox.Settings{
		Defaults: defaults,
		Owner:    "@you:x",
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, failingSender{})
	target := Target{URL: r.to.URL + "/a/secret/path", Events: policy.HookEvents(), Secret: secret, Private: true}
	for _, f := range change {
		f(&target)
	}
	r.hooks = New(Options{
		Store:     r.st,
		Box:       box,
		Defaults:  defaults,
		UserAgent: "multis/test",
		Targets:   map[string]Target{"desk": target},
	})
	require.NoError(t, r.hooks.StoreTargets(t.Context()))
	r.ana = r.chat("Ana", "whatsapp", policy.KindDM)
	r.chat("multis", "", policy.KindAdmin)
	return r
}

func (r *rig) chat(name, protocol string, kind policy.Kind) store.Chat {
	r.t.Helper()
	room := id.RoomID("!" + name + ":example.com")
	c := store.Chat{
		Protocol:   protocol,
		ChannelID:  name,
		RoomID:     &room,
		Kind:       kind,
		Name:       name,
		BridgeBot:  "@bot:example.com",
		Encryption: policy.EncryptionNo,
	}
	r.tx(func(tx store.Tx) (err error) {
		c, err = store.UpsertChat(r.t.Context(), tx, c)
		return err
	})
	return c
}

func (r *rig) tx(fn func(tx store.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.st.InTx(r.t.Context(), fn))
}

// storeMessage stores a message of Ana's.
func (r *rig) storeMessage(body string) store.MessageID {
	r.t.Helper()
	var message store.MessageID
	r.tx(func(tx store.Tx) (err error) {
		message, err = store.InsertMessage(r.t.Context(), tx, store.Message{
			ChatID:  r.ana.ID,
			EventID: id.EventID(fmt.Sprintf("$%d", len(body))),
			Author:  policy.AuthorContact,
			Sender:  "@ana:example.com",
			Kind:    "text",
			Body:    body,
			At:      time.Now(),
			Action:  policy.ActionAnswer,
			Code:    policy.CodeAnswer,
			Reason:  "she asks",
		})
		return err
	})
	return message
}

// emit emits an event and returns the deliveries that were enqueued.
func (r *rig) emit(event policy.HookEvent, ref string) []uuid.UUID {
	r.t.Helper()
	r.tx(func(tx store.Tx) error { return jobs.EmitHookEvent(r.t.Context(), tx, event, ref) })
	var ids []uuid.UUID
	all, err := store.Deliveries(r.t.Context(), r.st.DB(), "desk", 100)
	require.NoError(r.t, err)
	for _, d := range all {
		if d.State == store.DeliveryQueued && d.Attempts == 0 {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (r *rig) delivery(d uuid.UUID) store.Delivery {
	r.t.Helper()
	row, err := store.DeliveryByID(r.t.Context(), r.st.DB(), d)
	require.NoError(r.t, err)
	return row
}

// countAlerts returns the number of notices with a mention, which notify the owner's phone.
func (r *rig) countAlerts() int {
	r.t.Helper()
	return storetest.Count(r.t, r.st,
		"select count(*) from outbox where content->>'msgtype' = 'm.text' and content->'m.mentions'->'user_ids' ? '@you:x'")
}

// notices returns the texts of all notices to the owner.
func (r *rig) notices() []string {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.t.Context(), "select content->>'body' from outbox order by seq")
	require.NoError(r.t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		require.NoError(r.t, rows.Scan(&text))
		all = append(all, text)
	}
	require.NoError(r.t, rows.Err())
	return all
}

func TestDelivery_OnceAndSigned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	message := r.storeMessage("do you deliver?")
	ids := r.emit(policy.HookMessage, strconv.FormatInt(int64(message), 10))
	require.Len(t, ids, 1)
	require.NoError(t, r.hooks.Deliver(t.Context(), ids[0], false))
	require.NoError(t, r.hooks.Deliver(t.Context(), ids[0], false), "done is done")
	got := r.to.requests()
	require.Len(t, got, 1)
	require.Equal(t, ids[0].String(), got[0].id)
	require.Equal(t, sign(secret, got[0].id, got[0].at, got[0].body), got[0].signature)
	var b payload
	require.NoError(t, json.Unmarshal(got[0].body, &b))
	require.Equal(t, policy.HookMessage, b.Event)
	require.Equal(t, "do you deliver?", b.Message.Text)
	require.Equal(t, "Ana", b.Chat.Name)
	d := r.delivery(ids[0])
	require.Equal(t, store.DeliveryDelivered, d.State)
	require.Equal(t, http.StatusOK, d.Status)
	require.NotNil(t, d.DoneAt)
	require.Empty(t, r.notices())
}

func TestDelivery_OnlySubscribedEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(to *Target) { to.Events = []policy.HookEvent{policy.HookIndex} })
	require.Empty(t, r.emit(policy.HookResolved, "1"))
	require.Len(t, r.emit(policy.HookIndex, "prices.md"), 1)
	r.hooks.Targets = map[string]Target{}
	require.NoError(t, r.hooks.StoreTargets(t.Context()))
	require.NoError(t, r.hooks.Deliver(t.Context(), r.emit(policy.HookIndex, "x")[0], false))
	require.Empty(t, r.to.requests(), "the hook is gone from the configuration")
}

func TestDelivery_QuotesNoDeletedMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	message := r.storeMessage("secret")
	deleted := r.emit(policy.HookEscalation, strconv.FormatInt(int64(message), 10))[0]
	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(t.Context(), tx, r.ana.ID, "$6", time.Now())
		return err
	})
	require.NoError(t, r.hooks.Deliver(t.Context(), deleted, false))
	require.NotContains(t, string(r.to.requests()[0].body), "secret")

	off := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0]
	r.tx(func(tx store.Tx) error { return store.SetMode(t.Context(), tx, r.ana.ID, policy.ModeOff) })
	require.NoError(t, r.hooks.Deliver(t.Context(), off, false))
	gone := r.emit(policy.HookIndex, "never.md")[0]
	require.NoError(t, r.hooks.Deliver(t.Context(), gone, false))
	require.Len(t, r.to.requests(), 1)
	require.Equal(t, store.DeliveryDropped, r.delivery(off).State)
	require.Equal(t, store.DeliveryDropped, r.delivery(gone).State)
}

// The receiver may be down for hours, and people take what waits meanwhile. It is not called any more then.
func TestDelivery_TakenMeanwhileCallsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	escalate := func() (delivery uuid.UUID, open store.Escalation) {
		message := r.storeMessage(strings.Repeat("x", 10+storetest.Count(t, r.st, "select count(*) from messages")))
		r.tx(func(tx store.Tx) error {
			_, err := store.OpenEscalation(t.Context(), tx, r.ana.ID, message, "a person was asked for", nil)
			return err
		})
		open, err := store.EscalationOfChat(t.Context(), r.st.DB(), r.ana.ID)
		require.NoError(t, err)
		return r.emit(policy.HookUnclaimed, strconv.FormatInt(int64(message), 10))[0], open
	}
	resolve := func(tx store.Tx, e store.Escalation) error {
		_, err := store.ResolveEscalation(t.Context(), tx, e.ID, "@eva:example.com")
		return err
	}
	waiting, open := escalate()
	require.NoError(t, r.hooks.Deliver(t.Context(), waiting, false))
	require.Len(t, r.to.requests(), 1, "nobody has it")
	r.tx(func(tx store.Tx) error { return resolve(tx, open) })

	for name, take := range map[string]func(tx store.Tx, e store.Escalation) error{
		"claimed": func(tx store.Tx, e store.Escalation) error {
			_, err := store.ClaimEscalation(t.Context(), tx, e.ID, "@eva:example.com", time.Now())
			return err
		},
		"answered": func(tx store.Tx, e store.Escalation) error {
			_, err := tx.Exec(t.Context(), "update escalations set answered_at = now() where id = $1", e.ID)
			return err
		},
		"resolved": resolve,
	} {
		delivery, open := escalate()
		r.to.answers(status(http.StatusBadGateway))
		require.Error(t, r.hooks.Deliver(t.Context(), delivery, false))
		before := len(r.to.requests())
		r.to.answers(nil)
		r.tx(func(tx store.Tx) error { return take(tx, open) })
		require.NoError(t, r.hooks.Deliver(t.Context(), delivery, false))
		require.Len(t, r.to.requests(), before, name)
		require.Equal(t, store.DeliveryDropped, r.delivery(delivery).State, name)
		if name != "resolved" {
			r.tx(func(tx store.Tx) error { return resolve(tx, open) })
		}
	}
}

func TestDelivery_FailureIsReportedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.to.answers(status(http.StatusInternalServerError))
	ids := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))
	require.ErrorContains(t, r.hooks.Deliver(t.Context(), ids[0], false), "500")
	d := r.delivery(ids[0])
	require.Equal(t, store.DeliveryQueued, d.State)
	require.Equal(t, 1, d.Attempts)
	require.Empty(t, r.notices(), "it may work the next time")

	require.True(t, jobs.IsPermanent(r.hooks.Deliver(t.Context(), ids[0], true)))
	second := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0]
	require.True(t, jobs.IsPermanent(r.hooks.Deliver(t.Context(), second, true)))
	require.Equal(t, store.DeliveryFailed, r.delivery(second).State)
	require.Len(t, r.notices(), 1, "told once, however often it fails")
	require.Contains(t, r.notices()[0], "500 Internal Server Error")

	r.to.answers(nil)
	require.NoError(t, r.hooks.Deliver(t.Context(), r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0], false))
	require.Len(t, r.notices(), 2)
	require.Contains(t, r.notices()[1], "works again")
}

func TestDelivery_GoneReceiverIsDisabled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.to.answers(status(http.StatusGone))
	d := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0]
	require.True(t, jobs.IsPermanent(r.hooks.Deliver(t.Context(), d, false)))
	require.Equal(t, store.DeliveryFailed, r.delivery(d).State)
}

func TestDelivery_LimitsResponse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	elsewhere := newReceiver(t)
	deliver := func(ctx context.Context) (store.Delivery, error) {
		d := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0]
		err := r.hooks.Deliver(ctx, d, false)
		return r.delivery(d), err
	}
	r.to.answers(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	d, err := deliver(t.Context())
	require.Error(t, err)
	require.Contains(t, d.Error, "configure the address that it redirects to")
	require.Empty(t, elsewhere.requests(), "what is told goes where it was meant to go")

	took := make(chan int, 1)
	r.to.answers(func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		for ; n < 64; n++ {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1<<20)); err != nil {
				break
			}
		}
		took <- n
	})
	_, err = deliver(t.Context())
	require.NoError(t, err)
	require.Less(t, <-took, 64, "what it has to say is not read to the end")

	done := make(chan struct{})
	defer close(done)
	r.to.answers(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-done:
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = deliver(ctx)
	require.Error(t, err, "it does not wait for ever")
}

func TestDelivery_PrivateAddressNeedsPermission(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(to *Target) { to.Private = false })
	d := r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))[0]
	require.ErrorContains(t, r.hooks.Deliver(t.Context(), d, false), "private: true")
	require.Empty(t, r.to.requests())
	require.NotContains(t, r.delivery(d).Error, "secret/path")
}

func TestDelivery_SlowReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	arrived, leave := make(chan struct{}, maxConcurrent), make(chan struct{})
	r.to.answers(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-leave
	})
	var ids []uuid.UUID
	for range maxConcurrent + 1 {
		ids = r.emit(policy.HookResolved, strconv.FormatInt(int64(r.ana.ID), 10))
	}
	var wg sync.WaitGroup
	for _, d := range ids[:maxConcurrent] {
		wg.Go(func() { r.hooks.Deliver(t.Context(), d, false) }) //nolint:errcheck // how it ends is of no interest here
	}
	for range maxConcurrent {
		<-arrived
	}
	require.True(t, jobs.IsSnooze(r.hooks.Deliver(t.Context(), ids[maxConcurrent], false)), "the third waits without a worker")
	close(leave)
	wg.Wait()
	r.to.answers(nil)
	require.NoError(t, r.hooks.Deliver(t.Context(), ids[maxConcurrent], false))
}
