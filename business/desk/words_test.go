package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/answers"
	"multis/business/desk"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// fileServer has the files of the room, by their addresses.
type fileServer map[id.ContentURIString]string

func (f fileServer) Download(_ context.Context, file store.Attachment, limit int64) ([]byte, error) {
	data, found := f[file.URL]
	switch {
	case !found:
		return nil, jobs.Permanent(errors.New("the homeserver does not have the file any more"))
	case int64(len(data)) > limit:
		return nil, jobs.Permanent(errors.New("the file is too large"))
	}
	return []byte(data), nil
}

func TestAnswer_SentByNumber(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.Answers = &answers.Keeper{Store: r.st, Variables: answers.Variables{Business: "Piano House", Hours: "mon-fri 9-17"}}
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	var first, second int64
	r.tx(func(tx store.Tx) (err error) {
		if first, err = store.AddCannedAnswer(r.ctx, tx, "When are you open?", "Hello {name}, we are open {hours}."); err != nil {
			return err
		}
		second, err = store.AddCannedAnswer(r.ctx, tx, "Who are you?", "{business}.")
		return err
	})
	sent := r.reply(card, eva, fmt.Sprintf(" #%d ", first))
	r.reply(card, eva, "#999")
	r.reply(card, eva, "Parcel #7 is yours")
	r.reply(card, eva, "# 1")
	r.runAllJobs()
	require.Equal(t, []string{"Hello Ana, we are open Monday-Friday 9-17.", "Parcel #7 is yours", "# 1"}, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.inThread(card), "Not sent: there is no answer 999")

	r.edit(deskRoom, eva, sent, fmt.Sprintf("#%d", second))
	r.runAllJobs()
	require.Equal(t, "Piano House.", r.sender.view(anasRoom, anyEvent)[0], "the edit is filled in, too")
	r.edit(deskRoom, eva, sent, "#998")
	r.runAllJobs()
	require.Equal(t, "Piano House.", r.sender.view(anasRoom, anyEvent)[0])
	require.Contains(t, r.inThread(card), "unchanged there: there is no answer 998")
}

func TestFile_TypeIsWellFormed(t *testing.T) {
	t.Parallel()
	for named, want := range map[string]string{
		"image/png": "image/png", "audio/ogg; codecs=opus": "audio/ogg; codecs=opus", "": "application/octet-stream",
		"text":            "application/octet-stream",
		"text/html\nX: y": "application/octet-stream", "text/": "application/octet-stream", "my key is 12/34": "application/octet-stream",
	} {
		f := desk.FileOf(store.Message{Attachment: &store.Attachment{Name: "a", MIME: named}}, nil)
		require.Equal(t, want, f.MIME, named)
	}
}

// sendFile sends a file in the thread of a card.
func (r *rig) sendFile(card id.EventID, sender id.UserID, content map[string]any) id.EventID {
	r.t.Helper()
	content["m.relates_to"] = map[string]any{"rel_type": "m.thread", "event_id": card}
	return r.receive(r.event("m.room.message", deskRoom, sender, content))
}

// watchFiles notes the files that are sent, with their captions and data.
func (r *rig) watchFiles() *[]string {
	var list []string
	r.sender.check = func(o store.OutboxMessage) {
		var c struct {
			MsgType  string          `json:"msgtype"`
			Body     string          `json:"body"`
			FileName string          `json:"filename"`
			Voice    json.RawMessage `json:"org.matrix.msc3245.voice"`
			Info     struct {
				MIME   string `json:"mimetype"`
				Millis int    `json:"duration"`
			} `json:"info"`
		}
		require.NoError(r.t, json.Unmarshal(o.Content, &c))
		if c.FileName == "" {
			return
		}
		data, err := store.OutboxFile(r.ctx, r.st.DB(), o.ID)
		require.NoError(r.t, err)
		list = append(list, fmt.Sprintf("%s %s/%s %s %d voice=%t: %s", c.MsgType, c.Body, c.FileName, c.Info.MIME, c.Info.Millis,
			len(c.Voice) > 0, data))
	}
	return &list
}

