// Package doctor finds what is wrong with an installation and says how to repair it. Checks only read: they change neither files nor the
// database nor the homeserver.
//
// A Check reads its part of the Input and returns a Result. Run carries out all checks and returns a Report. The probes (ProbeHomeserver,
// ProbeDatabase, ...) are the checks that need nothing but one address or credential; multis init uses them while it asks.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"multis/internal/text"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // multis does not work, or something is lost or exposed
	Warning Severity = "warning" // multis works, but something is missing or will fail
)

// ID names a kind of finding. It never changes its meaning; docs/troubleshooting.md has a section for each.
type ID string

// Finding is one thing that is wrong.
type Finding struct {
	ID       ID       `json:"id"`
	Severity Severity `json:"severity"`
	// Subject tells findings of the same ID apart: it is, for example, the network or the path. Empty if there can be only one.
	Subject string `json:"subject,omitempty"`
	Message string `json:"message"` // one sentence
	Fix     string `json:"fix"`     // what to do: a line to copy where there is one
	// Fixable is true if multis doctor --fix ID repairs it.
	Fixable bool `json:"fixable,omitempty"`
	// Chat and Network are set if the finding is about one chat or one network.
	Chat    int64  `json:"chat,omitempty"`
	Network string `json:"network,omitempty"`
}

// Result is the result of a check or a probe.
type Result struct {
	Fact     string // one line about what was found, such as "synapse 1.160 at http://127.0.0.1:8008, 14 ms"; empty if nothing is known
	Findings []Finding
}

// OK reports whether nothing is wrong.
func (r Result) OK() bool { return len(r.Findings) == 0 }

// oneFinding returns a result with one finding.
func oneFinding(id ID, message, fix string) Result {
	return Result{Findings: []Finding{newFinding(id, "", message, fix)}}
}

// failedCheck is the result of a check that could not be carried out.
func failedCheck(err error) Result {
	return oneFinding(CheckFailed, fmt.Sprintf("This could not be checked: %v.", err),
		"multis doctor   (once more; if it stays, report it with this line)")
}

// newFinding returns a finding with the severity of its id.
func newFinding(id ID, subject, message, fix string) Finding {
	return Finding{
		ID:       id,
		Severity: kinds[id].severity,
		Subject:  subject,
		Message:  message,
		Fix:      fix,
		Fixable:  kinds[id].fixable,
	}
}

// Section is the result of one check in a report.
type Section struct {
	Name     string    `json:"name"`
	Fact     string    `json:"fact,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Skipped says why the check was not carried out; empty if it was.
	Skipped string `json:"skipped,omitempty"`
}

// Report is the result of all checks.
type Report struct {
	At       time.Time `json:"at"`
	Sections []Section `json:"sections"`
}

// Findings returns all findings, errors first.
func (r Report) Findings() []Finding {
	var all []Finding
	for _, s := range r.Sections {
		all = append(all, s.Findings...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	return all
}

// ExitCode returns 0 without findings, 1 with warnings only and 2 with an error.
func (r Report) ExitCode() int {
	code := 0
	for _, f := range r.Findings() {
		code = max(code, 2-rank(f.Severity))
	}
	return code
}

func rank(s Severity) int {
	if s == Error {
		return 0
	}
	return 1
}

// Check examines one part of an installation.
type Check struct {
	Name string // the part, as shown to people
	// Run returns the result. If the Input lacks what the check needs, it returns the reason in skipped instead.
	Run func(ctx context.Context, in *Input) (result Result, skipped string)
}

// checkTimeout limits one check.
const checkTimeout = 15 * time.Second

// The maximum number of characters of a text of a report, which may quote what a server answers, and of a line to copy,
// which may hold paths.
const (
	maxText = 1000
	maxFix  = 4000
)

// Run carries out all checks at the same time and returns their results in the order of Checks.
func Run(ctx context.Context, in *Input) Report {
	return run(ctx, in, Checks())
}

func run(ctx context.Context, in *Input, checks []Check) Report {
	report := Report{At: in.Now(), Sections: make([]Section, len(checks))}
	var group sync.WaitGroup
	for i, c := range checks {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			result, skipped := c.Run(ctx, in)
			for i := range result.Findings {
				f := &result.Findings[i]
				f.Message, f.Fix = text.Clip(f.Message, maxText), text.Clip(Copyable(in.asTyped(f.Fix)), maxFix)
			}
			report.Sections[i] = Section{
				Name:     c.Name,
				Fact:     text.Clip(result.Fact, maxText),
				Findings: result.Findings,
				Skipped:  text.Clip(skipped, maxText),
			}
		})
	}
	group.Wait()
	return report
}
