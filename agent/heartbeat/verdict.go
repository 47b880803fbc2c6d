package heartbeat

import (
	"errors"
	"slices"
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

	reportAll bool   // reports all findings, without texts by the model about each
	unnamed   string // with reportAll, what the model said about things that it did not name
}

// entry is what a model says about one finding.
type entry struct {
	Text   string `json:"text"` // the first field: a model may write the text alone
	Matter string `json:"matter"`
	Draft  string `json:"draft"` // a message to the contact that the finding is about
}

// textFor returns the model's text about a finding. report says whether the finding is to be reported.
func (v verdict) textFor(matter string) (sentence string, report bool) {
	if v.reportAll {
		return v.unnamed, true
	}
	if !v.Notify {
		return "", false
	}
	for _, t := range v.Entries {
		if isNamed(t.Matter, matter) {
			return text.Clip(text.CollapseSpaces(t.Text), maxText), true
		}
	}
	return "", false
}

// isNamed reports whether what a model wrote names a matter. It may have copied more than the name, or in another case.
func isNamed(said, matter string) bool {
	words := strings.Fields(strings.ToLower(said))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, ".,;:\"'`()[]") == strings.ToLower(matter) })
}

// resolve makes a verdict report all matters if it wants to notify and names none of them.
func (v verdict) resolve(matters []string) verdict {
	namesOne := slices.ContainsFunc(v.Entries, func(e entry) bool {
		return slices.ContainsFunc(matters, func(m string) bool { return isNamed(e.Matter, m) })
	})
	if !v.Notify || namesOne {
		return v
	}
	var said []string
	for _, e := range v.Entries {
		said = append(said, e.Text)
	}
	return verdict{reportAll: true, unnamed: text.Clip(text.CollapseSpaces(strings.Join(said, " ")), maxText)}
}

// draft returns the message to draft about a finding; empty for none.
func (v verdict) draft(matter string) string {
	for _, t := range v.Entries {
		if v.Notify && isNamed(t.Matter, matter) {
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
