package transcript

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrNoFolder is returned by Folder when a folder has no data of multis.
var ErrNoFolder = errors.New("there is no chat in it: neither memory.md nor recent.json nor a log")

// ownerChat is the folder, or id, of the owner's own chat.
const ownerChat = "admin"

// maxFile is the maximum size of a file that is read, in bytes.
const maxFile = 64 << 20

// Folder reads the data folder of the first multis, or an unpacked export of multis. The chats may be at any depth. The times in logs are
// in zone.
func Folder(folder fs.FS, zone *time.Location) ([]Chat, error) {
	dirs := map[string]bool{}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := path.Base(name); {
		case entry.IsDir():
		case base == "memory.md" || base == "recent.json" || base == "profile.json":
			dirs[path.Dir(name)] = true
		case logName.MatchString(base) && path.Base(path.Dir(name)) == "log":
			dirs[path.Dir(path.Dir(name))] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look through the folder: %w", err)
	}
	var chats []Chat
	for dir := range dirs {
		chat, err := readChat(folder, dir, zone)
		if err != nil {
			return nil, err
		}
		if len(chat.Lines)+len(chat.Notes) > 0 {
			chats = append(chats, chat)
		}
	}
	if len(chats) == 0 {
		return nil, ErrNoFolder
	}
	slices.SortFunc(chats, func(a, b Chat) int { return cmp.Compare(a.ID, b.ID) })
	return chats, nil
}

func readChat(folder fs.FS, dir string, zone *time.Location) (Chat, error) {
	chat := Chat{ID: path.Base(dir)}
	if data, err := open(folder, path.Join(dir, "profile.json")); err != nil {
		return Chat{}, err
	} else if data != nil {
		if err := chat.profile(path.Join(dir, "profile.json"), data); err != nil {
			return Chat{}, err
		}
	}
	chat.Owner = chat.Owner || chat.ID == ownerChat
	chat.Name = cmp.Or(chat.Name, chat.ID)
	data, err := open(folder, path.Join(dir, "memory.md"))
	if err != nil {
		return Chat{}, err
	}
	if chat.Notes, err = Notes(path.Join(dir, "memory.md"), string(data)); err != nil {
		return Chat{}, err
	}
	logs, err := fs.Glob(folder, path.Join(dir, "log", "*.md"))
	if err != nil {
		return Chat{}, fmt.Errorf("look for logs: %w", err)
	}
	for _, name := range logs {
		if !logName.MatchString(path.Base(name)) {
			continue
		}
		data, err := open(folder, name)
		if err != nil {
			return Chat{}, err
		}
		lines, err := Log(name, string(data), zone)
		if err != nil {
			return Chat{}, err
		}
		chat.Lines = append(chat.Lines, lines...)
	}
	if data, err = open(folder, path.Join(dir, "recent.json")); err != nil {
		return Chat{}, err
	}
	recent, err := Recent(path.Join(dir, "recent.json"), data)
	if err != nil {
		return Chat{}, err
	}
	chat.Lines = mergeLines(chat.Lines, recent)
	return chat, nil
}

