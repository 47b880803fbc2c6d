package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"multis/store"
)

// maxWaiting is how many things of a kind are shown that wait.
const maxWaiting = 100

// draftCard is a draft with its chat.
type draftCard struct {
	store.WaitingDraft

	Chat    store.Chat
	Sources []Passage
}

// nowPage is what the first page shows.
type nowPage struct {
	Result      string // of the last action; empty for none
	Approvals   []callCard
	Escalations []escalationCard
	Drafts      []draftCard
	Questions   []Question
}

// Waiting returns how much waits for the owner.
func (p nowPage) Waiting() int {
	return len(p.Approvals) + len(p.Escalations) + len(p.Drafts) + len(p.Questions)
}

// waiting shows all that waits for the owner.
func (s waitingPages) waiting(v *visit) error {
	page, err := s.readWaiting(v)
	if err != nil {
		return err
	}
	if page.Result, err = s.result(v); err != nil {
		return err
	}
	s.show(v, http.StatusOK, "now", "Now", page)
	return nil
}

func (s waitingPages) readWaiting(v *visit) (page nowPage, err error) {
	ctx := v.r.Context()
	calls, err := store.WaitingCalls(ctx, v.db, v.now, maxWaiting)
	if err != nil {
		return page, err
	}
	page.Approvals = callCards(calls)
	drafts, err := store.WaitingDrafts(ctx, v.db, maxWaiting)
	if err != nil {
		return page, err
	}
	escalations, err := store.UnresolvedEscalations(ctx, v.db)
	if err != nil {
		return page, err
	}
	escalations = escalations[:min(len(escalations), maxWaiting)]
	chats, err := store.ChatsByID(ctx, v.db, chatsOf(drafts, escalations))
	if err != nil {
		return page, err
	}
	passages, err := s.readPassages(v, citationsOf(drafts, escalations))
	if err != nil {
		return page, err
	}
	for _, d := range drafts {
		page.Drafts = append(page.Drafts, draftCard{WaitingDraft: d, Chat: chats[d.ChatID], Sources: sourcesOf(d.Citations, passages)})
	}
	if page.Escalations, err = s.escalationCards(v, escalations, chats); err != nil {
		return page, err
	}
	for i := range page.Escalations {
		page.Escalations[i].Suggestions = suggestionsOf(page.Escalations[i].Escalation, passages)
	}
	questions, err := s.Questions.Questions(ctx)
	page.Questions = oldestFirst(questions)
	return page, err
}

// chatsOf returns the chats of what waits.
func chatsOf(drafts []store.WaitingDraft, escalations []store.Escalation) (ids []store.ChatID) {
	for _, d := range drafts {
		ids = append(ids, d.ChatID)
	}
	for _, e := range escalations {
		ids = append(ids, e.ChatID)
	}
	return ids
}

// citationsOf returns what drafts, and the suggestions for escalations, are based on.
func citationsOf(drafts []store.WaitingDraft, escalations []store.Escalation) (list []store.Citation) {
	for _, d := range drafts {
		list = append(list, d.Citations...)
	}
	for _, e := range escalations {
		list = append(list, e.Citations()...)
	}
	return list
}

// result says what became of what the address names, as it is now.
func (s waitingPages) result(v *visit) (string, error) {
	kind, number, _ := strings.Cut(v.r.URL.Query().Get("done"), "-")
	switch kind {
	case "approval":
		return s.callResult(v, parseID(number))
	case "escalation":
		return s.escalationResult(v, store.EscalationID(parseID(number)))
	case "draft":
		return s.draftResult(v, number)
	case "question":
		return s.questionResult(v, parseID(number))
	default:
		return "", nil
	}
}

func (s waitingPages) draftResult(v *visit, number string) (string, error) {
	id, err := uuid.Parse(number)
	if err != nil {
		return "", nil //nolint:nilerr // it names none
	}
	o, err := store.OutboxMessageByID(v.r.Context(), v.db, id)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return stateText(o), err
}

// stateText says what became of a draft.
func stateText(o store.OutboxMessage) string {
	switch o.State {
	case store.OutboxQueued:
		return "The draft is being sent."
	case store.OutboxSent, store.OutboxDelivered:
		return "The draft was sent."
	case store.OutboxDropped:
		return "The draft was not sent: " + o.Reason
	case store.OutboxFailed:
		return "The draft was not delivered."
	default:
		return ""
	}
}

// conflict is what the page shows when a form could not be carried out.
type conflict struct{ Why, Words string }

// settle answers a form: with the page that shows the result, or with why nothing was done and the words that were typed.
func (s *Site) settle(v *visit, refused, words, next string) error {
	if refused == "" {
		return v.see(next)
	}
	s.show(v, http.StatusConflict, "conflict", "Nothing was done", conflict{refused, words})
	return nil
}

// reject answers a form that says nothing that can be done.
func (s *Site) reject(v *visit, why, words string) error {
	s.show(v, http.StatusUnprocessableEntity, "conflict", "Nothing was done", conflict{why, words})
	return nil
}

// decideDraft sends or drops a draft, or gives it other words. The form names the draft that it showed; another text makes another
// draft, so a form can never decide about words that it did not show.
func (s waitingPages) decideDraft(v *visit) error {
	ctx := v.r.Context()
	id, err := uuid.Parse(v.r.PathValue("id"))
	if err != nil {
		s.fail(v, v.r, http.StatusNotFound)
		return nil //nolint:nilerr // it has answered
	}
	words := strings.TrimSpace(v.r.PostFormValue("text"))
	var done bool
	switch do := v.r.PostFormValue("do"); {
	case do == "send":
		done, err = s.Room.SendDraft(ctx, v.session, id)
	case do == "drop":
		done, err = s.Room.DropDraft(ctx, v.session, id)
	case do == "change" && words != "":
		done, err = s.Room.ChangeDraft(ctx, v.session, id, words)
	default:
		return s.reject(v, "There are no words to save.", words)
	}
	if err != nil {
		return err
	}
	if done {
		return v.see("/?done=draft-" + id.String())
	}
	why := "There is no such draft."
	o, err := store.OutboxMessageByID(ctx, v.db, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case o.State == store.OutboxDraft:
		why = "It can't be done now: the draft stays open. In the admin room, 👍 on it says why."
	default:
		why = stateText(o)
	}
	s.show(v, http.StatusConflict, "conflict", "Nothing was done", conflict{why, words})
	return nil
}