func TestFile_OfOperatorReachesContact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	files := r.watchFiles()
	card := r.escalate(anasRoom, "My parcel arrived broken")
	image := func(name, caption, url string) map[string]any {
		return map[string]any{
			"msgtype": "m.image", "body": caption, "filename": name, "url": url,
			"info": map[string]any{"mimetype": "image/png", "size": 5},
		}
	}
	photo := r.sendFile(card, eva, image("lamp.png", "This lamp?", "mxc://x/lamp"))
	note := r.sendFile(card, eva, image("list.png", "note: for us only", "mxc://x/list"))
	r.sendFile(card, bob, map[string]any{
		"msgtype": "m.audio", "body": "voice.ogg", "url": "mxc://x/voice", "info": map[string]any{"mimetype": "audio/ogg", "duration": 3000},
		"org.matrix.msc3245.voice": map[string]any{},
	})
	r.sendFile(card, "@stranger:example.com", image("spam.png", "", "mxc://x/spam"))
	r.sendFile(card, bob, image("gone.png", "", "mxc://x/gone"))
	r.sendFile(card, bob, map[string]any{"msgtype": "m.location", "body": "Berlin", "geo_uri": "geo:52,13"})
	require.WithinDuration(t, r.now, *r.reload(ana).OwnerWroteAt, 0)
	r.runAllJobs()
	require.Equal(t, []string{
		"m.image This lamp?/lamp.png image/png 0 voice=false: a lamp",
		"m.audio voice.ogg/voice.ogg audio/ogg 3000 voice=true: hello",
	}, *files)
	require.Equal(t, []string{"This lamp?", "voice.ogg"}, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.inThread(card), "Not sent: the homeserver does not have the file any more. It was “gone.png”.")
	require.Contains(t, r.inThread(card), "Not sent: text, pictures, recordings and files go out from a thread.")

	r.receive(r.event("m.room.message", deskRoom, eva, map[string]any{
		"msgtype": "m.image", "body": "* That lamp?", "m.new_content": image("lamp.png", "That lamp?", "mxc://x/lamp"),
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": photo},
	}))
	r.receive(r.event("m.room.message", deskRoom, eva, map[string]any{
		"msgtype": "m.image", "body": "* list", "m.new_content": image("list.png", "a list", "mxc://x/list"),
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": note},
	}))
	r.runAllJobs()
	require.Contains(t, r.inThread(card), "unchanged there: delete it and write again")
	require.Len(t, *files, 2, "a note that is edited stays one")
	r.redact(deskRoom, eva, photo)
	r.runAllJobs()
	require.Equal(t, []string{"voice.ogg"}, r.sender.view(anasRoom, anyEvent), "a photo that is deleted here is deleted there")
}

func TestName_CannotLookLikeRole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"the owner (phone)", "you", "eva", "Nora (assistant)", "customer **x**: ", "\u202eenohp"} {
		r := newRig(t)
		r.chat(name, anasRoom, policy.KindDM)
		card := r.escalate(anasRoom, "My parcel arrived broken")
		r.say(anasRoom, contactOf(anasRoom), "Refund her 500 euro")
		r.runAllJobs()
		for line := range strings.SplitSeq(r.inThread(card), "\n") {
			if strings.Contains(line, "Refund her") {
				require.True(t, strings.HasPrefix(line, "💬 customer **"), line)
			}
		}
	}
}

func TestCard_MarksTranscript(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	said := r.say(anasRoom, contactOf(anasRoom), "It is the red one")
	_, err := r.st.Writer().Exec(r.ctx, "update messages set kind = 'voice' where event_id = $1", said)
	require.NoError(t, err)
	r.runAllJobs()
	require.Contains(t, r.inThread(card), "💬 customer **Ana**: [voice note] It is the red one")
}

// Operators are not in the contact's room: what the card leaves out they read nowhere. What stands behind the messages is
// not pushed out by them.
func TestCard_ShowsLongMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	long := "My lamp is broken. " + strings.Repeat("It hums. ", 150) + "It is the blue one."
	card := r.escalate(anasRoom, long)
	require.Contains(t, r.card(card), "It is the blue one.")

	r.react(eva, card, "✅")
	r.runAllJobs()
	card = r.escalate(anasRoom, strings.Repeat("日本語", 300), func(c *desk.Case) {
		first := c.Messages[0]
		for range 57 {
			c.Messages = append(c.Messages, first)
		}
		c.Proposals = proposals(strings.Repeat("p", 1500))
	})
	r.react(eva, card, "✋")
	r.runAllJobs()
	require.Contains(t, r.card(card), "Why: It asks for a person.")
	require.Contains(t, r.card(card), "✋ claim")
	require.Contains(t, r.card(card), "✋ **eva**")
	require.Equal(t, eva, r.escalation(ana.ID).ClaimedBy)
}
