package hooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// Webhooks receives requests of other programs. Each webhook's address has a name and a token. The content of a request
// is shown as text in the admin room and is never executed.
type Webhooks struct {
	store *store.Store
	box   *outbox.Box

	mu     sync.Mutex
	limits map[store.WatchID]*rate.Limiter // by watch
}

// NewWebhooks returns Webhooks without any rate limits used up.
func NewWebhooks(st *store.Store, box *outbox.Box) *Webhooks {
	return &Webhooks{store: st, box: box, limits: map[store.WatchID]*rate.Limiter{}}
}

const (
	maxBodySize = 64 << 10 // bytes of a request's body
	maxShown    = 1000     // characters of a request that are shown
	// requestBurst is how many requests a program may send at once; after that one in each requestInterval.
	requestBurst    = 10
	requestInterval = 6 * time.Second
)

// Handler serves POST /watch/NAME/TOKEN. It answers 202 for an accepted request, and 404 for an unknown name or token.
func (in *Webhooks) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /watch/{name}/{token}", in.receive)
	return mux
}

func (in *Webhooks) receive(w http.ResponseWriter, req *http.Request) {
	ctx := req.Context()
	watch, err := store.WatchByName(ctx, in.store.DB(), strings.ToLower(req.PathValue("name")))
	switch known := err == nil && subtle.ConstantTimeCompare(watch.Token, store.HashToken(req.PathValue("token"))) == 1; {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		in.fail(ctx, w, err)
		return
	case !known:
		http.NotFound(w, req)
		return
	case !in.limit(watch.ID).Allow():
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many requests; the limit is 10 a minute", http.StatusTooManyRequests)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBodySize))
	if err != nil {
		http.Error(w, "the request cannot be read, or is longer than 64 KiB", http.StatusRequestEntityTooLarge)
		return
	}
	err = in.store.InTx(ctx, func(tx store.Tx) error {
		first, err := store.RecordWebhookCall(ctx, tx, watch.ID, idempotencyKey(req.Header), time.Now().Add(-store.WebhookRequestRetention))
		if err != nil {
			return err
		}
		if !first {
			return nil
		}
		said := "📬 **" + text.Escape(watch.Name) + "**: " + summary(req.Header.Get("Content-Type"), body)
		return in.show(ctx, tx, watch.ID, incidentOf(jsonBody(body)), said)
	})
	if err != nil {
		in.fail(ctx, w, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (in *Webhooks) fail(ctx context.Context, w http.ResponseWriter, err error) {
	if !jobs.IsSnooze(err) {
		zerolog.Ctx(ctx).Err(err).Msg("Cannot store a webhook request")
	}
	w.Header().Set("Retry-After", "60")
	http.Error(w, "temporarily unavailable; try again", http.StatusServiceUnavailable)
}

func (in *Webhooks) limit(watch store.WatchID) *rate.Limiter {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.limits[watch] == nil {
		in.limits[watch] = rate.NewLimiter(rate.Every(requestInterval), requestBurst)
	}
	return in.limits[watch]
}

// idempotencyKey returns the id that a repeated request has in common with the first one, from the usual headers; empty if there is none.
func idempotencyKey(h http.Header) string {
	return text.Clip(strings.ToValidUTF8(strings.ReplaceAll(
		cmp.Or(h.Get("Webhook-Id"), h.Get("Idempotency-Key"), h.Get("X-Github-Delivery"), h.Get("X-Gitlab-Event-Uuid")), "\x00", ""), ""), 200)
}

// summary returns a request as text for people: the fields that contain text for people, else the whole body. JSON is
// recognized by its content, because curl sends any text with the media type of a form.
func summary(contentType string, body []byte) string {
	media, params, _ := mime.ParseMediaType(contentType)
	content := string(body)
	switch {
	case json.Valid(body):
		content = jsonText(body)
	case media == "application/x-www-form-urlencoded":
		if form, err := url.ParseQuery(content); err == nil && json.Valid([]byte(form.Get("payload"))) { // as of GitHub and Slack
			content = jsonText([]byte(form.Get("payload")))
			break
		}
		content = formText(content)
	case media == "multipart/form-data":
		form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(maxBodySize)
		if err == nil {
			content = fieldsText(form.Value)
		}
	}
	if content = text.OneLine(content); content == "" {
		return "(nothing was said)"
	}
	return text.Escape(text.Clip(content, maxShown))
}

// textFields returns the names of the fields that usually contain text for people, in the order in which they are shown.
func textFields() []string {
	return []string{"title", "subject", "summary", "message", "text", "msg", "content", "description", "body"}
}

// formText returns the fields of a URL-encoded form. A text that is no form is returned unchanged.
func formText(text string) string {
	form, err := url.ParseQuery(text)
	if err != nil {
		return text
	}
	if !strings.Contains(text, "=") {
		return text
	}
	return fieldsText(form)
}

// fieldsText returns the text fields of a form, else all fields.
func fieldsText(form url.Values) string {
	var parts []string
	for _, name := range textFields() {
		if value := form.Get(name); value != "" {
			parts = append(parts, value)
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " — ")
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		parts = append(parts, strings.TrimSuffix(name+"="+strings.Join(form[name], " "), "="))
	}
	return strings.Join(parts, ", ")
}
