package desk_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// sayFile sends a picture of a contact.
func (r *rig) sayFile(room id.RoomID, name, url string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.room.message", room, contactOf(room), map[string]any{
		"msgtype": "m.image", "body": name, "filename": name, "url": url, "info": map[string]any{"mimetype": "image/png", "size": 5},
	}))
}

func TestOperatorsSeeTheFilesOfTheContact(t *testing.T) {
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
