package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/policy"
	"multis/store"
)

const (
	maxChats     = 20_000 // chats that are read to count and filter them
	chatsPerPage = 300
)

// chatRow is a line of the list of chats.
type chatRow struct {
	store.Chat
	store.ChatGlance

	Mode     policy.Mode
	Delivery policy.Delivery
	Labels   []string
	Off      bool
	Line     string // the newest message
	At       *time.Time
}

// filter is a link that shows a part of the chats.
type filter struct {
	Name, Path string
	Count      int
	Current    bool
}

// chatList is what the page of the chats shows.
type chatList struct {
	Filters []filter
	Query   string
	Mode    string
	Rows    []chatRow
	Shown   int
	Total   int
	More    string // the address of the next page; empty for none
	Command string
}

// chats lists the chats, the newest first.
func (s chatPages) chats(v *visit) error {
	query := v.r.URL.Query()
	name := strings.ToValidUTF8(strings.ReplaceAll(query.Get("q"), "\x00", ""), "")
	all, err := store.ListChats(v.r.Context(), v.db, name, maxChats, 0)
	if err != nil {
		return err
	}
	list := chatList{Query: name, Mode: query.Get("mode"), Total: len(all), Filters: s.modeFilters(all, name, query.Get("mode"))}
	chosen := all
	if list.Mode != "" {
		chosen = slices.DeleteFunc(slices.Clone(all), func(c store.Chat) bool { return string(c.ModeIn(s.Defaults)) != list.Mode })
	}
	page := min(int(max(parseID(query.Get("page")), 1)), 1+len(chosen)/chatsPerPage)
	rest := chosen[(page-1)*chatsPerPage:]
	shown := rest[:min(len(rest), chatsPerPage)]
	if len(rest) > chatsPerPage {
		list.More = chatsPath(name, list.Mode, page+1)
	}
	ids := make([]store.ChatID, len(shown))
	for i, c := range shown {
		ids[i] = c.ID
	}
	glances, err := store.ChatGlances(v.r.Context(), v.db, ids)
	if err != nil {
		return err
	}
	for _, c := range shown {
		list.Rows = append(list.Rows, s.chatRow(c, glances[c.ID]))
	}
	list.Shown = len(chosen)
	s.show(v, http.StatusOK, "chats", "Chats", list)
	return nil
}

// chatsPath returns the address of a part of the chats.
func chatsPath(name, mode string, page int) string {
	query := url.Values{}
	for key, value := range map[string]string{"q": name, "mode": mode} {
		if value != "" {
			query.Set(key, value)
		}
	}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return strings.TrimSuffix("/chats?"+query.Encode(), "?")
}

// modeFilters returns the filters by mode, with their counts.
func (s chatPages) modeFilters(all []store.Chat, name, current string) []filter {
	counts := map[policy.Mode]int{}
	for _, c := range all {
		counts[c.ModeIn(s.Defaults)]++
	}
	filters := []filter{{Name: "All", Path: chatsPath(name, "", 1), Count: len(all), Current: current == ""}}
	for _, m := range []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeOff} {
		filters = append(filters, filter{string(m), chatsPath(name, string(m), 1), counts[m], current == string(m)})
	}
	return filters
}

// chatRow returns the line of a chat. Nothing is shown of what a chat says that is off.
func (s chatPages) chatRow(c store.Chat, g store.ChatGlance) chatRow {
	r := chatRow{
		Chat:       c,
		ChatGlance: g,
		Mode:       c.ModeIn(s.Defaults),
		Delivery:   c.DeliveryIn(s.Defaults),
		Labels:     c.LabelNames(s.Defaults),
		Off:        c.IsOff(s.Defaults),
		At:         g.LastAt,
	}
	if r.Off {
		return r
	}
	r.Line = g.LastBody
	if who := s.authorName(g.LastAuthor, ""); who != "" && r.Line != "" {
		r.Line = who + ": " + r.Line
	}
	if g.SaidAt != nil && (r.At == nil || g.SaidAt.After(*r.At)) {
		r.At, r.Line = g.SaidAt, s.Name+": "+strings.TrimPrefix(g.SaidBody, "["+s.Name+"] ")
	}
	if r.Line == "" && c.Unreadable > 0 {
		r.Line = "cannot be read yet"
	}
	if r.At == nil {
		r.At = c.LastMessageAt
	}
	return r
}

// authorName names who wrote a message; contact is the name of a contact.
func (s *Site) authorName(a policy.Author, contact string) string {
	switch a {
	case policy.AuthorContact:
		return contact
	case policy.AuthorOwnerClient, policy.AuthorOwnerPhone:
		return "You"
	case policy.AuthorOperator:
		return "An operator"
	case policy.AuthorMultisBot, policy.AuthorMultisOwner:
		return s.Name
	default:
		return cmp.Or(contact, "A bot")
	}
}