// open reads a file. It returns nil when there is none.
func open(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is not a plain file", name) // reading a pipe would block
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MB", maxFile>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

func (c *Chat) profile(name string, data []byte) error {
	var p struct {
		Name     string `json:"name"`
		Platform string `json:"platform"`
		Kind     string `json:"kind"`
		Role     string `json:"role"`
		Mode     string `json:"mode"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return &LineError{name, lineOf(data, err), err.Error()}
	}
	c.Mode = p.Mode
	c.Name = p.Name
	c.Platform = p.Platform
	c.Owner = p.Kind == "admin" || p.Role == "admin" || p.Role == "owner"
	return nil
}

// lineOf returns the line of a JSON error, from 1.
func lineOf(data []byte, err error) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(0)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return 1 + strings.Count(string(data[:min(int(at), len(data))]), "\n")
}

var (
	logName   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\.md$`)
	logHead   = regexp.MustCompile(`^### (\d{2}:\d{2}:\d{2}) \[([^\]]*)\]\s*$`)
	noteHead  = regexp.MustCompile(`^## (\d{4}-\d{2}-\d{2}T\S+)\s*$`)
	bullet    = regexp.MustCompile(`^\s*[-*•]\s+`)
	noteByDay = regexp.MustCompile(`^## (\d{4}-\d{2}-\d{2})\b`)
)

// Notes parses a memory.md: sections headed by a time, with a note on each line.
func Notes(name, text string) ([]Section, error) {
	var sections []Section
	err := eachLine(name, text, func(n int, line string) error {
		head, form := noteHead.FindStringSubmatch(line), time.RFC3339
		if head == nil {
			head, form = noteByDay.FindStringSubmatch(line), time.DateOnly
		}
		if head != nil {
			at, err := time.Parse(form, head[1])
			if err != nil {
				return &LineError{name, n, "there is no such time: " + head[1]}
			}
			sections = append(sections, Section{At: at})
			return nil
		}
		note := strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if note == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		if len(sections) == 0 {
			return &LineError{name, n, "a note stands before the first \"## 2026-02-11T14:30:00.000Z\""}
		}
		last := &sections[len(sections)-1]
		last.Notes = append(last.Notes, note)
		return nil
	})
	return sections, err
}

// LogEntry formats a message as an entry of a log. It puts a backslash before each line of the text that looks like the head of an entry.
func LogEntry(l Line) string {
	lines := strings.Split(l.Text, "\n")
	for i, line := range lines {
		if looksLikeHead(line) {
			lines[i] = `\` + line
		}
	}
	return fmt.Sprintf("### %s [%s]\n%s\n\n", l.At.Format(time.TimeOnly), l.Sender, strings.Join(lines, "\n"))
}

// looksLikeHead reports whether a line looks like the head of an entry, apart from backslashes before it.
func looksLikeHead(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, `\`), "###") }

// Log parses the log of one day. name is the file's name, which is the day.
func Log(name, text string, zone *time.Location) ([]Line, error) {
	day := strings.TrimSuffix(path.Base(name), ".md")
	var lines []Line
	err := eachLine(name, text, func(n int, line string) error {
		if head := logHead.FindStringSubmatch(line); head != nil {
			at, err := time.ParseInLocation(time.DateTime, day+" "+head[1], zone)
			if err != nil {
				return &LineError{name, n, "there is no such time: " + day + " " + head[1]}
			}
			lines = append(lines, Line{At: at, Sender: head[2]})
			return nil
		}
		if len(lines) > 0 {
			if looksLikeHead(line) {
				line = strings.TrimPrefix(line, `\`)
			}
			lines[len(lines)-1].Text += line + "\n"
			return nil
		}
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			return &LineError{name, n, "a log begins with \"### 14:30:00 [user]\""}
		}
		return nil
	})
	for i := range lines {
		lines[i].Text = strings.TrimSpace(lines[i].Text)
	}
	return slices.DeleteFunc(lines, func(l Line) bool { return l.Text == "" }), err
}

// Recent parses a recent.json: the last messages with their times.
func Recent(name string, data []byte) ([]Line, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var list []struct {
		Role      string   `json:"role"`
		Content   string   `json:"content"`
		Timestamp jsonTime `json:"timestamp"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &LineError{name, lineOf(data, err), err.Error()}
	}
	var lines []Line
	for _, m := range list {
		if text := strings.TrimSpace(m.Content); text != "" && !time.Time(m.Timestamp).IsZero() {
			lines = append(lines, Line{At: time.Time(m.Timestamp), Sender: m.Role, Text: text})
		}
	}
	return lines, nil
}

// jsonTime is a time that is written in JSON as RFC 3339 or as milliseconds since 1970.
type jsonTime time.Time

// UnmarshalJSON parses either form.
func (s *jsonTime) UnmarshalJSON(data []byte) error {
	var ms int64
	if json.Unmarshal(data, &ms) == nil {
		*s = jsonTime(time.UnixMilli(ms))
		return nil
	}
	var t time.Time
	if err := json.Unmarshal(data, &t); err != nil {
		return err
	}
	*s = jsonTime(t)
	return nil
}

// mergeLines adds to the logged messages the recent ones that no log has. The same message may have slightly different times in both.
func mergeLines(logged, recent []Line) []Line {
	for _, r := range recent {
		there := slices.ContainsFunc(logged, func(l Line) bool { return l.Text == r.Text && l.At.Sub(r.At).Abs() < 26*time.Hour })
		if !there {
			logged = append(logged, r)
		}
	}
	slices.SortStableFunc(logged, func(a, b Line) int { return a.At.Compare(b.At) })
	return logged
}

func eachLine(name, text string, do func(n int, line string) error) error {
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, maxLine)
	n := 0
	for in.Scan() {
		n++
		if err := do(n, strings.TrimRight(in.Text(), "\r")); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return &LineError{name, n + 1, err.Error()}
	}
	return nil
}
