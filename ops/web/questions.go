package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/store"
)

// Question is a question of the admin room that waits for the owner, whatever led to it.
type Question struct {
	ID        int64
	Text      string // as the admin room asks it
	Version   string // QuestionVersion
	AskedAt   time.Time
	ExpiresAt time.Time
	Choices   []Choice // its buttons, the usual one first
	// Words are what a person may write instead of what the question proposes; empty if it proposes nothing.
	Words string
}

// Choice is a button of a question.
type Choice struct {
	Word  string // the word that the admin room takes
	Label string
}

// QuestionAnswer is what a form answered to a question.
type QuestionAnswer struct {
	Question int64
	Version  string // of the question that the form showed: QuestionVersion
	Word     string // of a choice
	Words    string // other words for what the question proposes; empty for a choice
}

// QuestionVersion identifies a question as it is now: it changes when it is answered, or asks something else.
func QuestionVersion(d store.Dialog) string {
	return versionOf(d.ID, d.Kind, d.Payload, d.OutboxID, d.ExpiresAt.UnixMicro(), d.Done)
}

// answerQuestion answers a question of the admin room.
func (s waitingPages) answerQuestion(v *visit) error {
	a := QuestionAnswer{
		Question: v.id(),
		Version:  v.r.PostFormValue("version"),
		Word:     v.r.PostFormValue("do"),
		Words:    strings.TrimSpace(v.r.PostFormValue("text")),
	}
	if a.Word == "" {
		return s.reject(v, "Choose an answer.", a.Words)
	}
	if a.Word == "words" && a.Words == "" {
		return s.reject(v, "There are no words to save.", "")
	}
	if a.Word != "words" {
		a.Words = ""
	}
	refused, err := s.Questions.AnswerQuestion(v.r.Context(), v.session, a)
	if err != nil {
		return err
	}
	return s.settle(v, refused, a.Words, fmt.Sprintf("/?done=question-%d", a.Question))
}

// questionResult says what became of a question.
func (s waitingPages) questionResult(v *visit, question int64) (string, error) {
	d, err := store.DialogByID(v.r.Context(), v.db, question)
	if errors.Is(err, store.ErrNotFound) || err == nil && !d.Done {
		return "", nil
	}
	return "The question is answered. The admin room says what I did.", err
}

// oldestFirst sorts questions by when they were asked.
func oldestFirst(list []Question) []Question {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Question) int { return a.AskedAt.Compare(b.AskedAt) })
}
