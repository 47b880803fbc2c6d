package web

import (
	"net/http"
	"strings"

	"multis/internal/text"
)

// maxQuestion is the length of a test question, in characters.
const maxQuestion = 2000

// previewPage is what a customer would get for a question.
type previewPage struct {
	Preview

	Question string // empty for none yet
	Sources  []Passage
}

// askAsCustomer shows the form for a question.
func (s *Site) askAsCustomer(v *visit) error {
	s.show(v, http.StatusOK, "preview", "Ask as a customer", previewPage{})
	return nil
}

// preview shows what a customer would get for a question.
func (s *Site) preview(v *visit) error {
	page := previewPage{Question: text.Clip(strings.TrimSpace(text.Clean(text.Storable(v.r.PostFormValue("q")))), maxQuestion)}
	if page.Question == "" {
		return s.reject(v, "Write the question of a customer.", "")
	}
	p, refused, err := s.Room.Preview(v.r.Context(), v.session, page.Question)
	if err != nil {
		return err
	}
	if refused != "" {
		return s.reject(v, refused, page.Question)
	}
	passages, err := s.readPassages(v, p.Citations)
	if err != nil {
		return err
	}
	page.Preview, page.Sources = p, sourcesOf(p.Citations, passages)
	s.show(v, http.StatusOK, "preview", "Ask as a customer", page)
	return nil
}
