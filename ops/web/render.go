package web

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/knowledge"
	"multis/store"
)

//go:embed pages
var files embed.FS

// stylesheet is the only style sheet, and styleVersion a hash of it: its address changes with it, so that browsers may keep it.
var (
	stylesheet, _ = files.ReadFile("pages/style.css") // it is embedded
	styleVersion  = hashText(stylesheet)
)

func hashText(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// parsePages returns the pages by their names, each with the frame around it.
func parsePages(now func() time.Time, zone *time.Location, currency string) map[string]*template.Template {
	frame := template.Must(template.New("frame.html").Funcs(functions(now, zone, currency)).ParseFS(files, "pages/frame.html"))
	pages := map[string]*template.Template{}
	names, _ := files.ReadDir("pages") // it is embedded
	for _, file := range names {
		name, isPage := strings.CutSuffix(file.Name(), ".html")
		if isPage && name != "frame" {
			pages[name] = template.Must(template.Must(frame.Clone()).ParseFS(files, path.Join("pages", file.Name())))
		}
	}
	return pages
}

// functions returns the functions of the templates.
func functions(now func() time.Time, zone *time.Location, currency string) template.FuncMap {
	return template.FuncMap{
		"when":     func(t time.Time) string { return shortTime(t, now(), zone) },
		"clock":    func(t time.Time) string { return t.In(zone).Format("15:04") },
		"day":      func(t time.Time) string { return t.In(zone).Format("Mon 2 Jan 2006") },
		"ago":      func(t time.Time) string { return text.Ago(t, now(), zone) },
		"seconds":  func(t time.Time) string { return t.In(zone).Format("Mon 2 Jan, 15:04:05") },
		"count":    text.Count,
		"bytes":    text.Bytes,
		"duration": text.Duration,
		"money":    func(micros int64) string { return text.ExactMoney(micros, currency) },
		"clip":     func(s string) string { return text.Clip(text.OneLine(s), maxName) },
		"snippet":  func(s string) string { return text.Clip(text.OneLine(s), maxSnippet) },
		"network":  bridgebridge.NetworkName,
		"name":     func(c store.Chat) string { return text.Clip(text.OneLine(c.TypedName()), maxName) },
		"visible":  text.Visible,
		"maxSize":  func() string { return knowledge.MaxSizeText },
		"add":      func(a, b int) int { return a + b },
	}
}

const (
	maxName    = 80 // characters of a name, which may be of any length
	maxSnippet = 48 // characters of a message in a list
)

// shortTime formats a time as the time of day if it is today, with the day otherwise.
func shortTime(t, now time.Time, zone *time.Location) string {
	local, today := t.In(zone), now.In(zone)
	switch {
	case local.YearDay() == today.YearDay() && local.Year() == today.Year():
		return local.Format("15:04")
	case local.Year() == today.Year():
		return local.Format("Mon 2 Jan, 15:04")
	default:
		return local.Format("2 Jan 2006, 15:04")
	}
}

// shown is what the frame shows.
type shown struct {
	Title    string
	Nav      []navItem
	Style    string
	Script   string
	Owner    string
	SignedIn bool
	Session  store.WebSession
	Findings int
	Now      time.Time
	Zone     string
	Took     time.Duration
	Queries  int
	Data     any
}

// navItem is a page in the navigation.
type navItem struct {
	Name, Path string
	// Far pages are in the menu on a small screen. Gap leaves a space before them.
	Far, Gap, Current bool
	Count             int
	// Waits says that the count is of what waits for the owner.
	Waits bool
}

// navigation returns the pages of the navigation.
func (s *Site) navigation(v *visit) []navItem {
	list := []navItem{
		{Name: "Now", Path: "/", Count: s.countWaiting(v), Waits: true},
		{Name: "Chats", Path: "/chats"},
		{Name: "Search", Path: "/search"},
		{Name: "Documents", Path: "/documents"},
		{Name: "Numbers", Path: "/numbers", Far: true, Gap: true},
		{Name: "Health", Path: "/doctor", Far: true, Count: len(s.lastReport().Findings())},
		{Name: "Rehearsal", Path: "/rehearsal", Far: true},
		{Name: "Jobs", Path: "/jobs", Far: true},
		{Name: "Your notes", Path: "/memory", Far: true},
	}
	for i := range list {
		list[i].Current = v.r.URL.Path == list[i].Path || list[i].Path != "/" && strings.HasPrefix(v.r.URL.Path, list[i].Path+"/")
	}
	return list
}

// countWaiting returns how much waits for the owner; 0 for nobody else, and if it cannot be read.
func (s *Site) countWaiting(v *visit) int {
	if v.session.ID == 0 {
		return 0
	}
	ids, err := s.waitingIDs(v)
	if err != nil {
		zerolog.Ctx(v.r.Context()).Err(err).Msg("Cannot count what waits")
	}
	return len(ids)
}

// show answers with a page.
func (s *Site) show(v *visit, status int, name, title string, data any) {
	page := shown{
		Title:    title,
		Nav:      s.navigation(v),
		Style:    styleVersion,
		Script:   scriptVersion,
		Owner:    s.Owner.Localpart(),
		SignedIn: v.session.ID != 0,
		Session:  v.session,
		Findings: len(s.lastReport().Findings()),
		Now:      v.now,
		Zone:     s.Zone.String(),
		Queries:  v.db.Queries(),
		Data:     data,
		Took:     time.Since(v.began).Round(time.Millisecond),
	}
	var out bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&out, "frame.html", page); err != nil {
		zerolog.Ctx(v.r.Context()).Err(err).Str("page", name).Msg("Cannot show a page")
		http.Error(v, "The page could not be shown. Nothing was changed.", http.StatusInternalServerError)
		return
	}
	v.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.WriteHeader(status)
	_, _ = v.Write(withoutDirectionMarks(out.Bytes())) // if the connection broke, there is nobody to tell
}

