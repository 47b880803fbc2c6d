package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"multis/memory/transcript"
)

func whatsApp(t *testing.T, text string) []transcript.Line {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	lines, err := transcript.WhatsApp("chat.txt", strings.NewReader(text), zone)
	require.NoError(t, err)
	return lines
}

func TestWhatsApp_FormatsOfPhones(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"German Android":      "21.11.26, 18:05 - Ana: the fence is done",
		"British Android":     "21/11/2026, 18:05 - Ana: the fence is done",
		"American Android":    "11/21/26, 6:05 PM - Ana: the fence is done",
		"American, new space": "11/21/26, 6:05\u202fPM - Ana: the fence is done",
		"German iPhone":       "\u200e[21.11.26, 18:05:00] Ana: the fence is done",
		"American iPhone":     "[11/21/26, 6:05:00 PM] Ana: the fence is done",
		"Dutch":               "21-11-2026 18:05 - Ana: the fence is done",
		"ISO":                 "2026-11-21, 18:05 - Ana: the fence is done",
		"Spanish":             "21/11/26, 6:05 p. m. - Ana: the fence is done",
		"Finnish":             "21.11.2026 18.05 - Ana: the fence is done",
		"with a mark":         "\ufeff21.11.26, 18:05 - Ana: the fence is done\r",
	} {
		lines := whatsApp(t, text)
		require.Len(t, lines, 1, name)
		require.Equal(t, "Ana", lines[0].Sender, name)
		require.Equal(t, "the fence is done", lines[0].Text, name)
		require.Equal(t, "2026-11-21T18:05:00+01:00", lines[0].At.Format(time.RFC3339), name)
	}
}

func TestParse_WholeFileDecidesDateOrder(t *testing.T) {
	t.Parallel()
	months := whatsApp(t, "3/4/26, 9:00 AM - Ana: a\n3/14/26, 9:00 AM - Ana: b")
	require.Equal(t, time.March, months[0].At.Month(), "the second day exists with the month first alone")
	running := whatsApp(t, "1/2/26, 09:00 - Ana: a\n2/2/26, 09:00 - Ana: b\n1/3/26, 09:00 - Ana: c")
	require.Equal(t, time.February, running[0].At.Month(), "time runs forward with the day first")
	require.Equal(t, time.January, whatsApp(t, "2/1/26, 09:00 - Ana: a")[0].At.Month(), "the day is first where nothing tells")
}

func TestWhatsApp_SeveralLines(t *testing.T) {
	t.Parallel()
	lines := whatsApp(t,
		"21.11.26, 18:04 - Messages and calls are end-to-end encrypted.\n21.11.26, 18:05 - Ana: first\nsecond: with a colon\n\n21.11.26, 18:06 - Ben: https://a.example/b: yes")
	require.Len(t, lines, 2)
	require.Equal(t, "first\nsecond: with a colon", lines[0].Text)
	require.Equal(t, "https://a.example/b: yes", lines[1].Text)
}

