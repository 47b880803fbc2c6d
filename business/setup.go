// Package business holds the questions of /business setup, and reads the owner's answers as settings of the configuration.
package business

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"multis/internal/text"
)

// Step is a question of the setup. Its value is stored and is what the owner types to get back to it.
type Step string

// The steps, in their order.
const (
	StepName      Step = "name"
	StepGreeting  Step = "greeting"
	StepTopics    Step = "topics"
	StepRules     Step = "rules"
	StepPages     Step = "pages"
	StepHours     Step = "hours"
	StepTone      Step = "tone"
	StepOperators Step = "operators"
	StepPreview   Step = "preview" // the owner asks as a customer; it sets nothing
)

// Steps returns all steps in their order.
func Steps() []Step {
	return []Step{StepName, StepGreeting, StepTopics, StepRules, StepPages, StepHours, StepTone, StepOperators, StepPreview}
}

// ParseStep returns the step with a name, in any case.
func ParseStep(name string) (Step, bool) {
	s := Step(strings.ToLower(strings.TrimSpace(name)))
	return s, slices.Contains(Steps(), s)
}

// Number is the place of the step, from 1.
func (s Step) Number() int { return slices.Index(Steps(), s) + 1 }

// Next returns the step after s; the last one for the last.
func (s Step) Next() Step { return Steps()[min(s.Number(), len(Steps())-1)] }

// Previous returns the step before s; the first one for the first.
func (s Step) Previous() Step { return Steps()[max(s.Number()-2, 0)] }

// Question is what the owner is asked, as Markdown.
func (s Step) Question() string {
	switch s {
	case StepName:
		return "What is the name of your business?"
	case StepGreeting:
		return "How should I answer a customer who only says hello? `none`: a standard greeting in the customer's language."
	case StepTopics:
		return "What do customers ask about? One a line, or separated by commas. Put `!` before what a person must always answer: `prices, delivery, !refund, !complaint`. Words with `!` take the place of those that are set now."
	case StepRules:
		return "What must I keep to? One rule a line, or separated by semicolons: `Never promise a delivery date; Prices include tax`."
	case StepPages:
		return "Which web pages may I read for answers? The beginnings of their addresses: `https://example.com/help/`. `none`: no pages."
	case StepHours:
		return "When are you open? One line for each group of days, or separated by semicolons: `mon-fri 9-12:30, 13:30-18; sat 10-14`. `none`: always."
	case StepTone:
		return "How should I write to customers? Such as `friendly and brief, first names`."
	case StepOperators:
		return "Who else answers customers? Their Matrix ids: `@eva:example.com @tom:example.com`. They read along in this room, and answer if config.yaml has `operators_answer: true`. `none`: only you."
	case StepPreview:
		return "**Try it**: write a question as a customer would. You see what I would answer, and nobody else does. My answers come from your documents: if you have sent none yet, send them here first. `done` ends the setup."
	}
	return ""
}

// Setting is a key of the configuration with its new value, as a setting that is made in chat.
type Setting struct{ Key, Value string }

// clearWord is the answer that empties what a step sets.
const clearWord = "none"

// errEmpty is the error for an answer without words.
var errEmpty = errors.New("there is nothing in it")

// Read reads the answer to a step as settings. The values are checked by the configuration, not here.
func (s Step) Read(answer string) ([]Setting, error) {
	answer = strings.TrimSpace(text.Clean(answer))
	if answer == "" {
		return nil, errEmpty
	}
	cleared := strings.EqualFold(answer, clearWord)
	switch s {
	case StepName, StepGreeting, StepTone:
		if cleared {
			answer = ""
		}
		return []Setting{{"business." + string(s), answer}}, nil
	case StepTopics:
		return readTopics(answer, cleared)
	case StepRules:
		return listSetting("business.rules", split(answer, cleared, "\n", ";"))
	case StepHours:
		if cleared {
			answer = ""
		}
		return listSetting("business.hours", readHours(answer))
	case StepPages:
		return listSetting("business.pages", fields(answer, cleared))
	case StepOperators:
		return listSetting("operators", fields(answer, cleared))
	case StepPreview:
	}
	return nil, nil
}

// readTopics reads topics. Those that begin with "!" become keywords that escalate.
func readTopics(answer string, cleared bool) ([]Setting, error) {
	var topics, escalated []string
	for _, topic := range split(answer, cleared, "\n", ";", ",") {
		if keyword, found := strings.CutPrefix(topic, "!"); found {
			if keyword = strings.TrimSpace(keyword); keyword != "" {
				escalated = append(escalated, keyword)
			}
			continue
		}
		topics = append(topics, topic)
	}
	settings, err := listSetting("business.topics", topics)
	if err != nil {
		return settings, err
	}
	if len(escalated) == 0 {
		return settings, nil
	}
	keywords, err := listSetting("business.escalation.keywords", escalated)
	return append(settings, keywords...), err
}

// split splits a text at the first of the separators that it contains, and drops empty items and list marks. It returns
// none if cleared is true.
func split(answer string, cleared bool, separators ...string) (items []string) {
	if cleared {
		return nil
	}
	by := separators[0]
	if i := slices.IndexFunc(separators, func(s string) bool { return strings.Contains(answer, s) }); i >= 0 {
		by = separators[i]
	}
	for item := range strings.SplitSeq(answer, by) {
		item = text.CollapseSpaces(strings.TrimLeft(strings.TrimSpace(item), "-*• "))
		if item != "" {
			items = append(items, item)
		}
	}
	return items
}

// fields splits a text at spaces, tabs, line ends, commas and semicolons. It returns none if cleared is true.
func fields(answer string, cleared bool) []string {
	if cleared {
		return nil
	}
	return strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == ';' || r == '\t' })
}

// listSetting returns a setting of a list, as JSON: items may contain commas.
func listSetting(key string, items []string) ([]Setting, error) {
	if items == nil {
		items = []string{}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(items); err != nil {
		return nil, err
	}
	return []Setting{{key, strings.TrimSpace(b.String())}}, nil
}

// Keys returns the keys that the setup can set, in the order of its questions.
func Keys() []string {
	return []string{
		"business.name", "business.greeting", "business.topics", "business.escalation.keywords", "business.rules", "business.pages",
		"business.hours", "business.tone", "operators",
	}
}
