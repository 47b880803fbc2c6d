package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"multis/config"
	"multis/internal/text"
	"multis/llm"
	"multis/ops/exam"
	"multis/policy"
	"multis/store"
)

// examModelsCmd examines models.
type examModelsCmd struct {
	Models []string `arg:"" optional:"" placeholder:"MODEL" help:"The models, as PROVIDER/NAME. Defaults to llm.model of the configuration."`
	Only   []string `placeholder:"AREA" help:"Only the tasks of these areas, such as tables,tools. The result is not stored."`
	JSON   bool     `help:"Print one JSON object a model."`
}

// Run examines each model and prints the scorecards.
func (c examModelsCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	closeLog, err := openLog(config.Logging{Level: zerolog.FatalLevel, Format: config.FormatPretty}) // what fails is in the scorecard
	if err != nil {
		return err
	}
	defer closeLog()
	names := c.names(cfg)
	if len(names) == 0 {
		_, err := io.WriteString(os.Stdout, noModels)
		return err
	}
	tasks, err := c.tasks(time.Now().In(cfg.TimeZone))
	if err != nil {
		return err
	}
	cards := make([]exam.Card, 0, len(names))
	for _, name := range names {
		card, err := examine(ctx, cfg, st, name, tasks)
		if err != nil {
			return err
		}
		if len(c.Only) == 0 {
			if err := storeCard(ctx, st, card); err != nil {
				return err
			}
		}
		cards = append(cards, card)
	}
	return c.print(os.Stdout, cards)
}

