package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGate_ChecksNetworkFeatures(t *testing.T) {
	t.Parallel()
	features := Features{
		Known: true, MaxText: 50, NoEdits: true, NoReactions: true,
		Files: map[string]FileRule{
			"m.file":  {Types: []string{"text/plain", "application/*"}, MaxSize: 1000, Captions: true, MaxCaption: 20},
			"m.image": {Types: []string{"*/*"}},
		},
	}
	aFile := func(msgType, mime string, size int64, caption string) func(*GateInput) {
		return func(in *GateInput) {
			in.MsgType = msgType
			in.Body = "message.txt"
			in.File = &FileSpec{MIME: mime, Size: size, Caption: caption}
			if caption != "" {
				in.Body = caption
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*GateInput)
		code   Code
	}{
		"a text that fits":        {func(in *GateInput) { in.Body = strings.Repeat("ü", 50) }, CodeAllowed},
		"a text that is too long": {func(in *GateInput) { in.Body = strings.Repeat("ü", 51) }, CodeNetworkLimit},
		"an edit":                 {func(in *GateInput) { in.Edits = true }, CodeNoEdits},
		"a reaction": {func(in *GateInput) {
			in.MsgType = ""
			in.Reacts = true
			in.Body = "👍"
		}, CodeNoReactions},
		"a file":                           {aFile("m.file", "text/plain", 1000, ""), CodeAllowed},
		"a file of a kind of its type":     {aFile("m.file", "application/pdf", 10, "as agreed"), CodeAllowed},
		"a file of another type":           {aFile("m.file", "video/mp4", 10, ""), CodeNoFiles},
		"a kind of file that is not taken": {aFile("m.audio", "audio/ogg", 10, ""), CodeNoFiles},
		"a file that is too big":           {aFile("m.file", "text/plain", 1001, ""), CodeFileTooBig},
		"a file bigger than anybody takes": {aFile("m.image", "image/png", MaxFile+1, ""), CodeFileTooBig},
		"a caption that is too long":       {aFile("m.file", "text/plain", 10, strings.Repeat("a", 21)), CodeNoCaptions},
		"a caption where none are taken":   {aFile("m.image", "image/png", 10, "look"), CodeNoCaptions},
		"a caption that is a command":      {aFile("m.file", "text/plain", 10, "!wa logout"), CodeBridgeCommand},
		"a file without a source": {func(in *GateInput) {
			aFile("m.file", "text/plain", 10, "")(in)
			in.HasCitation = false
		}, CodeNoSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := replyInput(func(in *GateInput) { in.Features, in.Body = features, "[Nora] Yes." })
			test.change(&in)
			d := Gate(in)
			require.Equal(t, test.code, d.Code, d.Why)
			require.Equal(t, test.code == CodeAllowed, d.Allow)
			require.Equal(t, !d.Allow, d.Code.IsAboutText())
			in.Features = Features{}
			if test.code != CodeFileTooBig && test.code != CodeBridgeCommand && test.code != CodeNoSource {
				require.True(t, Gate(in).Allow, "where the bridge says nothing, it may be tried")
			}
		})
	}
	require.Equal(t, "The text has 51 characters; the network takes 50 in one message.",
		Gate(replyInput(func(in *GateInput) { in.Features, in.Body = features, strings.Repeat("a", 51) })).Why)
}
