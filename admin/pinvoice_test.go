package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"

	"multis/appservice"
	"multis/store"
	"multis/store/storetest"
)

// speaks makes a voice note of the owner in the admin room.
func (r *pinRig) speaks() *event.Event {
	return r.typed(owner, map[string]any{"msgtype": "m.audio", "body": "voice.ogg", "url": "mxc://example.com/v", "info": map[string]any{"mimetype": "audio/ogg", "duration": 3000}, "org.matrix.msc3245.voice": map[string]any{}})
}

// transcribe stores the transcript of a voice note and returns what was sent then.
func (r *pinRig) transcribe(note *event.Event, words string) string {
	r.t.Helper()
	r.tx(func(tx store.Tx) error {
		m, err := store.MessageByEvent(r.ctx, tx, r.room.ID, note.ID)
		if err != nil {
			return err
		}
		return r.inbox.StoreTranscript(r.ctx, tx, m.ID, words)
	})
	return r.work()
}

func TestASpokenPINIsNeitherHeardNorStored(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	r.inbox = appservice.NewInbox(r.st, appservice.Settings{Owner: owner, Bot: "@multis:example.com", Name: "Nora", Defaults: r.settings.Defaults, PIN: r.pin, MaxAge: time.Hour, Transcribes: true})
	waiting := func() int { return r.count("select count(*) from messages where kind = 'voice' and action = 'listen'") }

	earlier, later := r.speaks(), r.speaks()
	r.receive(earlier, later)
	require.Equal(t, 2, waiting())
	r.now = r.now.Add(10 * time.Minute)
	require.Contains(t, r.types("/pin set"), "The new PIN")
	require.Contains(t, r.receive(r.speaks()), "deleted that voice note unheard", "no model is given what may be a PIN")
	require.Equal(t, 2, waiting())
	require.Len(t, r.redacted, 1)
	require.Contains(t, r.transcribe(earlier, "My PIN is "+canary+"."), "That message looked like one", "although it was said before I asked")
	require.Len(t, r.redacted, 2)
	require.NotContains(t, r.transcribe(later, "What did Ana say?"), "PIN", "what was said before the question is heard")
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'What did Ana say?'"))

	r.types(canary)
	require.Contains(t, r.types(canary), "The PIN is set")
	for _, words := range []string{canary, "804 639.", "pin " + canary, "It's my pin, " + canary} {
		note := r.speaks()
		r.receive(note)
		require.NotEmpty(t, r.transcribe(note, words), words)
	}
	late := r.speaks()
	r.receive(late)
	require.Contains(t, r.types("/pin set"), "First the present PIN")
	require.Contains(t, r.transcribe(late, "eight zero four six three nine"), "deleted that voice note", "it was still to be written down when I asked")
	for _, hidden := range []string{canary, "804 639", "eight zero four"} {
		require.Empty(t, storetest.ColumnsContaining(t, r.st, hidden))
	}
	require.Zero(t, waiting())
	require.Zero(t, r.count("select failures from pin"), "none of them was judged")
}
