package web

import (
	"net/http"
	"strings"

	"multis/internal/text"
)

// maxWords is the length of a search, in characters.
const maxWords = 300

// searchPage is what a search shows.
type searchPage struct {
	Words string
	Found
}

// Count returns how many passages were found.
func (p searchPage) Count() int { return len(p.Documents) + len(p.Memory) }

// search searches the documents, chats and notes.
func (s *Site) search(v *visit) error {
	page := searchPage{Words: text.Clip(strings.TrimSpace(v.r.URL.Query().Get("q")), maxWords)}
	if words := text.Storable(page.Words); words != "" {
		var err error
		if page.Found, err = s.Memory.Search(v.r.Context(), words); err != nil {
			return err
		}
	}
	s.show(v, http.StatusOK, "search", "Search", page)
	return nil
}
