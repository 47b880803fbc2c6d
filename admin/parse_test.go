package admin

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"multis/bridgebridge"
	"multis/store"
)

func TestParse_Commands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, command, rest string }{
		{"a slash begins a command", "/mode business Ana", "mode", "business Ana"},
		{"a bang begins one as well, because some clients swallow slashes", "!mode", "mode", ""},
		{"the name's case does not matter, the rest keeps its own", " /MODE  Off  Ana ", "mode", "Off  Ana"},
		{"the rest may begin on the next line", "/ask\nwhen?", "ask", "when?"},
		{"plain text is a question", "when do we deliver?", "", "when do we deliver?"},
		{"a slash inside is plain text", "1/2 cup", "", "1/2 cup"},
		{"a slash alone is plain text", "/", "", "/"},
		{"a slash before a number is plain text", "/2 please", "", "/2 please"},
		{"two slashes are one, as clients send it that keep commands for themselves", "//help", "help", ""},
		{"a backslash before the slash is left out, as of clients that send it so", `\/mode off Ana`, "mode", "off Ana"},
		{"three slashes are plain text", "///help", "", "///help"},
		{"a wow is plain text", "!!", "", "!!"},
		{"letters of other scripts can be a name, though none is known", "/помощь мне", "помощь", "мне"},
		{"nothing is nothing", " \n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			command, rest := parseCommand(test.text)
			require.Equal(t, test.command, command)
			require.Equal(t, test.rest, rest)
		})
	}
}

func TestParseChoice_Words(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want choice
		ok   bool
	}{
		{"3", choice{number: 3}, true},
		{" 12. ", choice{number: 12}, true},
		{"#2", choice{number: 2}, true},
		{"1)", choice{number: 1}, true},
		{"1️⃣", choice{number: 1, onPage: true}, true},
		{"9\u20e3", choice{number: 9, onPage: true}, true},
		{"🔟", choice{number: 10, onPage: true}, true},
		{"➡️", choice{word: "more"}, true},
		{"👍", choice{word: "yes"}, true},
		{"👎", choice{word: "no"}, true},
		{"Business", choice{word: "business"}, true},
		{"public", choice{word: "public"}, true},
		{"0", choice{word: "no"}, true},
		{"Cancel", choice{word: "no"}, true},
		{"0\u20e3", choice{word: "0\u20e3"}, false},
		{"10000", choice{number: 10000}, false},
		{"99999999999999999999", choice{word: "99999999999999999999"}, false},
		{"3 apples", choice{word: "3 apples"}, false},
		{"-1", choice{word: "-1"}, false},
		{"...", choice{}, false},
		{"", choice{}, false},
		{"what is public?", choice{word: "what is public?"}, false},
	} {
		got, ok := parseChoice(test.text)
		require.Equal(t, test.ok, ok, test.text)
		require.Equal(t, test.want, got, test.text)
	}
}

func TestWords_OmitFilePlaceholder(t *testing.T) {
	t.Parallel()
	file := &store.Attachment{Name: "a]b.md"}
	for _, test := range []struct {
		message store.Message
		want    string
	}{
		{store.Message{Kind: "text", Body: "[file x] is what I typed"}, "[file x] is what I typed"},
		{store.Message{Kind: "file", Body: "[file a]b.md] /index public", Attachment: file}, "/index public"},
		{store.Message{Kind: "file", Body: "[file a]b.md]", Attachment: file}, ""},
		{store.Message{Kind: "image", Body: "[photo] /help", Attachment: &store.Attachment{Name: "p.jpg"}}, "/help"},
		{store.Message{Kind: "voice", Body: "[voice note]"}, ""},
		{store.Message{Kind: "sticker", Body: "[sticker"}, ""},
		{store.Message{Kind: "sticker", Body: "[sticker] yes"}, ""},
		{store.Message{Kind: "location", Body: "[location] /pause all"}, ""},
		{store.Message{Kind: "other", Body: "[other] yes"}, ""},
	} {
		require.Equal(t, test.want, typedText(test.message))
	}
}

func TestNearest_Suggestions(t *testing.T) {
	t.Parallel()
	names := []string{"mode", "pause", "status", "search", "ask", "why"}
	for word, want := range map[string][]string{
		"mdoe": {"mode"}, "modes": {"mode"}, "stauts": {"status"}, "serch": {"search"}, "wyh": {"why"}, "MODE": {"mode"},
		"remind": {}, "x": {}, "xy": {}, "everything": {},
	} {
		require.Equal(t, want, nearest(word, names, 1), word)
	}
}

func TestQuestions_HoldNothingUp(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"when do we deliver?": true, "/ask when?": true, "!search prices": true, "Ana?": true,
		"/pause all": false, "2": false, "business": false, "/nonsense": false,
	} {
		require.Equal(t, want, isQuestion(store.Message{Kind: string(bridgebridge.Text), Body: body}), body)
	}
	require.False(t, isQuestion(store.Message{Kind: string(bridgebridge.Reaction), Body: "➡️"}))
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"/mode business Ana", "!help", "1️⃣", "🔟", "#12.", "/", "!\xff", "/\u202eask", "[file a] b", "more", "\x00",
		"/İ x", "10000",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, rest := parseCommand(text)
		require.False(t, strings.ContainsFunc(name, unicode.IsSpace))
		require.Equal(t, strings.TrimSpace(rest), rest)
		require.Equal(t, strings.ToLower(name), name)
		if name == "" {
			require.Equal(t, strings.TrimSpace(text), rest)
		}
		c, ok := parseChoice(text)
		require.False(t, ok && c.number == 0 && c.word == "")
		require.True(t, c.number >= 0 && (!ok || c.number <= maxChoice))
		typedText(store.Message{Kind: "file", Body: text, Attachment: &store.Attachment{Name: "a"}})
		mode, chat := parseModeArgs(rest)
		require.True(t, mode == "" || mode.Valid())
		require.LessOrEqual(t, len(chat), len(rest))
		if strings.Contains(text, "$") {
			parseEventLink(text)
		}
		require.False(t, strings.ContainsFunc(esc(text), func(r rune) bool { return r == '\n' || unicode.IsControl(r) }))
	})
}
