// Package tools is what a model may call. A tool is three files: X.go, X.md, which is what a model reads about it, and
// X_test.go. The Registry knows them all and is the only way to run one: it asks the policy first, bounds the time and
// the size of what comes back, and never lets a contact's turn beyond its floor.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"multis/policy"
	"multis/search"
	"multis/store"
)

// Tier is how much a call needs a person.
type Tier string

// The tiers, the harmless one first.
const (
	Read    Tier = "read"    // runs at once
	Confirm Tier = "confirm" // the owner is asked in the admin room
	Pin     Tier = "pin"     // needs the owner's PIN
)

// Valid tells whether t is one of the tiers.
func (t Tier) Valid() bool { return t == Read || t == Confirm || t == Pin }

// Spec is what there is to know about a tool.
type Spec struct {
	Name        string          // letters, digits, _ and -, as providers want it
	Description string          // what a model reads
	Schema      json.RawMessage // JSON Schema of the arguments object; see Schema
	Tier        Tier
	// Can are the capabilities it brings, such as "documents" or "web": what an agent or a rule asks for.
	Can []string
	// Host says that it touches the machine it runs on.
	Host bool
	// Files says that it works on the caller's folders, so that it is for those who have some.
	Files bool
	// Foreign says that Description is the word of whoever runs the tool, of whom nothing is known.
	Foreign bool
	// Effect says that a call changes something that another call would change again: it is never repeated on a guess, and
	// never runs beside others.
	Effect bool
}

// Caller is on whose behalf a tool is called, and what that one may reach.
type Caller struct {
	Owner   bool         // the owner's own turn; anything else is a contact's
	Chat    store.Chat   // where it was asked
	Scope   policy.Scope // whose data may be read
	Agent   string       // the persona's id
	Task    int64
	Message int64  // that asked; zero for none
	Asked   string // the owner's own words, which nobody else could have put there; empty for a contact
	// Allow and Deny are the persona's patterns of tools; an empty Allow means all, Deny wins.
	Allow, Deny []string
	// Within are further lists of patterns, each of which a tool has to be on, as its skills say.
	Within [][]string
	// Domains may be read without asking.
	Domains []string
	// ReadOnly leaves only tools that read, for those who look around by themselves. Only lists what an unattended run was allowed
	// when it was set; nil: no such limit. Neither has anything that needs a PIN.
	ReadOnly bool
	Only     []string
	// Workspace is the folder that file tools are rooted in, ReadPaths are further ones to read from. Empty: no files.
	Workspace string
	ReadPaths []string
}

// Call is one call of a model. Its id is unique in its task.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	Caller
}

// Code says what kind of error a result is, for programs.
type Code string

// The codes of results. A policy's or a source's own are possible as well.
const (
	CodeNotAllowed Code = "not_allowed"       // no such tool for this caller; does not tell whether there is one
	CodeArguments  Code = "invalid_arguments" // they do not fit the schema
	CodeNotFound   Code = "not_found"
	CodeRefused    Code = "refused" // a rule stands against it
	CodeApproval   Code = "needs_approval"
	CodeDenied     Code = "denied"  // a person said no
	CodeExpired    Code = "expired" // no person said anything in time
	CodeTimeout    Code = "timeout"
	CodeFailed     Code = "failed"
	CodeUnknown    Code = "unknown_outcome" // it was begun, and nobody knows whether it was done
)

// Result is what a call came to. An error of the work itself is a result too: the model reads it and goes on.
type Result struct {
	ForLLM    string // what the model reads
	ForUser   string // one line about it for people; empty: nothing to say
	IsError   bool
	Code      Code
	Retriable bool   // the same call may work later
	Ref       string // where more about it is found: an address, a file, an audit line
	Cost      int64  // millionths of the currency
	// Passages are what an answer may cite. Whoever runs the turn numbers them and shows them to the model.
	Passages []search.Hit
	// Handover ends the turn: a person has to take over, for this reason.
	Handover string
}

// Tool is something that can be called.
type Tool interface {
	Spec() Spec
	// Run does it. What goes wrong in the work is a Result; an error is for a broken installation and ends the turn.
	Run(ctx context.Context, c Call) (Result, error)
}

// Tiered is a tool whose tier depends on the call.
type Tiered interface {
	Tool
	// TierOf is the tier of one call. Arguments that cannot be read get the tool's own.
	TierOf(c Call) Tier
}

// Refused is a result that says no, and why.
func Refused(code Code, why string) Result {
	return Result{ForLLM: why, IsError: true, Code: code}
}

// Failed is a result for work that did not succeed.
func Failed(why string, retriable bool) Result {
	return Result{ForLLM: why, IsError: true, Code: CodeFailed, Retriable: retriable}
}

// UnknownOutcome is the result of a call that changes something and was begun, when nobody knows whether it was done: that is told, and never
// found out by another call.
func UnknownOutcome(name, why string) Result {
	return Result{
		ForLLM: why + " Nobody knows whether it was carried out. Do not repeat it; say so.", ForUser: "⚠️ " + name + ": whether it was done I don't know",
		IsError: true, Code: CodeUnknown,
	}
}

// Decode reads a call's arguments. An error is for the model to read: return it as Bad.
func Decode[T any](c Call) (T, error) {
	var args T
	raw := c.Args
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return args, fmt.Errorf("the arguments do not fit: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return args, errors.New("the arguments are more than one object")
	}
	return args, nil
}

// BadArguments is the result of arguments that do not fit.
func BadArguments(err error) Result { return Refused(CodeArguments, err.Error()) }

// contactTools is all that a contact's turn can call, whatever is configured.
var contactTools = []string{"search_docs", "recall_memory", "escalate"} //nolint:gochecknoglobals // a constant, were there constant lists

// MayCall tells whether a caller may call a tool of a name at all.
func (c Caller) MayCall(name string) bool {
	if !c.Owner && !slices.Contains(contactTools, name) {
		return false
	}
	if c.Owner && name == "escalate" {
		return false // he is the person to hand over to
	}
	if c.Only != nil && !slices.Contains(c.Only, name) {
		return false
	}
	match := func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil }
	for _, list := range c.Within {
		if !slices.ContainsFunc(list, match) {
			return false
		}
	}
	return !slices.ContainsFunc(c.Deny, match) && (len(c.Allow) == 0 || slices.ContainsFunc(c.Allow, match))
}
