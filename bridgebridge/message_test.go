package bridgebridge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestParse_ReadsMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, eventType, content string
		want                     Message
	}{
		{
			"a text", "m.room.message", `{"msgtype":"m.text","body":" hello\nthere "}`,
			Message{Kind: Text, Text: "hello\nthere", words: "hello\nthere"},
		},
		{
			"a poll as the specification has it", "m.poll.start",
			`{"m.text":[{"body":"Cake?\\n1. Yes"}],"m.poll":{"question":{"m.text":[{"body":"Cake?"}]},"answers":[{"m.text":[{"body":"Yes"}]},{"m.text":[{"body":"No"}]}]}}`,
			Message{Kind: Poll, Text: "[poll] Cake?: Yes, No"},
		},
		{
			"an emote is a text", "m.room.message", `{"msgtype":"m.emote","body":"waves"}`,
			Message{Kind: Text, Text: "waves", words: "waves"},
		},
		{
			"a notice", "m.room.message", `{"msgtype":"m.notice","body":"I am a bot"}`,
			Message{Kind: Notice, Notice: true, Text: "I am a bot", words: "I am a bot"},
		},
		{
			"a reply loses the quote of old clients", "m.room.message",
			`{"msgtype":"m.text","body":"> <@ana:example.org> do you deliver?\n> on Sundays?\n\nand on Mondays?","m.relates_to":{"m.in_reply_to":{"event_id":"$q"}}}`,
			Message{Kind: Text, Text: "and on Mondays?", words: "and on Mondays?", ReplyTo: "$q"},
		},
		{
			"a quote that is no reply stays", "m.room.message", `{"msgtype":"m.text","body":"> <@ana:example.org> said\n\nso"}`,
			Message{Kind: Text, Text: "> <@ana:example.org> said\n\nso", words: "> <@ana:example.org> said\n\nso"},
		},
		{
			"an edit is read by its new text", "m.room.message",
			`{"msgtype":"m.text","body":"* at nine","m.new_content":{"msgtype":"m.text","body":"at nine"},"m.relates_to":{"rel_type":"m.replace","event_id":"$old"}}`,
			Message{Kind: Text, Text: "at nine", words: "at nine", Replaces: "$old"},
		},
		{
			"an edit without new text loses the star", "m.room.message",
			`{"msgtype":"m.text","body":"* at nine","m.relates_to":{"rel_type":"m.replace","event_id":"$old"}}`,
			Message{Kind: Text, Text: "at nine", words: "at nine", Replaces: "$old"},
		},
		{
			"new text without an edit is no edit", "m.room.message",
			`{"msgtype":"m.text","body":"* one","m.new_content":{"msgtype":"m.text","body":"two"}}`,
			Message{Kind: Text, Text: "* one", words: "* one"},
		},
		{
			"a photo whose body is its file name has no words", "m.room.message",
			`{"msgtype":"m.image","body":"IMG_1.jpg","filename":"IMG_1.jpg","url":"mxc://example.org/abc","info":{"mimetype":"image/jpeg","size":12345,"w":1,"h":1}}`,
			Message{Kind: Image, Text: "[photo]", File: &File{URL: "mxc://example.org/abc", Name: "IMG_1.jpg", MIME: "image/jpeg", Size: 12345}},
		},
		{
			"a photo of an old bridge has no words", "m.room.message", `{"msgtype":"m.image","body":"IMG_1.jpg","url":"mxc://example.org/abc"}`,
			Message{Kind: Image, Text: "[photo]", File: &File{URL: "mxc://example.org/abc", Name: "IMG_1.jpg"}},
		},
		{
			"a photo's caption is words", "m.room.message",
			`{"msgtype":"m.image","body":"How much is this?","filename":"IMG_1.jpg","url":"mxc://example.org/abc"}`,
			Message{
				Kind: Image, Text: "[photo] How much is this?", words: "How much is this?",
				File: &File{URL: "mxc://example.org/abc", Name: "IMG_1.jpg"},
			},
		},
		{
			"a file is named", "m.room.message",
			`{"msgtype":"m.file","body":"of course","filename":"price\u202elist.pdf","url":"mxc://example.org/p","info":{"mimetype":"application/pdf","size":-1}}`,
			Message{Kind: Document, Text: "[file pricelist.pdf] of course", words: "of course", File: &File{
				URL:  "mxc://example.org/p",
				Name: "pricelist.pdf",
				MIME: "application/pdf",
			}},
		},
		{
			"an encrypted file comes with its key", "m.room.message",
			`{"msgtype":"m.file","body":"see page 2","filename":"a.pdf","info":{"size":7},"file":{"url":"mxc://example.org/p","v":"v2",` +
				`"key":{"k":"aWF6_-","alg":"A256CTR","kty":"oct","ext":true,"key_ops":["decrypt"]},"iv":"w+sE/8=","hashes":{"sha256":"fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA"}}}`,
			Message{
				Kind: Document, Text: "[file a.pdf] see page 2", words: "see page 2",
				File: &File{URL: "mxc://example.org/p", Name: "a.pdf", Size: 7, Key: &FileKey{
					Version:   "v2",
					Algorithm: "A256CTR",
					Key:       "aWF6_-",
					IV:        "w+sE/8=",
					SHA256:    "fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA",
				}},
			},
		},
		{
			"a key that is none is left empty", "m.room.message",
			`{"msgtype":"m.file","body":"a.pdf","url":"mxc://example.org/plain","file":{"url":"mxc://example.org/p","v":"v\u0000","key":{"k":7},"iv":"a b"}}`,
			Message{Kind: Document, Text: "[file a.pdf]", File: &File{URL: "mxc://example.org/p", Name: "a.pdf", Key: &FileKey{}}},
		},
		{
			"a file without an address cannot be fetched", "m.room.message", `{"msgtype":"m.file","body":"a.pdf","file":{"v":"v2"}}`,
			Message{Kind: Document, Text: "[file a.pdf]"},
		},
		{
			"a video", "m.room.message", `{"msgtype":"m.video","body":"v.mp4"}`,
			Message{Kind: Video, Text: "[video]"},
		},
		{
			"an audio file", "m.room.message", `{"msgtype":"m.audio","body":"song.mp3"}`,
			Message{Kind: Audio, Text: "[audio]"},
		},
		{
			"a voice note", "m.room.message",
			`{"msgtype":"m.audio","body":"Voice message.ogg","url":"mxc://example.org/v","org.matrix.msc3245.voice":{}}`,
			Message{Kind: Voice, Text: "[voice note]", File: &File{URL: "mxc://example.org/v", Name: "Voice message.ogg"}},
		},
		{
			"how long a voice note is", "m.room.message",
			`{"msgtype":"m.audio","body":"v.ogg","url":"mxc://example.org/v","info":{"duration":4200,"mimetype":"audio/ogg"},"org.matrix.msc3245.voice":{}}`,
			Message{Kind: Voice, Text: "[voice note]", File: &File{URL: "mxc://example.org/v", Name: "v.ogg", MIME: "audio/ogg", Millis: 4200}},
		},
		{
			"how long it is, in the newer place", "m.room.message",
			`{"msgtype":"m.audio","body":"v.ogg","url":"mxc://example.org/v","org.matrix.msc1767.audio":{"duration":900},"org.matrix.msc3245.voice":{}}`,
			Message{Kind: Voice, Text: "[voice note]", File: &File{URL: "mxc://example.org/v", Name: "v.ogg", Millis: 900}},
		},
		{
			"a length that cannot be is none", "m.room.message",
			`{"msgtype":"m.audio","body":"v.ogg","url":"mxc://example.org/v","info":{"duration":-1e300}}`,
			Message{Kind: Audio, Text: "[audio]", File: &File{URL: "mxc://example.org/v", Name: "v.ogg"}},
		},
		{
			"a gallery", "m.room.message", `{"msgtype":"com.beeper.gallery","body":"2 photos","com.beeper.gallery.caption":"from Rome"}`,
			Message{Kind: Gallery, Text: "[gallery] from Rome", words: "from Rome"},
		},
		{
			"a place has no words", "m.room.message", `{"msgtype":"m.location","body":"Big Ben","geo_uri":"geo:1,2"}`,
			Message{Kind: Location, Text: "[location] Big Ben"},
		},
		{
			"a call told by the bridge has no words", "m.room.message",
			`{"msgtype":"m.text","body":"Incoming call","com.beeper.action_message":{"type":"call","call_type":"voice"}}`,
			Message{Kind: Call, Text: "[call] Incoming call"},
		},
		{
			"a message of a type nobody knows has no words", "m.room.message", `{"msgtype":"m.key.verification.request","body":"Please verify"}`,
			Message{Kind: Other, Text: "[other] Please verify"},
		},
		{
			"a deleted message", "m.room.message", `{}`,
			Message{Kind: Other, Text: "[other]"},
		},
		{
			"fields of the wrong type are empty", "m.room.message",
			`{"msgtype":"m.text","body":["x"],"m.relates_to":"$e","info":7,"m.new_content":false}`,
			Message{Kind: Text},
		},
		{
			"broken UTF-8 is replaced", "m.room.message", "{\"msgtype\":\"m.text\",\"body\":\"caf\xe9\"}",
			Message{Kind: Text, Text: "caf\ufffd", words: "caf\ufffd"},
		},
		{
			"a sticker has no words", "m.sticker", `{"body":"a dancing cat","url":"mxc://example.org/s"}`,
			Message{Kind: Sticker, Text: "[sticker] a dancing cat"},
		},
		{
			"a reaction has no words", "m.reaction", `{"m.relates_to":{"rel_type":"m.annotation","event_id":"$q","key":"👍"}}`,
			Message{Kind: Reaction, Text: "👍", ReplyTo: "$q"},
		},
		{
			"an encrypted message", "m.room.encrypted",
			`{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x","m.relates_to":{"m.in_reply_to":{"event_id":"$q"}}}`,
			Message{Kind: Encrypted, ReplyTo: "$q"},
		},
		{
			"a call's own event is no message", "m.call.invite", `{"call_id":"1","body":"hi","msgtype":"m.text"}`,
			Message{Kind: Other},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			evt := timelineEvent(t, test.eventType, ana, `{}`)
			evt.Content.VeryRaw = []byte(test.content)
			got := parse(t, evt).Message
			require.Equal(t, test.want, got)
			require.Equal(t, test.want.words, got.Words())
		})
	}
}

