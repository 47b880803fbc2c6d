package setup

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// errBack is returned by an Asker when the person wants to go back to the question before.
var errBack = errors.New("go back to the question before")

// isBack reports whether an answer asks for the question before.
func isBack(answer string) bool {
	return strings.EqualFold(answer, "b") || strings.EqualFold(answer, "back")
}

// backHint says how to go back.
const backHint = "To go back to the question before, type b, or press Shift-Tab where there are cursor keys."

// recorder is an Asker that notes the titles of the questions of a step.
type recorder struct {
	Asker

	titles []string
}

// Ask implements Asker.
func (r *recorder) Ask(ctx context.Context, q Question) (string, error) {
	r.note(q.Title)
	return r.Asker.Ask(ctx, q)
}

// Confirm implements Asker.
func (r *recorder) Confirm(ctx context.Context, title string, yes bool) (bool, error) {
	r.note(title)
	return r.Asker.Confirm(ctx, title, yes)
}

func (r *recorder) note(title string) {
	if !slices.Contains(r.titles, title) {
		r.titles = append(r.titles, title)
	}
}

// step is a part of the wizard that may ask questions.
type step struct {
	run      func(context.Context) error
	isDone   bool
	asks     bool // it has asked something
	problems int  // how many there were before it
}

// takeSteps takes the steps one after the other. Whoever goes back begins the step again if it has asked several
// questions, else the last one before it that asks. Answers given so far are proposed again; what needed no question is
// not done again.
func (w *Wizard) takeSteps(ctx context.Context, runs ...func(context.Context) error) error {
	asked := &recorder{Asker: w.Asker}
	if w.Asker != nil {
		w.Asker = asked
		w.printf("%s\n", backHint)
	}
	steps := make([]step, len(runs))
	for i, run := range runs {
		steps[i].run = run
	}
	for at := 0; at < len(steps); {
		s := &steps[at]
		if s.isDone && !s.asks {
			at++
			continue
		}
		s.problems = len(w.problems)
		asked.titles = nil
		err := s.run(ctx)
		s.asks = len(asked.titles) > 0
		switch {
		case errors.Is(err, errBack):
			at = w.stepBefore(steps, at, len(asked.titles))
			w.problems = w.problems[:steps[at].problems]
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ErrAborted
		default:
			s.isDone = true
			at++
		}
	}
	return nil
}

// stepBefore returns the step to which a person goes back from one that has asked a number of questions.
func (w *Wizard) stepBefore(steps []step, at, asked int) int {
	if asked > 1 {
		return at
	}
	for i := at - 1; i >= 0; i-- {
		if steps[i].asks {
			return i
		}
	}
	w.printf("This is the first question.\n")
	return at
}
