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

// newVoiceNote makes a voice note of the owner in the admin room.
func (r *pinRig) newVoiceNote() *event.Event {
	return r.newMessage(owner, map[string]any{
		"msgtype": "m.audio", "body": "voice.ogg", "url": "mxc://example.com/v",
		"info": map[string]any{"mimetype": "audio/ogg", "duration": 3000}, "org.matrix.msc3245.voice": map[string]any{},
	})
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
	return r.runRoomJobs()
}

func TestPIN_SpokenIsNotStored(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	r.inbox = appservice.NewInbox(r.st, appservice.Settings{
		Owner:         owner,
		Bot:           "@multis:example.com",
		Name:          "Nora",
		Defaults:      r.settings.Defaults,
		PIN:           r.pin,
		ReplyMaxAge:   time.Hour,
		CanTranscribe: true,
	})
	waiting := func() int {
		return r.count("select count(*) from messages where kind = 'voice' and action = 'transcribe'")
	}

	earlier, later := r.newVoiceNote(), r.newVoiceNote()
	r.receive(earlier, later)
	require.Equal(t, 2, waiting())
	r.now = r.now.Add(10 * time.Minute)
	require.Contains(t, r.ownerTypes("/pin set"), "The new PIN")
	require.Contains(t, r.receive(r.newVoiceNote()), "deleted that voice note unheard", "no model is given what may be a PIN")
	require.Equal(t, 2, waiting())
	require.Len(t, r.redacted, 1)
	require.Contains(t, r.transcribe(earlier, "My PIN is "+canary+"."), "That message looked like one", "although it was said before I asked")
	require.Len(t, r.redacted, 2)
	require.NotContains(t, r.transcribe(later, "What did Ana say?"), "PIN", "what was said before the question is heard")
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'What did Ana say?'"))

	r.ownerTypes(canary)
	require.Contains(t, r.ownerTypes(canary), "The PIN is set")
	for _, words := range []string{
		canary, "804 639.", "pin " + canary, "It's my pin, " + canary, "eight zero four six three nine",
		"Acht null vier sechs drei neun.", "My PIN is eighty forty-six, thirty-nine", "ocho 0 cuatro 639",
	} {
		note := r.newVoiceNote()
		r.receive(note)
		require.NotEmpty(t, r.transcribe(note, words), words)
	}
	late := r.newVoiceNote()
	r.receive(late)
	require.Contains(t, r.ownerTypes("/pin set"), "First the present PIN")
	require.Contains(t, r.transcribe(late, "eight zero four six three nine"), "deleted that voice note",
		"it was still to be written down when I asked")
	for _, hidden := range []string{canary, "804 639", "eight zero four", "Acht null", "forty-six", "ocho"} {
		require.Empty(t, storetest.ColumnsContaining(t, r.st, hidden))
	}
	require.Zero(t, waiting())
	require.Zero(t, r.count("select failures from pin"), "none of them was judged")
}
