// Package tools has the tools that a model may call, and their Registry, which is the only way to call one. The Registry asks the policy
// before each call, and limits the call's time and the result's size. In a contact's turn it offers three tools and no others.
//
// A tool X is three files: X.go, X.md with its description for the model, and X_test.go. The three tools for sessions share their Go files.
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

	"multis/knowledge/search"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// Tier says what a call needs from the owner: nothing, an approval, or the PIN.
type Tier string

// The tiers, from harmless to dangerous.
const (
	Read    Tier = "read"    // needs no approval
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
	Class       rules.Class // what it does; rules deny a tool without one
	Kinds       rules.Kinds // the kinds of resources that its calls have and rules can name; see ResourceFinder
	// Resource is what one call is about. The Registry sets it before it asks the policy.
	Resource rules.Resource
	// Foreign is true if results may contain text that is not the owner's, such as pages. After such a result the turn is tainted.
	Foreign bool
	// NeedsFolders is true if the tool works on the caller's folders. It is only offered to callers that have folders.
	NeedsFolders bool
	// TypedOnly is true if only a command that the owner typed calls it. It is offered to no model.
	TypedOnly bool
	// External is true if the tool belongs to another program, whose Description cannot be trusted.
	External bool
	// HasEffect is true if a call changes something. Such a call is only repeated if it certainly failed, and never runs concurrently with
	// others.
	HasEffect bool
}

// Caller says for whom a tool is called, and which tools and data it may use.
type Caller struct {
	Owner   bool          // false for a contact
	Surface rules.Surface // where the call comes from; a caller without one is denied by rules
	// Typed is true if the owner typed the call himself, as a command.
	Typed bool
	// Tainted is true if the model has read text that is not the owner's. Then calls that send data out, write or run
	// something need an approval.
	Tainted   bool
	Chat      store.Chat   // where the question was asked
	Scope     policy.Scope // whose data may be read
	Agent     string       // the persona's id
	Task      store.TaskID
	Message   store.MessageID // the question; zero for none
	OwnerText string          // what the owner wrote, without words of anybody else; empty for a contact
	// Allow and Deny are the persona's patterns of tool names. An empty Allow means all; Deny wins.
	Allow, Deny []string
	// AllowLists are further lists of patterns, such as those of skills. A tool must match every list.
	AllowLists [][]string
	// Domains are the domains that may be fetched without approval.
	Domains []string
	// ReadOnly allows only tools of the tier Read without an effect. GrantedTools, unless it is nil, allows only the tools that a schedule was
	// granted when it was set, and none that needs a PIN.
	ReadOnly     bool
	GrantedTools []string
	// Workspace is the folder of the file tools, and ReadPaths are further folders to read from. Without any of them there are no file tools.
	Workspace string
	ReadPaths []string
}

// CanWait reports whether a person follows the turn, so that it may wait for an answer of the owner's. A contact's turn,
// a schedule, a heartbeat, a webhook, and the tasks that they start, never wait.
func (c Caller) CanWait() bool {
	switch c.Surface {
	case rules.SurfaceOwner, rules.SurfaceCLI, rules.SurfaceDelegate:
		return c.Owner && c.GrantedTools == nil && !c.ReadOnly
	default:
		return false
	}
}

// Call is one tool call of a model. Its ID is unique in its task.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	// AnyCall is true if the Call represents all calls of the tool, as when tools are offered. Args is then empty.
	AnyCall bool
	// PINEntered is true if the owner approved this call and entered the PIN for it.
	PINEntered bool
	// Binding is what the approval of this call is bound to; see ApprovalBinder. It is empty if no approval was asked for.
	Binding string
	Caller
}

// Code classifies the error of a result.
type Code string

// The codes of results. A policy or a tool may use others.
const (
	CodeNotAllowed Code = "not_allowed"       // the caller has no such tool; it may exist for others
	CodeArguments  Code = "invalid_arguments" // the arguments do not fit the schema
	CodeNotFound   Code = "not_found"
	CodeRefused    Code = "refused" // a rule forbids it
	CodeApproval   Code = "needs_approval"
	CodeDenied     Code = "denied"  // the owner did not approve it
	CodeExpired    Code = "expired" // the owner did not answer in time
	CodeTimeout    Code = "timeout"
	CodeFailed     Code = "failed"
	CodeUnknown    Code = "unknown_outcome" // the call was begun, and may or may not have been carried out
	CodeDanger     Code = "danger"          // no error: it ends the turn because somebody is in danger or in pain
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
	// Passages are what an answer may cite. The caller numbers them and adds them to the model's request.
	Passages []search.Hit
	// EndReason ends the turn unless it is empty: it says why a person, or the agent in Ref, has to continue.
	EndReason string
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
	// TierOf returns the tier of a call, or that of the tool if the arguments cannot be read.
	TierOf(c Call) Tier
}

// Classifier is a Tool whose class depends on the call.
type Classifier interface {
	Tool
	// ClassOf returns the class of a call, or that of the tool if the arguments cannot be read.
	ClassOf(c Call) rules.Class
}

// Describer is a Tool that says in words what a call would do, if its arguments do not say it plainly.
type Describer interface {
	Tool
	// Describe returns one sentence for the owner, who is asked about the call; empty if the arguments cannot be read.
	Describe(c Call) string
}

// ResourceFinder is a Tool whose calls are about paths, domains or commands.
type ResourceFinder interface {
	Tool
	// ResourceOf returns what a call is about. It is empty if the arguments cannot be read.
	ResourceOf(c Call) rules.Resource
}

// Refused returns the result of a call that was not made, and why.
func Refused(code Code, why string) Result {
	return Result{ForLLM: why, IsError: true, Code: code}
}

// Failed returns the result of a call that failed.
func Failed(why string, retriable bool) Result {
	return Result{ForLLM: why, IsError: true, Code: CodeFailed, Retriable: retriable}
}

// UnknownOutcome returns the result of a call with an effect that began and whose outcome is not known. The model is told not to repeat the
// call.
func UnknownOutcome(name, why string) Result {
	return Result{
		ForLLM:  why + " Nobody knows whether it was carried out. Do not repeat it; say so.",
		ForUser: "⚠️ " + name + ": whether it was done I don't know",
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
		return args, fmt.Errorf("the arguments do not fit: %s; they are: %s", strings.TrimPrefix(err.Error(), "json: "),
			strings.Join(argumentNames[T](), ", "))
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

// MayCall reports whether the caller may call a tool at all. The policy then decides about each call.
func (c Caller) MayCall(name string) bool {
	if !c.Owner && !slices.Contains(contactTools, name) {
		return false
	}
	if c.Owner && name == "escalate" {
		return false // he is the person to escalate to
	}
	if c.GrantedTools != nil && !slices.Contains(c.GrantedTools, name) {
		return false
	}
	match := func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil }
	for _, list := range c.AllowLists {
		if !slices.ContainsFunc(list, match) {
			return false
		}
	}
	return !slices.ContainsFunc(c.Deny, match) && (len(c.Allow) == 0 || slices.ContainsFunc(c.Allow, match))
}