func TestParse_ErrorNamesLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Dear diary": "chat.txt, line 1: a chat that WhatsApp exported begins with a date",
		"21.11.26, 18:05 - A: x\n31.02.26, 18:05 - A: y": "chat.txt, line 2: there is no such day",
		"21.11.26, 25:05 - A: x":                         "chat.txt, line 1: 25:05 is not a time",
		"21.11.26, 13:05 PM - A: x":                      "chat.txt, line 1: 13 is no hour of a half day",
	} {
		_, err := transcript.WhatsApp("chat.txt", strings.NewReader(text), time.UTC)
		require.ErrorContains(t, err, want)
	}
	_, err := transcript.Folder(fstest.MapFS{"chats/a/memory.md": file("- no time\n")}, time.UTC)
	require.ErrorContains(t, err, `chats/a/memory.md, line 1: a note stands before the first`)
	_, err = transcript.Folder(fstest.MapFS{"chats/a/recent.json": file("[\n{\"role\": 7}]")}, time.UTC)
	require.ErrorContains(t, err, "chats/a/recent.json, line 2: ")
	_, err = transcript.Folder(fstest.MapFS{"photos/a.jpg": file("x")}, time.UTC)
	require.ErrorIs(t, err, transcript.ErrNoFolder)
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestFolder_OfFirstMultis(t *testing.T) {
	t.Parallel()
	chats, err := transcript.Folder(fstest.MapFS{
		"data/memory/chats/admin/memory.md":              file("## 2026-02-11T14:30:00.000Z\n- Otto is the plumber\n- **Done**: report\n\n## 2026-02-12T09:00:00.000Z\n- The code is 1234\n"),
		"data/memory/chats/beeper-xyz/profile.json":      file(`{"mode": "business", "name": "Ana", "platform": "whatsapp", "lastActive": "2026-02-11T14:30:00Z"}`),
		"data/memory/chats/beeper-xyz/recent.json":       file(`[{"role": "user", "content": "hello", "timestamp": "2026-02-11T14:30:00.123Z"}, {"role": "assistant", "content": "Hi!", "timestamp": 1770820202000}]`),
		"data/memory/chats/beeper-xyz/log/2026-02-11.md": file("### 14:30:00 [user]\nhello\n\n### 14:31:00 [user]\nhow much\nis it?\n"),
		"data/config.json":                               file("{}"),
	}, time.UTC)
	require.NoError(t, err)
	require.Len(t, chats, 2)
	require.True(t, chats[0].Owner)
	require.Equal(t, []string{"Otto is the plumber", "**Done**: report"}, chats[0].Notes[0].Notes)
	require.Len(t, chats[0].Notes, 2)
	require.Equal(t, "Ana", chats[1].Name)
	require.Len(t, chats[1].Lines, 3, "what stands in the log and in recent.json is one message")
	require.Equal(t, "how much\nis it?", chats[1].Lines[2].Text)
	require.Equal(t, transcript.Assistant, chats[1].Lines[1].Sender)
}

func FuzzWhatsApp(f *testing.F) {
	for _, seed := range []string{
		"21.11.26, 18:05 - Ana: x\ny", "[11/21/26, 6:05:00 PM] A: b", "0/0/0 0:00 - :", "99/99/9999, 99:99 - A: b",
		"\ufeff\u200e[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := transcript.WhatsApp("f.txt", strings.NewReader(text), time.UTC)
		var where *transcript.LineError
		if err != nil {
			require.ErrorAs(t, err, &where)
			require.Positive(t, where.Line)
			return
		}
		for _, l := range lines {
			require.NotEmpty(t, l.Sender)
			require.NotEmpty(t, strings.TrimSpace(l.Text))
			require.False(t, l.At.IsZero())
		}
	})
}

func FuzzFolder(f *testing.F) {
	f.Add("## 2026-02-11T14:30:00.000Z\n- x", "### 14:30:00 [user]\nhello", `[{"role":"user","content":"x","timestamp":1}]`, `{"name":"A"}`)
	f.Add("## x", "### 99:99:99 []", "[{]", "7")
	f.Fuzz(func(t *testing.T, memory, log, recent, profile string) {
		chats, err := transcript.Folder(fstest.MapFS{
			"c/memory.md": file(memory), "c/log/2026-02-11.md": file(log), "c/recent.json": file(recent), "c/profile.json": file(profile),
		}, time.UTC)
		if err != nil {
			return
		}
		for _, l := range chats[0].Lines {
			require.NotEmpty(t, strings.TrimSpace(l.Text))
		}
	})
}

func TestFolder_RefusesNamedPipe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "memory.md"), 0o600))
	_, err := transcript.Folder(os.DirFS(folder), time.UTC)
	require.ErrorContains(t, err, "memory.md: it is not a plain file")
}

