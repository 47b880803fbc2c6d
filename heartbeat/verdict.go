package heartbeat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"multis/agent/run"
	"multis/text"
)

const (
	// maxDraft is the longest message that is drafted, maxText the longest text about one matter, in characters.
	maxDraft = 1500
	maxText  = 300
)

// verdict is a model's judgement of the matters. The zero value reports nothing.
type verdict struct {
	Notify bool `json:"notify"`
	Tell   []struct {
		Matter string `json:"matter"`
		Text   string `json:"text"`
		Draft  string `json:"draft"` // a message to the contact that the matter is about
	} `json:"tell"`

	all bool // reports every matter, without a text of the model's
}

// of returns whether a matter is to be reported, and with which text.
func (v verdict) of(matter string) (said string, report bool) {
	if v.all {
		return "", true
	}
	if !v.Notify {
		return "", false
	}
	for _, t := range v.Tell {
		if t.Matter == matter {
			return text.Clip(text.CollapseSpaces(t.Text), maxText), true
		}
	}
	return "", false
}

// draft returns the message to draft about a matter; empty for none.
func (v verdict) draft(matter string) string {
	for _, t := range v.Tell {
		if v.Notify && t.Matter == matter {
			return text.Clip(strings.TrimSpace(t.Draft), maxDraft)
		}
	}
	return ""
}

// unlinked breaks the addresses that are in nothing the model was given.
func (v verdict) unlinked(a *run.Attempt) verdict {
	for i := range v.Tell {
		v.Tell[i].Text, v.Tell[i].Draft = a.BreakLinks(v.Tell[i].Text), a.BreakLinks(v.Tell[i].Draft)
	}
	return v
}

// parseVerdict reads a model's answer, with or without a code fence around it.
func parseVerdict(answer string) (verdict, error) {
	object, ok := text.JSONObject(answer)
	if !ok {
		return verdict{}, errors.New("no JSON object in its answer")
	}
	var v struct {
		Notify *bool `json:"notify"`
		verdict
	}
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		return verdict{}, fmt.Errorf("read JSON: %w", err)
	}
	if v.Notify == nil {
		return verdict{}, errors.New("its answer does not say whether to notify")
	}
	v.verdict.Notify = *v.Notify
	return v.verdict, nil
}