// names returns the models to examine. A strategy stands for all its models; without an argument the first model in use is
// examined.
func (c examModelsCmd) names(cfg *config.Config) (names []string) {
	if len(c.Models) == 0 {
		used := cfg.LLM.ResolveModels(cfg.LLM.Model)
		return used[:min(len(used), 1)]
	}
	for _, m := range c.Models {
		for _, name := range cfg.LLM.ResolveModels(m) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// tasks returns the tasks of the exam, or those of some areas.
func (c examModelsCmd) tasks(now time.Time) ([]exam.Task, error) {
	tasks, err := exam.Tasks(now)
	if err != nil {
		return nil, err
	}
	areas := exam.Areas(tasks)
	for _, area := range c.Only {
		if !slices.Contains(areas, area) {
			return nil, fmt.Errorf("--only: there is no area %q; there are %s", area, text.List(areas))
		}
	}
	if len(c.Only) > 0 {
		tasks = slices.DeleteFunc(tasks, func(t exam.Task) bool { return !slices.Contains(c.Only, t.Area) })
	}
	return tasks, nil
}

func (c examModelsCmd) print(w io.Writer, cards []exam.Card) error {
	if !c.JSON {
		return exam.Write(w, cards...)
	}
	encoder := json.NewEncoder(w)
	for _, card := range cards {
		if err := encoder.Encode(card); err != nil {
			return fmt.Errorf("write the scorecard of %s: %w", card.Model, err)
		}
	}
	return nil
}

// storeCard stores a scorecard in place of an earlier one of the model.
func storeCard(ctx context.Context, st *store.Store, card exam.Card) error {
	raw, err := json.Marshal(card)
	if err != nil {
		return fmt.Errorf("write the scorecard of %s: %w", card.Model, err)
	}
	return store.PutModelExam(ctx, st.Writer(), store.ModelExam{
		Model:      card.Model,
		ExaminedAt: card.At,
		Summary:    card.Summary(),
		Card:       raw,
	})
}

// examine examines one model. Its greatest cost is reserved from today's budget before, and what it cost is booked after.
func examine(ctx context.Context, cfg *config.Config, st *store.Store, name string, tasks []exam.Task) (exam.Card, error) {
	models, err := newModels(cfg, st)
	if err != nil {
		return exam.Card{}, err
	}
	info, err := models.Describe(name, "")
	if err != nil {
		return exam.Card{}, err
	}
	if _, err := models.Try(ctx, name, "", false); err != nil {
		return exam.Card{}, withFix(err)
	}
	cost := costOf(info, tasks)
	fmt.Fprintf(os.Stderr, "Examining %s: %s, about %s, at most %s, which are reserved from today's budget.\n", name,
		text.Count(len(tasks), "task"), text.ExactMoney(cost.about, cfg.Budget.Currency), text.ExactMoney(cost.most, cfg.Budget.Currency))
	paid := newBudget(cfg, st)
	reserved, err := paid.Ledger.Reserve(ctx, policy.SpendRequest{
		Day:     paid.Today(),
		Purpose: "exam",
		Model:   name,
		Amount:  cost.most,
		DayCap:  paid.DayCap,
	})
	if err != nil {
		return exam.Card{}, err
	}
	if reserved.Refused != "" {
		return exam.Card{}, withFix(&llm.OverBudgetError{Model: name, Cap: reserved.Refused})
	}
	card, err := sitExam(ctx, cfg, name, tasks, cost.most)
	bill := policy.Settlement{Amount: card.Total.Cost}
	if err != nil {
		bill.Amount = cost.most // what was spent before it failed is not known
	}
	return card, errors.Join(err, paid.Ledger.Settle(context.WithoutCancel(ctx), reserved.ID, bill))
}

// withFix adds to an error of a model how to fix its cause.
func withFix(err error) error {
	if fix := llm.HowToFix(err); fix != "" {
		return fmt.Errorf("%w; %s", err, fix)
	}
	return err
}

// examCost is what an exam costs about, and at most, in millionths of the currency.
type examCost struct{ about, most int64 }

// A model that thinks takes more tokens than usual, and most of them for answers.
const (
	maxInFactor  = 3
	maxOutFactor = 8
)

// costOf returns what tasks cost with a model.
func costOf(info llm.ModelInfo, tasks []exam.Task) examCost {
	usual := exam.Estimate(tasks)
	return examCost{
		about: info.Price.Cost(llm.Usage{In: usual.In, Out: usual.Out}),
		most:  info.Price.Cost(llm.Usage{In: maxInFactor * usual.In, Out: maxOutFactor * usual.Out}),
	}
}

// sitExam has a model carry out the tasks, with a database that is removed at the end and a budget of its own.
func sitExam(ctx context.Context, cfg *config.Config, name string, tasks []exam.Task, limit int64) (exam.Card, error) {
	dir, remove, err := makeThrowawayDir()
	if err != nil {
		return exam.Card{}, err
	}
	defer remove()
	own, err := examConfig(cfg, name, dir, limit)
	if err != nil {
		return exam.Card{}, err
	}
	st, closeDB, err := openThrowaway(ctx, dir)
	if err != nil {
		return exam.Card{}, err
	}
	defer closeDB()
	return examineIn(ctx, own, st, tasks)
}

// examineIn has llm.model of a configuration carry out the tasks, in an empty database.
func examineIn(ctx context.Context, cfg *config.Config, st *store.Store, tasks []exam.Task) (exam.Card, error) {
	c, err := newCandidate(ctx, cfg, st)
	if err != nil {
		return exam.Card{}, err
	}
	graded, err := exam.Run(ctx, c, tasks, showDone(len(tasks)))
	if err != nil {
		return exam.Card{}, err
	}
	card := exam.NewCard(graded, exam.Card{
		Model:    cfg.LLM.Model,
		At:       time.Now(),
		Currency: cfg.Budget.Currency,
		Small:    cfg.LLM.IsSmall([]string{cfg.LLM.Model}),
	})
	card.Total.Cost, err = c.spent(ctx, 0)
	return card, err
}

// showDone returns a function that shows in a terminal how many of the tasks are done.
func showDone(tasks int) func(done int) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(int) {}
	}
	return func(done int) {
		if done == tasks {
			fmt.Fprint(os.Stderr, clearLine)
			return
		}
		fmt.Fprintf(os.Stderr, "%s%d of %d", clearLine, done, tasks)
	}
}

// examConfig returns the configuration of an exam: the defaults, with the settings of models and the zone of cfg. What the
// owner set for his business would make exams differ.
func examConfig(cfg *config.Config, model, dir string, limit int64) (*config.Config, error) {
	own, err := config.ParseOffline("", nil, func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	own.LLM = withModel(cfg.LLM, model)
	own.Answers = cfg.Answers
	own.TimeZone = cfg.TimeZone
	own.Budget.Currency = cfg.Budget.Currency
	own.Budget.PerDollar = cfg.Budget.PerDollar
	for _, budget := range []*config.Money{&own.Budget.PerDay, &own.Budget.PerChatDay, &own.Budget.PerRun} {
		*budget = config.Money(limit)
	}
	own.Database.DataDir = dir
	own.Documents.Folder = dir
	setRehearsing(own)
	return own, checkModel(own)
}
