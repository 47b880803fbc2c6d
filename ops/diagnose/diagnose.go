// Package diagnose collects what a bug report needs in one zip, with nothing by or about contacts. Of the doctor's findings it keeps the
// ids, and the text of the parts that name no chat; of the log the messages and numbers, and other texts without ids, names and quotes.
package diagnose

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"multis/ops/doctor"
	"multis/policy"
)

// Bundle is the content of the zip. Empty parts are left out.
type Bundle struct {
	Versions []string
	Doctor   doctor.Report
	Metrics  []byte   // in Prometheus' text format
	Log      []string // lines of JSON
	Schema   []string
	Config   []string // keys and values, without secrets
	Plans    []string
	// Hidden are names and ids of chats, which appear nowhere.
	Hidden []string
}

// Write writes the zip.
func (b Bundle) Write(w io.Writer) error {
	hide := newHider(b.Hidden)
	report, err := json.MarshalIndent(hide.report(b.Doctor), "", "  ")
	if err != nil {
		return fmt.Errorf("write the doctor's report: %w", err)
	}
	log := make([]string, len(b.Log))
	for i, line := range b.Log {
		log[i] = hide.logLine(line)
	}
	archive := zip.NewWriter(w)
	for _, part := range []struct {
		name, text string
	}{
		{"versions.txt", lines(b.Versions)},
		{"doctor.json", string(report) + "\n"},
		{"metrics.txt", string(b.Metrics)},
		{"log.jsonl", lines(log)},
		{"schema.txt", lines(b.Schema)},
		{"config.txt", hide.names(lines(b.Config))},
		{"plans.txt", lines(b.Plans)},
	} {
		if part.text == "" {
			continue
		}
		file, err := archive.Create(part.name)
		if err != nil {
			return fmt.Errorf("write %s: %w", part.name, err)
		}
		if _, err := io.WriteString(file, policy.Redact(part.text)); err != nil {
			return fmt.Errorf("write %s: %w", part.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write the zip: %w", err)
	}
	return nil
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// MaxLogLines is how many lines of the log a bundle has.
const MaxLogLines = 1000

// LastLines returns the last lines of a log.
func LastLines(r io.Reader) ([]string, error) {
	var last []string
	scanner := bufio.NewScanner(r)
	const maxLine = 1 << 20
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		if last = append(last, scanner.Text()); len(last) == 2*MaxLogLines {
			last = slices.Clone(last[MaxLogLines:])
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return last[max(0, len(last)-MaxLogLines):], nil
}

// tellingSections are the parts of the doctor's report whose texts name no chat and no person.
var tellingSections = []string{"data", "homeserver", "registration", "appservice", "database", "safe mode", "models", "budget", "jobs"}

// report returns a report without the texts that may name chats or people.
func (h hider) report(r doctor.Report) doctor.Report {
	sections := make([]doctor.Section, len(r.Sections))
	for i, s := range r.Sections {
		tells := slices.Contains(tellingSections, s.Name)
		sections[i] = doctor.Section{Name: s.Name, Skipped: s.Skipped}
		if tells {
			sections[i].Fact = h.names(s.Fact)
		}
		for _, f := range s.Findings {
			kept := doctor.Finding{ID: f.ID, Severity: f.Severity, Fixable: f.Fixable}
			if tells {
				kept.Message, kept.Fix = h.names(f.Message), h.names(f.Fix)
			}
			sections[i].Findings = append(sections[i].Findings, kept)
		}
	}
	r.Sections = sections
	return r
}

// hider removes what may come from contacts.
type hider struct{ hidden *strings.Replacer }

// minWord is the minimum length of a word of a name that is hidden by itself.
const minWord = 3

// newHider returns a hider of names and ids, and of the words in them.
func newHider(list []string) hider {
	words := map[string]bool{}
	for _, name := range list {
		words[name] = true
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words[word] = len([]rune(word)) >= minWord && !plainWords[strings.ToLower(word)]
		}
	}
	var pairs []string
	for word, hidden := range words {
		if hidden && word != "" {
			pairs = append(pairs, word)
		}
	}
	slices.SortFunc(pairs, func(a, b string) int { return len(b) - len(a) })
	var replaced []string
	for _, word := range pairs {
		replaced = append(replaced, word, mask)
	}
	return hider{strings.NewReplacer(replaced...)}
}

// mask stands for what was removed.
const mask = "…"

// plainWords are words of Matrix ids that name nobody.
var plainWords = map[string]bool{
	"whatsapp": true, "telegram": true, "signal": true, "discord": true, "matrix": true, "com": true,
	"org": true,
}

// foreign matches what an error may quote: Matrix ids, quotes, addresses and long numbers.
var foreign = regexp.MustCompile("[@!$#+][^\\s\"',;)]{2,}:[^\\s\"',;)]+|\\$[\\w+/=-]{2,}|\"[^\"]*\"|'[^']*'|`[^`]*`|\\S+@\\S+|\\S+://\\S+|\\+?\\d[\\d ()-]{5,}\\d")

// names removes names and ids of chats.
func (h hider) names(s string) string { return h.hidden.Replace(s) }

// logLine keeps the numbers and switches of a line of the log, and of its texts what is not foreign.
func (h hider) logLine(line string) string {
	decoder := json.NewDecoder(bytes.NewReader([]byte(line)))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil {
		return `{"message":"a line that is not JSON"}`
	}
	for name, value := range fields {
		switch value := value.(type) {
		case string:
			if name != "time" {
				fields[name] = h.names(foreign.ReplaceAllString(value, mask))
			}
		case json.Number, bool:
		default:
			fields[name] = mask
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return `{"message":"a line that is not JSON"}`
	}
	return string(raw)
}