func TestWhatsApp_ReadsFurtherLanguages(t *testing.T) {
	t.Parallel()
	want := time.Date(2025, 11, 21, 18, 5, 0, 0, time.UTC)
	for name, line := range map[string]string{
		"iPhone, stranger":  "[21.11.2025, 18:05:00] ~\u202fZoe: hi",
		"tilde":             "21.11.25, 18:05 - ~ Zoe: hi",
		"English, half day": "11/21/25, 6:05\u202fPM - Zoe: hi",
		"English, at":       "21/11/2025 at 18:05 - Zoe: hi",
		"French":            "21/11/2025 à 18:05 - Zoe: hi",
		"Portuguese":        "21/11/2025 às 18:05 - Zoe: hi",
		"Spanish, half day": "21/11/25 6:05 p. m. - Zoe: hi",
		"German, half day":  "[21.11.25, 6:05:00 nachm.] Zoe: hi",
		"Korean":            "2025. 11. 21. 오후 6:05 - Zoe: hi",
		"Chinese":           "2025/11/21 下午6:05 - Zoe: hi",
		"Japanese":          "2025/11/21 午後6:05 - Zoe: hi",
		"Arabic":            "٢١\u200f/١١\u200f/٢٠٢٥، ٦:٠٥ م - Zoe: hi",
		"Persian":           "۲۰۲۵/۱۱/۲۱، ۱۸:۰۵ - Zoe: hi",
		"Turkish, half day": "21.11.2025 ÖS 6:05 - Zoe: hi",
		"Hindi digits":      "२१/११/२०२५, १८:०५ - Zoe: hi",
		"colon after":       "21.11.2025, 18:05: Zoe: hi",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := transcript.WhatsApp("chat.txt", strings.NewReader(line+"\n"), time.UTC)
			require.NoError(t, err)
			require.Equal(t, []transcript.Line{{At: want, Sender: "Zoe", Text: "hi"}}, lines)
		})
	}
}

func TestTelegram_ReadsResults(t *testing.T) {
	t.Parallel()
	const chat = `{"name":"Ana","type":"personal_chat","id":42,"messages":[
		{"id":1,"type":"service","date":"2025-11-21T18:00:00","action":"pin_message","text":""},
		{"id":2,"type":"message","date":"2025-11-21T18:05:00","date_unixtime":"1763748300","from":"Ana","text":"hello"},
		{"id":3,"type":"message","date":"2025-11-21T18:06:00","from":"Bob","text":["see ",{"type":"link","text":"https://example.com"}," please"]},
		{"id":4,"type":"message","date":"2025-11-21T18:07:00","from":"Bob","photo":"a.jpg","text":""}]}`
	for name, file := range map[string]string{"one chat": chat, "all chats": `{"about":"x","chats":{"list":[` + chat + `]}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chats, err := transcript.Telegram("result.json", strings.NewReader(file), time.UTC)
			require.NoError(t, err)
			require.Equal(t, []transcript.Chat{{ID: "telegram:42", Name: "Ana", Platform: "telegram", Lines: []transcript.Line{
				{At: time.Date(2025, 11, 21, 18, 5, 0, 0, time.UTC), Sender: "Ana", Text: "hello"},
				{At: time.Date(2025, 11, 21, 18, 6, 0, 0, time.UTC), Sender: "Bob", Text: "see https://example.com please"},
			}}}, chats)
		})
	}
	for _, file := range []string{"", "[]", `{"a":1}`, "null"} {
		_, err := transcript.Telegram("result.json", strings.NewReader(file), time.UTC)
		require.ErrorIs(t, err, transcript.ErrNoTelegram, file)
	}
	_, err := transcript.Telegram("result.json", strings.NewReader(`{"name":"Ana","messages":[{"type":"message","date":"x","from":"A","text":"b"}]}`), time.UTC)
	require.EqualError(t, err, `result.json, chat "Ana", message 1: "x" is not a time`)
}
