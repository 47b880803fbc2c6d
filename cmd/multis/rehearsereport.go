package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tally counts replies that are compared with what a customer should get.
type tally struct {
	right    int // as expected
	wrong    int // answered in another way than expected
	person   int // a person has to answer what the documents answer
	proposed int // of these, those in which one of the proposals is the answer
}

// add counts a reply.
func (t *tally) add(q rehearsedQuestion, r rehearsedReply) {
	switch {
	case len(r.Failed) == 0:
		t.right++
	case r.Outcome == outcomeAnswered && !r.Partial, r.Outcome != outcomeEscalated && r.Outcome != outcomeAnswered:
		t.wrong++
	default:
		t.person++
		if slices.ContainsFunc(r.Proposals, func(p rehearsedProposal) bool { return q.Expect.fits(p.Text) }) {
			t.proposed++
		}
	}
}

// fits reports whether a text says what an answer should say.
func (e *expectedReply) fits(said string) bool {
	return len(e.check(rehearsedReply{Outcome: outcomeAnswered, Text: said})) == 0
}

// report counts the replies of several sets of questions: of all, and by the file, the language and the kind of the
// questions.
type report struct {
	groups map[string]*tally // by a heading and a name, such as "kind: table"
}

// add counts a reply in all its groups.
func (rep *report) add(language, file string, q rehearsedQuestion, r rehearsedReply) {
	if q.Expect == nil {
		return
	}
	for _, name := range []string{"all", "file: " + file, "language: " + language, "kind: " + q.Kind} {
		if rep.groups[name] == nil {
			rep.groups[name] = &tally{}
		}
		rep.groups[name].add(q, r)
	}
}

// write writes the report as a table.
func (rep *report) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %6s %6s %6s %9s\n", "", "right", "wrong", "person", "proposed")
	for _, name := range slices.Sorted(maps.Keys(rep.groups)) {
		t := rep.groups[name]
		fmt.Fprintf(&b, "%-28s %6d %6d %6d %9d\n", name, t.right, t.wrong, t.person, t.proposed)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// runSets asks the questions of all sets and prints a report. The name of a set's folder begins with the language of the
// business: de-dentist.
func (c rehearseCmd) runSets(ctx context.Context, global *cli) error {
	folders, err := filepath.Glob(filepath.Join(c.Sets, "*", "documents"))
	if err != nil {
		return fmt.Errorf("--sets: %w", err)
	}
	if len(folders) == 0 {
		return fmt.Errorf("--sets: no folder in %s has documents", c.Sets)
	}
	rep := report{groups: map[string]*tally{}}
	for _, documents := range folders {
		if err := c.askSet(ctx, global, documents, &rep); err != nil {
			return err
		}
	}
	return rep.write(os.Stdout)
}

// askSet asks the questions of one set and counts the replies.
func (c rehearseCmd) askSet(ctx context.Context, global *cli, documents string, rep *report) error {
	set := filepath.Dir(documents)
	files, err := filepath.Glob(filepath.Join(set, "*.jsonl"))
	if err != nil {
		return fmt.Errorf("--sets: %w", err)
	}
	c.Documents = documents
	var questions []rehearsedQuestion
	var from []string
	for _, file := range files {
		c.Questions = file
		read, err := c.readQuestions()
		if err != nil {
			return err
		}
		questions = append(questions, read...)
		from = append(from, slices.Repeat([]string{strings.TrimSuffix(filepath.Base(file), ".jsonl")}, len(read))...)
	}
	replies, err := c.ask(ctx, global, questions)
	if err != nil {
		return err
	}
	language, _, _ := strings.Cut(filepath.Base(set), "-")
	for i, r := range replies {
		rep.add(language, from[i], questions[i], r)
	}
	return nil
}
