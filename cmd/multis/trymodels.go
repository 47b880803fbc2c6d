package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"multis/config"
	"multis/internal/text"
	"multis/llm"
	"multis/store"
)

// modelsCmd lists or tests the configured models.
type modelsCmd struct {
	List listModelsCmd `cmd:"" default:"1" help:"List them with their providers and prices. Calls none."`
	Test testModelsCmd `cmd:"" help:"Call each model with a short request, paid from the budget, and show its answer, time and cost. Exits with 1 if one does not answer."`
	Exam examModelsCmd `cmd:"" help:"Examine models with the tasks of a small business, paid from the budget, and show what each may do and what to set for it."`
}

// noModels is printed when no model is configured.
const noModels = "No model is configured, so multis answers with the passages it finds.\nTo configure one: write llm.model and llm.api_key into the configuration, then multis models test\n"

type listModelsCmd struct{}

// Run lists the models of the configuration. It needs no database.
func (listModelsCmd) Run(_ context.Context, global *cli) error {
	cfg, err := config.Load(global.Config)
	if err != nil {
		return err
	}
	models, err := newModels(cfg, nil)
	if err != nil {
		return err
	}
	return listModels(os.Stdout, cfg, models)
}

// configuredModel is a model and which part of the configuration uses it.
type configuredModel struct {
	name, key string
	use       string // heading of its list, such as "Of the agent sales"
	sees      bool   // the model looks at pictures
}

// allModels returns the models of the configuration: llm.model with its fallbacks, those of agents, those for pictures
// and for checking answers,
// and those of other strategies. It lists a model once for each API key.
func allModels(cfg *config.Config) []configuredModel {
	var all []configuredModel
	add := func(names []string, key, use string) {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(m configuredModel) bool { return m.name == name && m.key == key }) {
				all = append(all, configuredModel{name: name, key: key, use: use})
			}
		}
	}
	add(cfg.LLM.ResolveModels(cfg.LLM.Model), "", fmt.Sprintf("In use, in this order (llm.model: %s)", cfg.LLM.Model))
	for _, agent := range slices.Sorted(maps.Keys(cfg.Agents)) {
		a := cfg.Agents[agent]
		if a.Model != "" || a.APIKey != "" {
			add(cfg.LLM.ResolveModels(cmp.Or(a.Model, cfg.LLM.Model)), a.APIKey.Value(), "Of the agent "+agent)
		}
	}
	seeing := cfg.LLM.ResolveModels(cfg.Vision.Model)
	add(seeing, "", "For pictures (vision.model: "+cfg.Vision.Model+")")
	add(cfg.LLM.ResolveModels(cfg.Answers.Judge), "", "For checking answers (answers.judge: "+cfg.Answers.Judge+")")
	add(cfg.LLM.AllModels(), "", "In strategies that are not in use")
	for i, m := range all {
		all[i].sees = m.key == "" && slices.Contains(seeing, m.name)
	}
	return all
}

func listModels(w io.Writer, cfg *config.Config, models *llm.Models) error {
	var b strings.Builder
	all := allModels(cfg)
	if len(all) == 0 {
		b.WriteString(noModels)
	}
	unusable := 0
	for i, m := range all {
		if i == 0 || m.use != all[i-1].use {
			b.WriteString(m.use + "\n")
		}
		info, err := models.Describe(m.name, m.key)
		if err != nil {
			unusable++
			fmt.Fprintf(&b, "  ✗ %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "  %s  %s at %s, %s\n", m.name, info.Protocol, info.Address, priceOf(info, cfg.Budget.Currency))
	}
	switch {
	case unusable > 0:
		fmt.Fprintf(&b, "%d of %d cannot be used as they are configured.\n", unusable, len(all))
	case len(all) > 0:
		b.WriteString("Next: multis models test\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// priceOf returns the price of a model as a short text.
func priceOf(info llm.ModelInfo, currency string) string {
	if info.Price == (llm.Price{}) {
		return "costs nothing"
	}
	text := fmt.Sprintf("%s in and %s out for a million tokens (%s)", config.Money(info.Price.In), config.Money(info.Price.Out), currency)
	if info.PriceListDate != "" {
		return text + ", about, as of " + info.PriceListDate
	}
	return text + ", from the configuration"
}

// testModelsCmd calls all configured models.
type testModelsCmd struct{}

// modelTestTimeout limits one test call of a model.
const modelTestTimeout = 2 * time.Minute

// Run calls each model. It needs the database, because the calls count towards the budget.
func (testModelsCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := load(global.Config)
	if err != nil {
		return err
	}
	if len(allModels(cfg)) == 0 {
		_, err := io.WriteString(os.Stdout, noModels)
		return err
	}
	st, closeDB, err := openStore(ctx, global.Config, cfg, shared)
	if err != nil {
		return err
	}
	defer closeDB()
	return testModels(ctx, os.Stdout, cfg, st)
}

// testModels calls the models one after the other, and prints each result as soon as it is there.
func testModels(ctx context.Context, w io.Writer, cfg *config.Config, st *store.Store) error {
	models, err := newModels(cfg, st)
	if err != nil {
		return err
	}
	all := allModels(cfg)
	failed := 0
	for _, m := range all {
		line, ok := tryModel(ctx, models, m, cfg.Budget.Currency)
		if !ok {
			failed++
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if failed > 0 {
		return errors.New(someFailed(failed, len(all)))
	}
	return nil
}

func someFailed(failed, all int) string {
	if all == 1 {
		return "the model did not answer"
	}
	return fmt.Sprintf("%d of %d models did not answer", failed, all)
}

// tryModel calls a model and returns the result as text, and whether the model works.
func tryModel(ctx context.Context, models *llm.Models, m configuredModel, currency string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, modelTestTimeout)
	defer cancel()
	trial, err := models.Try(ctx, m.name, m.key, m.sees)
	spent := fmt.Sprintf("%s, %s %s", text.Latency(trial.Duration), config.Money(trial.Cost), currency)
	if err == nil {
		return fmt.Sprintf("✓ %s  %s in %s", m.name, quoted(trial.Answer), spent), true
	}
	line := fmt.Sprintf("✗ %v", err)
	if trial.Cost > 0 {
		line += ", " + spent
	}
	if fix := llm.HowToFix(err); fix != "" {
		line += "\n  fix: " + fix
	}
	return line, false
}

// quoted returns the beginning of an answer in quotes, or says that it is empty. A working model may return an empty
// answer if it used all tokens for thinking.
func quoted(answer string) string {
	if answer = text.Clip(text.CollapseSpaces(answer), 60); answer == "" {
		return "an empty answer"
	}
	return fmt.Sprintf("%q", answer)
}