// withoutDirectionMarks removes the marks that change the direction in which text is written: no page has some of its own, and those of
// others could make a line read like another one.
func withoutDirectionMarks(page []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, page)
}

// style answers with the style sheet.
func (s *Site) style(v *visit) error {
	sendFile(v, "text/css; charset=utf-8", stylesheet, styleVersion)
	return nil
}

// failure is what the page about a failure says.
type failure struct{ Title, Text, Ref string }

// failures are the texts of failures, by status.
var failures = map[int]failure{
	http.StatusForbidden:            {Title: "Not from here", Text: "This came from another site or program. Nothing was changed."},
	http.StatusNotFound:             {Title: "Not found", Text: "There is nothing here, or no longer."},
	http.StatusMethodNotAllowed:     {Title: "Not like that", Text: "Nothing was changed."},
	http.StatusMisdirectedRequest:   {Title: "Wrong address", Text: "The page has another address: the one in ops.web."},
	http.StatusUnsupportedMediaType: {Title: "Not a form of this page", Text: "Nothing was changed."},
	http.StatusTooManyRequests:      {Title: "Too many tries", Text: "Nothing was changed. Wait a minute."},
}

// fail answers with a page about a failure.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, status int) {
	v, ok := w.(*visit)
	if !ok {
		v = &visit{
			ResponseWriter: w,
			r:              r,
			db:             store.NewCountingDB(s.Store.DB()),
			now:            s.Now(),
			began:          time.Now(),
		}
	}
	about := failures[status]
	s.show(v, status, "failure", about.Title, about)
}

// report500 answers with the number under which the log says what went wrong.
func (s *Site) report500(v *visit, cause error) {
	var number [4]byte
	_, _ = rand.Read(number[:]) // it never fails
	ref := hex.EncodeToString(number[:])
	zerolog.Ctx(v.r.Context()).Err(cause).Str("ref", ref).Str("page", v.r.Pattern).Msg("The web page failed")
	s.show(v, http.StatusInternalServerError, "failure", "That did not work", failure{
		Title: "That did not work", Text: "Nothing was changed. The log says why:", Ref: "#" + ref,
	})
}
