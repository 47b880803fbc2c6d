package desk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// sayFile sends a picture of a contact.
func (r *rig) sayFile(room id.RoomID, name, url string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.room.message", room, contactOf(room), map[string]any{
		"msgtype": "m.image", "body": name, "filename": name, "url": url, "info": map[string]any{"mimetype": "image/png", "size": 5},
	}))
}

func TestFile_IsShownToOperators(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.Files = fileServer{"mxc://x/lamp": "a lamp", "mxc://x/list": "a list"}
	files := r.watchFiles()
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My lamp arrived broken")
	r.sayFile(anasRoom, "gone.png", "mxc://x/gone")
	lamp := r.sayFile(anasRoom, "lamp.png", "mxc://x/lamp")
	r.runAllJobs()
	r.sayFile(anasRoom, "list.png", "mxc://x/list")
	r.runAllJobs()
	require.Equal(t, []string{
		"m.image lamp.png/lamp.png image/png 0 voice=false: a lamp",
		"m.image list.png/list.png image/png 0 voice=false: a list",
	}, *files, "each once, and one that cannot be had stops no other")
	shown := func() (names []string) {
		for _, e := range r.sender.sent {
			if e.thread == card && !e.redacted && (e.body == "lamp.png" || e.body == "list.png") {
				names = append(names, e.body)
			}
		}
		return names
	}
	require.Equal(t, []string{"lamp.png", "list.png"}, shown())
	r.redact(anasRoom, contactOf(anasRoom), lamp)
	r.runAllJobs()
	require.Equal(t, []string{"list.png"}, shown(), "what the contact deletes is deleted here")
	require.Empty(t, r.sender.view(anasRoom, anyEvent), "nothing goes back to the contact")
}

// troubledServer is a fileServer that fails the first times, and counts the downloads.
type troubledServer struct {
	fileServer

	failures, asked int
}

func (s *troubledServer) Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error) {
	if s.asked++; s.asked <= s.failures {
		return nil, errKilled
	}
	return s.fileServer.Download(ctx, file, limit)
}

func TestFile_UnavailableHidesNoLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server := &troubledServer{fileServer: fileServer{"mxc://x/lamp": "a lamp"}}
	r.desk.Files = server
	files := r.watchFiles()
	r.chat("Ana", anasRoom, policy.KindDM)
	r.escalate(anasRoom, "My lamp arrived broken")
	const gone = 20
	for i := range gone {
		r.sayFile(anasRoom, fmt.Sprintf("gone%d.png", i), fmt.Sprintf("mxc://x/gone%d", i))
	}
	r.runAllJobs()
	r.sayFile(anasRoom, "lamp.png", "mxc://x/lamp")
	r.runAllJobs()
	r.say(anasRoom, contactOf(anasRoom), "Hello?")
	r.runAllJobs()
	require.Len(t, *files, 1)
	require.Equal(t, gone+1, server.asked, "each is asked for once")
}

func TestFile_UnavailableStopsNoTimer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server := &troubledServer{fileServer: fileServer{"mxc://x/lamp": "a lamp"}, failures: 3}
	r.desk.Files, r.desk.ClaimWithin = server, time.Hour
	files := r.watchFiles()
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	r.escalate(anasRoom, "My lamp arrived broken")
	r.runAllJobs()
	e := r.escalation(ana.ID).ID
	require.True(t, jobs.IsSnooze(r.desk.UpdateEscalation(r.ctx, e, true)), "the card waits for somebody")
	r.sayFile(anasRoom, "lamp.png", "mxc://x/lamp")
	require.True(t, jobs.IsSnooze(r.desk.UpdateEscalation(r.ctx, e, true)), "and still does")
	require.Zero(t, server.asked, "another job downloads it")
	r.runAllJobs()
	require.Len(t, *files, 1, "and tries again")
}

func TestFile_CopiedAfterCard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.Files = fileServer{"mxc://x/lamp": "a lamp"}
	files := r.watchFiles()
	r.chat("Ana", anasRoom, policy.KindDM)
	lamp := r.sayFile(anasRoom, "lamp.png", "mxc://x/lamp")
	r.escalate(anasRoom, "It arrived like this", func(c *desk.Case) {
		picture, err := store.MessageByEvent(r.ctx, r.st.DB(), c.Chat.ID, lamp)
		require.NoError(t, err)
		c.Messages = append([]store.Message{picture}, c.Messages...)
	})
	require.Equal(t, []string{"m.image lamp.png/lamp.png image/png 0 voice=false: a lamp"}, *files)
}
