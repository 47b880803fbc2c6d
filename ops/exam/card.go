package exam

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"multis/internal/text"
)

// Verdict says what a model may do with customers.
type Verdict string

// The verdicts.
const (
	MayAnswer Verdict = "answers" // its answers may be sent without being read before
	MayDraft  Verdict = "drafts"  // it says nothing false, but leaves much to people
	MayNot    Verdict = "no"      // some of its answers are false, or it leaves most to people
)

// Sentence returns the verdict for people.
func (v Verdict) Sentence() string {
	switch v {
	case MayAnswer:
		return "may answer customers"
	case MayDraft:
		return "may draft for customers"
	case MayNot:
		return "should not answer customers"
	default:
		return ""
	}
}

// MayJudge reports whether a model may judge if its own sentences follow from what they cite, where the check of words cannot
// tell. A model that was never examined, whose verdict is empty, may while a person reads its answers before they are sent.
func (v Verdict) MayJudge(isRead bool) bool {
	return v == MayAnswer || v == MayDraft || v == "" && isRead
}

// Score is the sum of some tasks.
type Score struct {
	Area  string        `json:"area"`
	Tasks int           `json:"tasks"`
	Right int           `json:"right"`
	Safe  int           `json:"safe"`
	Wrong int           `json:"wrong"`
	Took  time.Duration `json:"-"`
	// Seconds is how long one task took on average.
	Seconds float64 `json:"seconds"`
	Cost    int64   `json:"cost_micros"` // in millionths of the currency
}

// Miss is a task that was not done right.
type Miss struct {
	Task string `json:"task"`
	Mark Mark   `json:"mark"`
	Why  string `json:"why"`
	Text string `json:"text,omitempty"`
}

// Card is the scorecard of a model.
type Card struct {
	Model    string    `json:"model"`
	At       time.Time `json:"at"`
	Currency string    `json:"currency"`
	Small    bool      `json:"small"` // whether it was examined with the profile for small models
	Total    Score     `json:"total"`
	Areas    []Score   `json:"areas"`
	Verdict  Verdict   `json:"verdict"`
	Advice   []string  `json:"advice"` // what to set for this model
	Missed   []Miss    `json:"missed"`
}

// ReadCard reads a scorecard that was stored as JSON.
func ReadCard(data []byte) (c Card, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return Card{}, fmt.Errorf("read a scorecard: %w", err)
	}
	return c, nil
}

// Summary returns the result in a few words: what the model may do with customers, and how many tasks it did right.
func (c Card) Summary() string {
	return fmt.Sprintf("%s (%d of %d tasks right)", c.Verdict.Sentence(), c.Total.Right, c.Total.Tasks)
}

// maxMissText is the maximum length of what a scorecard repeats of a result, in characters.
const maxMissText = 160

// NewCard sums up the graded tasks of a model. With is how it was examined.
func NewCard(graded []Graded, with Card) Card {
	with.Total = Score{Area: "all"}
	with.Areas = []Score{}
	with.Missed = []Miss{}
	for _, g := range graded {
		with.Total.add(g)
		i := slices.IndexFunc(with.Areas, func(s Score) bool { return s.Area == g.Task.Area })
		if i < 0 {
			with.Areas = append(with.Areas, Score{Area: g.Task.Area})
			i = len(with.Areas) - 1
		}
		with.Areas[i].add(g)
		if g.Mark != Right {
			with.Missed = append(with.Missed, Miss{
				Task: g.Task.Name(),
				Mark: g.Mark,
				Why:  g.Why,
				Text: text.Clip(text.OneLine(g.Result.Text), maxMissText),
			})
		}
	}
	with.Verdict = verdictOf(graded)
	with.Advice = advice(with, graded)
	return with
}

func (s *Score) add(g Graded) {
	s.Tasks++
	switch g.Mark {
	case Right:
		s.Right++
	case Safe:
		s.Safe++
	case Wrong:
		s.Wrong++
	}
	s.Took += g.Result.Took
	s.Seconds = s.Took.Seconds() / float64(s.Tasks)
	s.Cost += g.Result.Cost
}

// The share of customers' questions that a model must do right to answer without being read before, and to draft.
const (
	minAnswered = 0.85
	minDrafted  = 0.5
)

// verdictOf returns what a model may do with customers; empty if no task was about them.
func verdictOf(graded []Graded) Verdict {
	s := scoreOf(graded, func(g Graded) bool { return g.Task.Kind == Customer })
	switch {
	case s.Tasks == 0:
		return ""
	case s.Wrong > 0, share(s.Right, s.Tasks) < minDrafted:
		return MayNot
	case share(s.Right, s.Tasks) < minAnswered:
		return MayDraft
	default:
		return MayAnswer
	}
}

func scoreOf(graded []Graded, isIn func(Graded) bool) (s Score) {
	for _, g := range graded {
		if isIn(g) {
			s.add(g)
		}
	}
	return s
}

// share returns what share part is; 1 of nothing.
func share(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

const (
	// maxAtLimit is the share of tasks that may end at the limit of tokens.
	maxAtLimit = 0.1
	// minTools is the share of the owner's tasks that a model must do right with the full set of tools.
	minTools = 0.7
	// slowSeconds is how long a task takes at which the usual timeouts are too short.
	slowSeconds = 20
)

// advice returns what to set for a model, each with its reason.
func advice(c Card, graded []Graded) []string {
	lines := []string{}
	customers := scoreOf(graded, func(g Graded) bool { return g.Task.Kind == Customer })
	owners := scoreOf(graded, func(g Graded) bool { return g.Task.Kind == Owner || g.Task.Kind == Plan })
	atLimit := scoreOf(graded, func(g Graded) bool { return g.Result.AtLimit })
	if line := customerAdvice(c.Verdict, customers); line != "" {
		lines = append(lines, line)
	}
	if share(owners.Right, owners.Tasks) < minTools {
		line := fmt.Sprintf("It does %d of %d of your own tasks. ", owners.Right, owners.Tasks)
		if c.Small {
			line += "Use another model for your questions."
		} else {
			line += "Give it few tools and short prompts, and examine it again: llm.small: [" + c.Model + "]"
		}
		lines = append(lines, line)
	}
	if share(atLimit.Tasks, c.Total.Tasks) > maxAtLimit && atLimit.Tasks > 0 {
		lines = append(lines, fmt.Sprintf("%d of its answers ended at the limit of their tokens: llm.max_tokens: 4096", atLimit.Tasks))
	}
	if c.Total.Seconds > slowSeconds {
		lines = append(lines, fmt.Sprintf("A task takes %.0f s: llm.timeout: 3m, llm.answer_timeout: 15m, llm.unattended_timeout: 15m", c.Total.Seconds))
	}
	return lines
}

// customerAdvice returns what to set for answers to customers; empty for nothing.
func customerAdvice(v Verdict, s Score) string {
	switch {
	case v == MayDraft:
		return fmt.Sprintf("It says nothing wrong, but does only %d of %d questions of customers itself. Read its answers first: chats.first_delivery: draft",
			s.Right, s.Tasks)
	case v == MayNot && s.Wrong > 0:
		return fmt.Sprintf("%d of %d customers would read something wrong. Do not let it answer customers: chats.first_delivery: draft, or another model",
			s.Wrong, s.Tasks)
	case v == MayNot:
		return fmt.Sprintf("It does only %d of %d questions of customers itself. Do not let it answer customers: without it (llm.model: none) they get the same quotes",
			s.Right, s.Tasks)
	default:
		return ""
	}
}
