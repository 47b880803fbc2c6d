// Package tools is what a model may call. Each tool X is three files: X.go, X.md with its description for the model, and X_test.go
// The three tools for sessions share their Go files.
// The Registry is the only way to call one. It asks the policy first, limits the time of the call and the size of the result, and
// offers a contact's turn no other tools than the three it may always call.
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

// Tier says how much a call needs the owner.
type Tier string

// The tiers, from harmless to dangerous.
const (
	Read    Tier = "read"    // is called at once
	Confirm Tier = "confirm" // needs the owner's approval in the admin room
	Pin     Tier = "pin"     // needs the owner's PIN
)

// Valid reports whether t is one of the tiers.
func (t Tier) Valid() bool { return t == Read || t == Confirm || t == Pin }

// Spec describes a tool.
type Spec struct {
	Name        string          // letters, digits, _ and -, as providers require
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments object; see Schema
	Tier        Tier
	// Files is true if the tool works on the caller's folders. It is offered only to callers that have some.
	Files bool
	// Foreign is true if the tool belongs to another program, whose Description cannot be trusted.
	Foreign bool
	// Effect is true if each call changes something. Such a call is never repeated unless it certainly failed, and never runs beside
	// others.
	Effect bool
}

// Caller is for whom a tool is called, and what it may access for them.
type Caller struct {
	Owner   bool         // false for a contact
	Chat    store.Chat   // where the question was asked
	Scope   policy.Scope // whose data may be read
	Agent   string       // the persona's id
	Task    store.TaskID
	Message store.MessageID // the question; zero for none
	Asked   string          // the owner's own words, with nothing of anybody else in them; empty for a contact
	// Allow and Deny are the persona's patterns of tool names. An empty Allow means all; Deny wins.
	Allow, Deny []string
	// Within are more lists of patterns, such as those of skills. A tool must match each list.
	Within [][]string
	// Domains may be fetched without approval.
	Domains []string
	// ReadOnly allows only tools of the tier Read without an effect, as for a heartbeat. Only lists the tools that a schedule was allowed when
	// it was set; nil for no such limit. Neither allows a tool that needs a PIN.
	ReadOnly bool
	Only     []string
	// Workspace is the folder of the file tools, ReadPaths are more folders to read from. Without any there are no file tools.
	Workspace string
	ReadPaths []string
}

// Call is one tool call of a model. Its ID is unique in its task.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	Caller
}

// Code classifies the error of a result.
type Code string

// The codes of results. A policy or a tool may use others.
const (
	CodeNotAllowed Code = "not_allowed"       // the caller has no such tool, whether or not it exists
	CodeArguments  Code = "invalid_arguments" // the arguments do not fit the schema
	CodeNotFound   Code = "not_found"
	CodeRefused    Code = "refused" // a rule forbids it
	CodeApproval   Code = "needs_approval"
	CodeDenied     Code = "denied"  // the owner did not approve it
	CodeExpired    Code = "expired" // the owner did not answer in time
	CodeTimeout    Code = "timeout"
	CodeFailed     Code = "failed"
	CodeUnknown    Code = "unknown_outcome" // it was begun, and may or may not have been carried out
)

// Result is the result of a call. An error of the tool's work is a result as well: the model reads it and continues.
type Result struct {
	ForLLM    string // for the model
	ForUser   string // one line for people; empty for none
	IsError   bool
	Code      Code
	Retriable bool   // the same call may succeed later
	Ref       string // where to find more: an address, a file, an audit line
	Cost      int64  // millionths of the currency
	// Passages are what an answer may cite. The caller numbers them and shows them to the model.
	Passages []search.Hit
	// Handover ends the turn: for this reason a person, or the agent in Ref, has to continue.
	Handover string
}

// Tool is a tool that a model may call.
type Tool interface {
	Spec() Spec
	// Run carries out a call. A failure of the work is a Result; an error means that the installation is broken, and ends the turn.
	Run(ctx context.Context, c Call) (Result, error)
}

// Tiered is a Tool whose tier depends on the call.
type Tiered interface {
	Tool
	// TierOf returns the tier of a call. It is the tool's own if the arguments cannot be read.
	TierOf(c Call) Tier
}

// Refused returns the result of a call that is not made, with the reason.
func Refused(code Code, why string) Result {
	return Result{ForLLM: why, IsError: true, Code: code}
}

// Failed returns the result of a call that failed.
func Failed(why string, retriable bool) Result {
	return Result{ForLLM: why, IsError: true, Code: CodeFailed, Retriable: retriable}
}

// UnknownOutcome returns the result of a call with an effect that was begun and whose end is not known. It is reported, and never found out by
// another call.
func UnknownOutcome(name, why string) Result {
	return Result{
		ForLLM: why + " Nobody knows whether it was carried out. Do not repeat it; say so.", ForUser: "⚠️ " + name + ": whether it was done I don't know",
		IsError: true, Code: CodeUnknown,
	}
}

// Decode reads the arguments of a call. Its error is for the model: return it as BadArguments.
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

// BadArguments returns the result of a call whose arguments do not fit.
func BadArguments(err error) Result { return Refused(CodeArguments, err.Error()) }

// contactTools are the only tools that a contact's turn can call, whatever is configured.
var contactTools = []string{"search_docs", "recall_memory", "escalate"} //nolint:gochecknoglobals // a constant, were there constant lists

// MayCall reports whether the caller may call a tool with a name at all.
func (c Caller) MayCall(name string) bool {
	if !c.Owner && !slices.Contains(contactTools, name) {
		return false
	}
	if c.Owner && name == "escalate" {
		return false // he is the person to escalate to
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
