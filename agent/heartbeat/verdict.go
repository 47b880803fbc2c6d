package heartbeat

import (
	"errors"
	"strings"

	"multis/agent/run"
	"multis/internal/text"
	"multis/llm/reply"
)

const (
	// maxDraft is the maximum length of a draft, and maxText that of the text about one finding, in characters.
	maxDraft = 1500
	maxText  = 300
)

// verdict is a model's decision which findings to report. The zero value reports nothing.
type verdict struct {
	Notify  bool
	Entries []entry

	reportAll bool // reports all findings, without texts by the model
}

// entry is what a model says about one finding.
type entry struct {
	Matter string `json:"matter"`
	Text   string `json:"text"`
	Draft  string `json:"draft"` // a message to the contact that the finding is about
}

// textFor returns the model's text about a finding. report says whether the finding is to be reported.
func (v verdict) textFor(matter string) (sentence string, report bool) {
	if v.reportAll {
		return "", true
	}
	if !v.Notify {
		return "", false
	}
	for _, t := range v.Entries {
		if t.Matter == matter {
			return text.Clip(text.CollapseSpaces(t.Text), maxText), true
		}
	}
	return "", false
}

// draft returns the message to draft about a finding; empty for none.
func (v verdict) draft(matter string) string {
	for _, t := range v.Entries {
		if v.Notify && t.Matter == matter {
			return text.Clip(strings.TrimSpace(t.Draft), maxDraft)
		}
	}
	return ""
}

// breakUnknownLinks makes addresses that do not occur in the model's input unusable as links.
func (v verdict) breakUnknownLinks(a *run.Attempt) verdict {
	for i := range v.Entries {
		v.Entries[i].Text, v.Entries[i].Draft = a.BreakLinks(v.Entries[i].Text), a.BreakLinks(v.Entries[i].Draft)
	}
	return v
}

// parseVerdict reads a model's answer, with or without a code fence around it.
func parseVerdict(answer string) (verdict, error) {
	said, err := reply.Read[struct {
		Notify  *bool   `json:"notify"`
		Entries []entry `json:"tell"`
	}](answer)
	if err != nil {
		return verdict{}, err
	}
	if said.Notify == nil {
		return verdict{}, errors.New("its answer does not say whether to notify")
	}
	return verdict{Notify: *said.Notify, Entries: said.Entries}, nil
}