func TestPicture_PlaceholderHasDescription(t *testing.T) {
	t.Parallel()
	for _, caption := range []string{"", "is it [really] broken?", "[photo] again"} {
		line := placeholder(photoPlaceholder, caption)
		require.Empty(t, DescriptionOf(line))
		described := WithDescription(line, "a red canoe, it says: E17")
		require.Equal(t, "a red canoe, it says: E17", DescriptionOf(described))
		require.Equal(t, caption, CaptionOf(Image, described, "p.jpg"))
		require.Equal(t, described, WithDescription(described, "a red canoe, it says: E17"), "it is described once")
	}
	require.Equal(t, "[photo: a red canoe] is it broken?", WithDescription("[photo] is it broken?", "a red canoe"))
	require.Equal(t, "[photo] is it broken?", AuthorsLine(Image, "[photo: a red canoe] is it broken?", ""))
	require.Equal(t, "[photo: typed]", AuthorsLine(Text, "[photo: typed]", ""))
	require.Equal(t, "[photo]", AuthorsLine(Image, "[photo]", ""))
	require.Equal(t, "[file] is it signed?", AuthorsLine(Document, "[file always [pay] first.pdf] is it signed?", "always [pay] first.pdf"))
	require.Equal(t, "edited to a text", AuthorsLine(Document, "edited to a text", "a.pdf"))
	require.Equal(t, "[location]", AuthorsLine(Location, "[location] always pay first", ""))
	require.Equal(t, "[video] my cat", AuthorsLine(Video, "[video] my cat", "cat.mp4"))
	require.Equal(t, "edited to a text", CaptionOf(Image, "edited to a text", ""))
	require.Empty(t, DescriptionOf("a line without one: yes]"))
}

// A name is cut before its ending, by which whoever gets the file opens it.
func TestFileName_LongKeepsEnding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		strings.Repeat("n", 300) + ".pdf":       strings.Repeat("n", 95) + "….pdf",
		strings.Repeat("ü", 300) + ".docx":      strings.Repeat("ü", 94) + "….docx",
		strings.Repeat("n", 300):                strings.Repeat("n", 99) + "…",
		"a." + strings.Repeat("n", 300):         "a." + strings.Repeat("n", 97) + "…",
		strings.Repeat("n", 300) + ". and more": strings.Repeat("n", 99) + "…",
		"price\u202elist.pdf":                   "pricelist.pdf",
		strings.Repeat("n", 96) + ".pdf":        strings.Repeat("n", 96) + ".pdf",
		strings.Repeat("n", 97) + ".pdf":        strings.Repeat("n", 95) + "….pdf",
	} {
		got := messageContent{FileName: name}.fileName()
		require.Equal(t, want, got)
		require.LessOrEqual(t, utf8.RuneCountInString(got), maxName)
	}
}
