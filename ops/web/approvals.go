package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// callCard is a card with the tool calls of a task that wait for the owner's yes, or with its plan.
type callCard struct {
	ID        int64 // the first approval
	Task      store.TaskID
	Agent     string
	Tool      string
	Asked     string // the request that the task works on
	Version   string
	AskedAt   time.Time
	ExpiresAt time.Time
	IsPlan    bool
	NeedsPIN  bool
	Grantable bool
	Calls     []shownCall
}

// shownCall is a tool call on a card.
type shownCall struct {
	Number    int
	Arguments []text.Field // without anything hidden
	Raw       string       // the arguments that are no JSON object, or the plan
	Note      string       // why the owner is asked
}

// callCards puts calls that wait onto their cards. Calls on the same card follow each other.
func callCards(calls []store.WaitingCall) []callCard {
	var cards []callCard
	var shown []store.Approval
	for i, c := range calls {
		if len(cards) == 0 || cards[len(cards)-1].ID != c.Card {
			shown = nil
			cards = append(cards, callCard{
				ID:        c.Card,
				Task:      c.TaskID,
				Agent:     c.Agent,
				Tool:      c.Tool,
				Asked:     c.Asked,
				AskedAt:   c.CreatedAt,
				ExpiresAt: c.ExpiresAt,
				IsPlan:    c.Tool == store.PlanCall,
				NeedsPIN:  c.Tier == store.ApprovalPIN,
			})
		}
		card := &cards[len(cards)-1]
		shown = append(shown, calls[i].Approval)
		card.Version = CallsVersion(shown)
		card.Grantable = card.Grantable || c.Grantable
		card.Calls = append(card.Calls, showCall(len(shown), c.Approval))
	}
	return cards
}

// showCall returns a call as the page shows it.
func showCall(number int, a store.Approval) shownCall {
	c := shownCall{Number: number, Note: a.Note}
	fields, ok := text.Fields(a.Arguments)
	switch {
	case a.Tool == store.PlanCall:
		c.Raw = text.Visible(a.Arguments)
	case !ok:
		c.Raw = text.Unhidden(a.Arguments)
	}
	for _, f := range fields {
		c.Arguments = append(c.Arguments, text.Field{Name: text.Unhidden(f.Name), Value: text.Unhidden(f.Value)})
	}
	return c
}

// waitingPages are the page of what waits, and what is decided there.
type waitingPages struct{ *Site }

// decideCalls approves or declines the tool calls on a card, or a plan.
func (s waitingPages) decideCalls(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		s.fail(v, v.r, http.StatusUnsupportedMediaType)
		return nil //nolint:nilerr // it has answered
	}
	form := v.r.PostForm
	d := CallDecision{
		Card: v.id(), Version: form.Get("version"), Why: strings.TrimSpace(form.Get("why")), PIN: strings.TrimSpace(form.Get("pin")),
	}
	switch form.Get("do") {
	case "yes":
		d.Allow = true
	case "hour":
		d.Allow, d.ForHour = true, true
	case "no":
	default:
		return s.reject(v, "Approve it or decline it.", d.Why)
	}
	if d.Allow && form.Has("several") {
		for _, call := range form["call"] {
			number, _ := strconv.Atoi(call)
			d.Numbers = append(d.Numbers, number)
		}
		if len(d.Numbers) == 0 || d.Numbers[0] < 1 {
			return s.reject(v, "Mark the calls that I may make.", d.Why)
		}
	}
	refused, err := s.Room.DecideCalls(v.r.Context(), v.session, d)
	if err != nil {
		return err
	}
	return s.settle(v, refused, d.Why, fmt.Sprintf("/?done=approval-%d", d.Card))
}

// callResult says what was decided about the calls on a card.
func (s waitingPages) callResult(v *visit, card int64) (string, error) {
	calls, err := store.ApprovalsOnCard(v.r.Context(), v.db, card)
	if err != nil {
		return "", err
	}
	allowed := 0
	for _, a := range calls {
		if a.Allowed == nil {
			return "", nil
		}
		if *a.Allowed {
			allowed++
		}
	}
	switch {
	case len(calls) == 0:
		return "", nil
	case allowed == 0:
		return "Declined: " + calls[0].Tool + ".", nil
	case allowed < len(calls):
		return fmt.Sprintf("Approved: %s, %d of %d.", calls[0].Tool, allowed, len(calls)), nil
	default:
		return "Approved: " + calls[0].Tool + ".", nil
	}
}
