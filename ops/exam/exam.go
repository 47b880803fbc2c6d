// Package exam says how well a language model does the work of multis: it has tasks over a small business that is built in,
// with their known outcomes, grades what a model does with each, and sums that up as a scorecard. It calls no model itself;
// a Candidate carries out the tasks, with the code that answers real customers and the real owner.
package exam

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Kind says whose work a task is, and so which part of multis carries it out.
type Kind string

// The kinds of tasks.
const (
	Customer Kind = "customer" // a question of a customer, whom only public documents answer
	Owner    Kind = "owner"    // a question or an order of the owner
	Capture  Kind = "capture"  // notes of a conversation
	Brief    Kind = "brief"    // what happened in a chat
	Plan     Kind = "plan"     // the steps to a goal of the owner
)

// Task is one task of the exam.
type Task struct {
	Area string `yaml:"area"` // what it examines, such as "tables"
	ID   string `yaml:"id"`   // unique in its area
	Kind Kind   `yaml:"as"`
	// After is what was asked before in the conversation, the oldest first. Messages are those of a chat that is noted down.
	After    []string `yaml:"after"`
	Messages []string `yaml:"messages"`
	// Question is what is asked. For notes and briefs it is the name of the chat.
	Question string   `yaml:"question"`
	Expected Expected `yaml:"expect"`
}

// Name returns the area and the id of a task.
func (t Task) Name() string { return t.Area + "/" + t.ID }

// Expected is the known outcome of a task. Texts are compared without case; "a|b" means a or b.
type Expected struct {
	// Outcome is what becomes of a customer's question. Defaults to "answered".
	Outcome  string   `yaml:"outcome"`
	Contains []string `yaml:"contains"` // the result has each of these
	Never    []string `yaml:"never"`    // the result has none of these
	// Quoted says that the documents' own words are as right as the model's answer.
	Quoted bool `yaml:"quoted"`
	// Strict says that the model's first answer is one JSON object and nothing else.
	Strict     bool           `yaml:"strict"`
	Calls      []ExpectedCall `yaml:"calls"`       // each of these calls is made
	NeverCalls []string       `yaml:"never_calls"` // the tools that are not called
	Steps      int            `yaml:"steps"`       // the minimum number of steps of a plan
}

// ExpectedCall is a call of a tool that is right for a task. Contains is what its arguments have.
type ExpectedCall struct {
	Tool     string   `yaml:"tool"`
	Contains []string `yaml:"contains"`
}

// The outcomes of a customer's question that a task may expect.
const (
	Answered  = "answered"
	Escalated = "escalated"
)

// maxSteps is the maximum number of steps of a plan that is not padded.
const maxSteps = 8

//go:embed tasks.yaml
var taskFile []byte

//go:embed world
var world embed.FS

// Documents returns the documents of the business. The folder public has those that customers are answered from, private
// those of the owner.
func Documents() fs.FS {
	documents, err := fs.Sub(world, "world")
	if err != nil { // the path is a constant
		panic(err)
	}
	return documents
}

// Tasks returns the tasks, as they are on a day, in the order of their areas.
func Tasks(day time.Time) ([]Task, error) {
	text := strings.ReplaceAll(string(taskFile), "{tomorrow}", day.AddDate(0, 0, 1).Format(time.DateOnly))
	return parseTasks([]byte(text))
}

// parseTasks reads tasks and checks that they can be carried out.
func parseTasks(data []byte) (tasks []Task, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&tasks); err != nil {
		return nil, fmt.Errorf("read the tasks of the exam: %w", err)
	}
	seen := map[string]bool{}
	for i := range tasks {
		t := &tasks[i]
		if t.Kind == Customer && t.Expected.Outcome == "" {
			t.Expected.Outcome = Answered
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("task %s: %w", t.Name(), err)
		}
		if seen[t.Name()] {
			return nil, fmt.Errorf("task %s is there twice", t.Name())
		}
		seen[t.Name()] = true
	}
	return tasks, nil
}

func (t Task) check() error {
	kinds := []Kind{Customer, Owner, Capture, Brief, Plan}
	switch {
	case t.Area == "" || t.ID == "" || t.Question == "":
		return errors.New("area, id and question are required")
	case !slices.Contains(kinds, t.Kind):
		return fmt.Errorf("as: %q is not one of %q", t.Kind, kinds)
	case len(t.Messages) == 0 && (t.Kind == Capture || t.Kind == Brief):
		return errors.New("messages are required")
	}
	return nil
}

// Areas returns the areas of tasks, in their order.
func Areas(tasks []Task) (areas []string) {
	for _, t := range tasks {
		if !slices.Contains(areas, t.Area) {
			areas = append(areas, t.Area)
		}
	}
	return areas
}

// Tokens are the tokens of a model.
type Tokens struct{ In, Out int64 }

// usualTokens is what a turn of a task takes with a model that does not think: prompts are 1,400 tokens for a customer, whose answer is
// often judged, and 2,100 for the owner, whose tools take a second call.
var usualTokens = map[Kind]Tokens{ //nolint:gochecknoglobals // a constant, were there constant maps
	Customer: {In: 2_300, Out: 210},
	Owner:    {In: 5_000, Out: 250},
	Capture:  {In: 600, Out: 250},
	Brief:    {In: 500, Out: 250},
	Plan:     {In: 1_000, Out: 300},
}

// Estimate returns about how many tokens some tasks take.
func Estimate(tasks []Task) (sum Tokens) {
	for _, t := range tasks {
		turns := int64(len(t.After) + 1)
		sum.In += turns * usualTokens[t.Kind].In
		sum.Out += turns * usualTokens[t.Kind].Out
	}
	return sum
}

// Candidate carries out tasks with the model that is examined.
type Candidate interface {
	// Do carries out a task and returns what became of it. An error ends the exam: it is none of the model's.
	Do(ctx context.Context, t Task) (Result, error)
}

// Run has a candidate carry out tasks one after the other, so that the time of each is its own. It calls progress with the
// number of tasks that are done.
func Run(ctx context.Context, c Candidate, tasks []Task, progress func(done int)) ([]Graded, error) {
	graded := make([]Graded, 0, len(tasks))
	for i, t := range tasks {
		progress(i)
		result, err := c.Do(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("task %s: %w", t.Name(), err)
		}
		graded = append(graded, t.grade(result))
	}
	progress(len(tasks))
	return graded, nil
}
