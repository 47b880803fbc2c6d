// Package hooks connects multis to other programs: it delivers events to configured addresses and programs (Hooks),
// receives webhooks (Webhooks), watches web pages (PageWatcher), and asks programs of the owner before tools are called
// and messages are sent (Commands).
//
// A delivery is signed as https://www.standardwebhooks.com describes, with the headers webhook-id, webhook-timestamp and
// webhook-signature. It is delivered at least once; repeated deliveries have the same id.
package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"multis/internal/fetch"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Target is where a hook delivers its events.
type Target struct {
	URL    string
	Events []policy.HookEvent
	// Secret is the key of the signatures: "whsec_" and base64, or any other text.
	Secret string
	// Command is true for a program in place of an address: Options.Commands runs it with the event.
	Command bool
	// Private allows an address of this machine or its networks.
	Private bool
}

// Options are what New needs.
type Options struct {
	Store    *store.Store
	Box      *outbox.Box
	Defaults policy.Defaults
	// UserAgent is the User-Agent header of the requests.
	UserAgent string
	Targets   map[string]Target
	// Commands runs the targets that are programs on this machine.
	Commands *Commands
}

// Hooks delivers events to the configured addresses.
type Hooks struct {
	Options
	publicClient, privateClient *fetch.Client
	now                         func() time.Time

	mu   sync.Mutex
	busy map[string]int // requests under way, by hook
}

// New returns Hooks.
func New(o Options) *Hooks {
	return &Hooks{
		Options: o, now: time.Now, busy: map[string]int{},
		publicClient:  fetch.New(fetch.Options{UserAgent: o.UserAgent}),
		privateClient: fetch.New(fetch.Options{UserAgent: o.UserAgent, AllowPrivate: true}),
	}
}

// StoreTargets stores the configured hooks in the database, so that events find the hooks that want them.
func (h *Hooks) StoreTargets(ctx context.Context) error {
	var rows []store.Hook
	for name, t := range h.Targets {
		u, err := url.Parse(t.URL)
		if err != nil {
			return fmt.Errorf("read the address of hook %s: %w", name, err)
		}
		row := store.Hook{Name: name, Target: u.Host, Events: []string{}}
		if t.Command {
			row.Target = "a command"
		}
		for _, e := range t.Events {
			row.Events = append(row.Events, string(e))
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b store.Hook) int { return strings.Compare(a.Name, b.Name) })
	return h.Store.InTx(ctx, func(tx store.Tx) error { return store.ReplaceHooks(ctx, tx, rows) })
}

const (
	// maxConcurrent is the maximum number of concurrent requests of one hook, so that a slow receiver does not delay the other hooks.
	maxConcurrent = 2
	busyWait      = time.Second
)

// Deliver delivers an event to its hook. last says that no other attempt follows.
func (h *Hooks) Deliver(ctx context.Context, delivery uuid.UUID, last bool) error {
	d, err := store.DeliveryByID(ctx, h.Store.DB(), delivery)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if d.State != store.DeliveryQueued {
		return nil
	}
	target, known := h.Targets[d.Hook]
	if !known {
		return h.drop(ctx, d, "the configuration has no such hook any more")
	}
	if !h.acquire(d.Hook) {
		return jobs.Snooze(busyWait)
	}
	defer h.release(d.Hook)
	body, err := h.payload(ctx, d)
	if errors.Is(err, errNotFound) {
		return h.drop(ctx, d, err.Error())
	}
	if err != nil {
		return err
	}
	if target.Command { // once: a program that is run a second time may do its work twice
		return h.record(ctx, d, 0, h.Commands.Notify(ctx, d.Hook, body), true)
	}
	client := h.publicClient
	if target.Private {
		client = h.privateClient
	}
	status, err := client.Post(ctx, target.URL, h.headers(d, target, body), body)
	return h.record(ctx, d, status, addRemedy(status, err), last)
}

// acquire reports whether a hook may send another request, and counts it.
func (h *Hooks) acquire(hook string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[hook] >= maxConcurrent {
		return false
	}
	h.busy[hook]++
	return true
}

func (h *Hooks) release(hook string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy[hook]--
}

// headers returns the headers of a request, including the signature.
func (h *Hooks) headers(d store.Delivery, t Target, body []byte) http.Header {
	at := strconv.FormatInt(h.now().Unix(), 10)
	return http.Header{
		"Content-Type":      {"application/json"},
		"Webhook-Id":        {d.ID.String()},
		"Webhook-Timestamp": {at},
		"Webhook-Signature": {sign(t.Secret, d.ID.String(), at, body)},
	}
}

// sign returns the signature "v1,..." of Standard Webhooks: HMAC-SHA256 over id, time and body, with dots between them.
func sign(secret, id, at string, body []byte) string {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// addRemedy makes an error say how to fix its cause, if the status or the error shows that. It returns all other errors unchanged.
func addRemedy(status int, err error) error {
	switch {
	case status >= 300 && status < 400:
		return fmt.Errorf("%w: configure the address that it redirects to", err)
	case errors.Is(err, fetch.ErrPrivate):
		return errors.New("the address is in a private network: set private: true for this hook if it is meant to be")
	default:
		return err
	}
}

// drop marks a delivery as not sent, with the reason.
func (h *Hooks) drop(ctx context.Context, d store.Delivery, why string) error {
	d.State, d.Error = store.DeliveryDropped, why
	return h.Store.InTx(ctx, func(tx store.Tx) error { return store.RecordDelivery(ctx, tx, d, 0) })
}

// record stores the outcome of an attempt; failure is nil if it succeeded. It notifies the owner when a hook begins to
// fail, and when it works again.
func (h *Hooks) record(ctx context.Context, d store.Delivery, status int, failure error, last bool) error {
	d.Status = status
	gone := status == http.StatusGone // the receiver wants no further events
	switch {
	case failure == nil:
		d.State = store.DeliveryDelivered
	case last || gone:
		d.State, d.Error = store.DeliveryFailed, failure.Error()
	default:
		d.Error = failure.Error()
	}
	err := h.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.RecordDelivery(ctx, tx, d, 1); err != nil {
			return err
		}
		if d.State == store.DeliveryQueued {
			return nil
		}
		changed, err := store.SetHookFailing(ctx, tx, d.Hook, failure != nil)
		if err != nil {
			return err
		}
		if !changed {
			return nil
		}
		return h.notifyOwner(ctx, tx, d)
	})
	switch {
	case err != nil:
		return err
	case d.State == store.DeliveryFailed:
		return jobs.Permanent(failure)
	default:
		return failure
	}
}

// notifyOwner notifies the owner that a hook fails or works again. While there is no admin room nothing is queued; /hooks shows the state.
func (h *Hooks) notifyOwner(ctx context.Context, tx store.Tx, d store.Delivery) error {
	name := text.Escape(d.Hook)
	kind, notice := outbox.Quiet, "✅ The hook **"+name+"** works again."
	if d.State == store.DeliveryFailed {
		kind = outbox.Alert
		notice = fmt.Sprintf("⚠️ The hook **%s** did not take an event, and I gave up: %s. `/hooks %s` shows more, `/hooks test %s` tries it.",
			name, text.Escape(d.Error), name, name)
	}
	if err := h.Box.NotifyOwner(ctx, tx, kind, notice); !errors.Is(err, outbox.ErrNoAdminRoom) {
		return err
	}
	return nil
}
