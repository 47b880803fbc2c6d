package appservice

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// relayTime is how long TestRelay_NoEventBlocksOthers tries new events; zero: a few hundred batches.
var relayTime = flag.Duration("relaytime", 0, "how long to try random events")

// relayed makes events that a homeserver may relay, and some that it should not.
type relayed struct {
	*rand.Rand
	n int
}

// text is a string as nobody expects it: long, empty, with a zero byte, with half a character.
func (r *relayed) text() string {
	switch r.IntN(8) {
	case 0:
		return strings.Repeat(pick(r, "x", "ü", "\x00", "😀", "$", `\`), pick(r, 1, 255, 256, 3000, 30_000))
	case 1:
		return ""
	case 2:
		return "a\x00b"
	case 3:
		return "\u202e@owner:example.com\u2066"
	case 4:
		random := make([]byte, pick(r, 2800, 9000)) // no index compresses it
		for i := range random {
			random[i] = byte(33 + r.IntN(90))
		}
		return string(random)
	default:
		return pick(r, "hello", "$e1", "!a:x", ana.String(), owner.String(), bridgeBot.String(), "m.replace", "m.annotation", "m.thread",
			"m.text", "m.notice", "m.image", "m.audio", "1e999", "join")
	}
}

// value is JSON of any type, nested to a depth.
func (r *relayed) value(depth int) string {
	switch r.IntN(9) {
	case 0:
		return pick(r, "null", "true", "-1", "0", "1e400", "9223372036854775808", "-0.0", "1.5", "253402300800000")
	case 1:
		return pick(r, `"\ud800"`, `"\udc00x"`, `"\u0000"`, "\"\xff\xfe\"", `""`)
	case 2:
		deep := pick(r, 3, 600, 7000, 20_000)
		return strings.Repeat("[", deep) + strings.Repeat("]", deep)
	case 3:
		deep := pick(r, 3, 600, 7000)
		return strings.Repeat(`{"m.relates_to":`, deep) + "1" + strings.Repeat("}", deep)
	case 4, 5:
		if depth > 0 {
			return r.object(depth - 1)
		}
	}
	quoted, _ := json.Marshal(r.text())
	return string(quoted)
}

// object returns a JSON object of random values, with keys that multis reads and with a key that nobody reads.
func (r *relayed) object(depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range r.IntN(7) {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(pick(r, "msgtype", "body", "filename", "url", "file", "info", "m.relates_to", "m.new_content", "event_id",
			"rel_type", "m.in_reply_to", "key", "redacts",
			"algorithm", "ciphertext", "session_id", "sender_key", "device_id", "ai.multis.out", "fi.mau.double_puppet_source",
			"fi.mau.bridge_state", "state_event", "remote_id", "status",
			"membership", "displayname", "bridgebot", "protocol", "channel", "id", "fi.mau.receiver", "com.beeper.room_type", "replacement_room",
			"predecessor", "room_id", "name",
			"users", "org.matrix.msc3245.voice", "mimetype", "size", "duration", "v", "hashes", "iv", "com.beeper.action_message",
			"com.beeper.gallery.caption", r.text()))
		b.Write(key)
		b.WriteByte(':')
		b.WriteString(r.value(depth))
	}
	b.WriteByte('}')
	return b.String()
}

// event is one event in JSON. Most have what each event has; now and then a part is of the wrong type or too long.
func (r *relayed) event() json.RawMessage {
	r.n++
	odd := func(usual string) string {
		if r.IntN(12) == 0 {
			return r.value(1)
		}
		quoted, _ := json.Marshal(usual)
		return string(quoted)
	}
	parts := []string{
		`"type":` + odd(pick(r, "m.room.message", "m.room.message", "m.room.encrypted", "m.room.encrypted", "m.room.redaction", "m.reaction",
			"m.sticker", "m.room.member", "m.room.encryption",
			"m.bridge", "m.room.name", "m.room.power_levels", "com.beeper.message_send_status", "m.room.tombstone", "m.room.topic")),
		`"event_id":` + odd(fmt.Sprintf("$odd%d", r.n)), `"room_id":` + odd(pick(r, "!a:x", "!a:x", "!admin:x", "!off:x", "!unknown:x")),
		`"sender":` + odd(pick(r, ana, ana, owner, bot, bridgeBot, "@stranger:example.com").String()),
		`"content":` + pick(r, r.object(3), r.object(3), r.object(3), r.value(1)),
		`"origin_server_ts":` + pick(r, strconv.FormatInt(time.Now().UnixMilli(), 10), "0", "-1", "9007199254740991", "9223372036854775807",
			r.value(0)),
	}
	if r.IntN(4) == 0 {
		parts = append(parts, `"state_key":`+odd(pick(r, "", owner.String(), ana.String(), bot.String())))
	}
	if r.IntN(6) == 0 {
		parts = append(parts, `"redacts":`+odd(fmt.Sprintf("$odd%d", r.n-1)))
	}
	if r.IntN(6) == 0 {
		parts = append(parts, `"unsigned":`+r.value(2))
	}
	return json.RawMessage("{" + strings.Join(parts, ",") + "}")
}

func pick[T any](r *relayed, of ...T) T { return of[r.IntN(len(of))] }

// validEvent returns a new text message and its event id. It must be stored at any place in a batch.
func (r *relayed) validEvent() (json.RawMessage, string) {
	r.n++
	name := fmt.Sprintf("$good%d", r.n)
	return json.RawMessage(fmt.Sprintf(`{"type":"m.room.message","event_id":%q,"room_id":"!a:x","sender":"@demo_ana:example.com","origin_server_ts":%d,"content":{"msgtype":"m.text","body":"hi"}}`,
		name, time.Now().UnixMilli())), name
}

// TestRelay_NoEventBlocksOthers: good messages beside it are stored, whether pushed or synced.
func TestRelay_NoEventBlocksOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.inbox.settings.StoreCap = policy.Rate{Minute: 1 << 40, Day: 1 << 40}
	b.chat("!a:x", policy.ModeBusiness)
	b.chat("!off:x", policy.ModeOff)
	var answer []byte
	homeserver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/sync") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(homeserver.Close)
	hs, err := NewHomeserver(b.store, Access{URL: homeserver.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	sync := NewOwnerSync(b.inbox, hs, nil, NewVault(b.store, hs))
	push := NewServer(b.inbox, "hs-token").Handler()

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &relayed{Rand: rand.New(rand.NewPCG(seed, 1))}
	end := time.Now().Add(*relayTime)
	for batch := 0; batch < 150 || time.Now().Before(end); batch++ {
		var events []json.RawMessage
		var want []string
		for range 1 + r.IntN(6) {
			events = append(events, r.event())
			if r.IntN(2) == 0 {
				evt, name := r.validEvent()
				events, want = append(events, evt), append(want, name)
			}
		}
		if batch%2 == 0 {
			body := append(append([]byte(`{"events":[`), bytes.Join(rawEvents(events), []byte(","))...),
				fmt.Sprintf(`],"ephemeral":[%s]}`, r.event())...)
			rec := putTransaction(t, push, "hs-token", string(body))
			require.Equal(t, http.StatusOK, rec.Code, "seed %d, batch %d", seed, batch)
		} else {
			answer = append(append([]byte(`{"next_batch":"s","to_device":{"events":[`+string(r.event())+
				`]},"rooms":{"join":{"!a:x":{"timeline":{"events":[`),
				bytes.Join(rawEvents(events), []byte(","))...), `]}}}}}`...)
			resp, err := hs.owner.session().sync(t.Context(), mautrix.ReqSync{})
			require.NoError(t, err, "seed %d, batch %d", seed, batch)
			require.NoError(t, sync.storeBridgeNotices(t.Context(), resp))
			require.NoError(t, sync.storeResponse(t.Context(), resp, "s"), "seed %d, batch %d", seed, batch)
		}
		require.Equal(t, len(want), b.count("messages where event_id = any($1)", want), "seed %d, batch %d", seed, batch)
	}
}

func rawEvents(events []json.RawMessage) [][]byte {
	all := make([][]byte, len(events))
	for i, e := range events {
		all[i] = e
	}
	return all
}

func TestRelay_OverlongIDIsSkippedAlone(t *testing.T) {
	t.Parallel()
	long := make([]byte, 4000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range long {
		long[i] = byte('a' + r.IntN(26))
	}
	for name, malformed := range map[string]func(b *fixture) *event.Event{
		"a session": func(b *fixture) *event.Event {
			return b.event("m.room.encrypted", "!a:x", ana,
				fmt.Sprintf(`{"algorithm":"m.megolm.v1.aes-sha2","session_id":%q,"ciphertext":"abc"}`, long))
		},
		"an edited message": func(b *fixture) *event.Event {
			return b.event("m.room.message", "!a:x", ana,
				fmt.Sprintf(`{"body":"* a","m.new_content":{"body":"a"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, long))
		},
		"a deleted message": func(b *fixture) *event.Event {
			return b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, long))
		},
		"its own": func(b *fixture) *event.Event {
			evt := b.text("!a:x", ana, "hi")
			evt.ID = id.EventID(long)
			return evt
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.chat("!a:x", policy.ModeBusiness)
			before, after := b.text("!a:x", ana, "before"), b.text("!a:x", ana, "after")
			require.NoError(t, b.inbox.Receive(context.Background(), []*event.Event{before, malformed(b), after}, "s1"))
			require.Equal(t, 2, b.count("messages"))
			b.message(before)
			b.message(after)
		})
	}
}
