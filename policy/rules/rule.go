// Package rules decides whether a tool may be called. Rules are read from YAML, and the first one that matches a call decides it; if none
// does, the call is denied. The package is pure: it reads no file, no clock and no database.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Decision is what a rule says about a call.
type Decision string

// The decisions, from mild to strict.
const (
	Allow   Decision = "allow"
	Confirm Decision = "confirm" // the owner must approve it
	Pin     Decision = "pin"     // the owner must type the PIN
	Deny    Decision = "deny"
)

// strictness orders decisions. An unknown decision is as strict as Deny.
func (d Decision) strictness() int {
	switch d {
	case Allow:
		return 0
	case Confirm:
		return 1
	case Pin:
		return 2
	case Deny:
		return 3
	default:
		return 3
	}
}

// Role says for whom a call is made.
type Role string

// The roles.
const (
	RoleOwner   Role = "owner"
	RoleContact Role = "contact"
)

// Surface says where a call comes from.
type Surface string

// The surfaces. On all but SurfaceContact the call is made for the owner.
const (
	SurfaceContact   Surface = "contact"   // a contact's message
	SurfaceOwner     Surface = "owner"     // the owner's message in the admin room
	SurfaceSchedule  Surface = "schedule"  // a schedule that is due
	SurfaceHeartbeat Surface = "heartbeat" // the periodic check
	SurfaceWebhook   Surface = "webhook"   // a request of another program
	SurfaceMCP       Surface = "mcp"       // a client of multis' own MCP server
	SurfaceCLI       Surface = "cli"       // the command line on the host
	SurfaceDelegate  Surface = "delegate"  // another agent
)

// Surfaces returns all surfaces.
func Surfaces() []Surface {
	return []Surface{SurfaceContact, SurfaceOwner, SurfaceSchedule, SurfaceHeartbeat, SurfaceWebhook, SurfaceMCP, SurfaceCLI, SurfaceDelegate}
}

// Role returns for whom calls from a surface are made.
func (s Surface) Role() Role {
	if s == SurfaceContact {
		return RoleContact
	}
	return RoleOwner
}

// Class says what kind of thing a tool does. Rules can match it. Every tool has one.
type Class string

// The classes.
const (
	ClassRead     Class = "read"     // reads what the caller may read
	ClassNotify   Class = "notify"   // reaches nobody but the owner, or a process that the agent started itself
	ClassDelegate Class = "agents"   // gives work to another agent, whose calls are decided separately
	ClassOutward  Class = "outward"  // sends data to another machine or person
	ClassMemory   Class = "memory"   // writes memory that later prompts contain
	ClassSchedule Class = "schedule" // schedules something for later
	ClassConfig   Class = "config"   // changes how multis works
	ClassFiles    Class = "files"    // changes files
	ClassExec     Class = "exec"     // runs programs
)

// Classes returns all classes.
func Classes() []Class {
	return []Class{ClassRead, ClassNotify, ClassDelegate, ClassOutward, ClassMemory, ClassSchedule, ClassConfig, ClassFiles, ClassExec}
}

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { return indexOf(Classes(), c) >= 0 }

// isSensitive reports whether calls of the class can harm somebody if untrusted text asked for them.
func (c Class) isSensitive() bool {
	switch c {
	case ClassRead, ClassNotify, ClassDelegate:
		return false
	default:
		return true
	}
}

// Tier says what a tool needs by itself before a call: nothing, an approval, or the PIN.
type Tier string

// The tiers.
const (
	TierRead    Tier = "read"
	TierConfirm Tier = "confirm"
	TierPin     Tier = "pin"
)

// Tiers returns all tiers.
func Tiers() []Tier { return []Tier{TierRead, TierConfirm, TierPin} }

// Resource is what a call acts on. The zero value means nothing that a rule could match.
type Resource struct {
	Paths   []string // absolute, with links resolved, and as written; with a slash at the end for a folder and everything below it
	Domains []string // hosts, each with its port: "example.com:443"
	Argv    []string // the command to run, with the program first
	// Inner lists the commands that Argv runs, such as "curl x" in "env curl x". Rules that allow ignore them.
	Inner [][]string
	// OwnWords is true if the owner himself wrote what the call acts on, such as the address to read.
	OwnWords bool
	// Instructs is true if the call changes a file that tells an agent how to work. The owner must confirm that, whatever the rules say.
	Instructs bool
}

// hasRelativePath reports whether a path is relative, so that no rule about a path would match it.
func (r Resource) hasRelativePath() bool {
	return slices.ContainsFunc(r.Paths, func(p string) bool { return !strings.HasPrefix(p, "/") })
}

// Assistant is the name in rules of the agent that answers when no other is configured.
const Assistant = "multis"

// Request is a tool call about which a decision is needed.
type Request struct {
	Surface  Surface
	Agent    string // empty means Assistant
	Tool     string
	Class    Class
	Tier     Tier
	Chat     int64 // the chat in which the question was asked, by the number that multis shows
	Resource Resource
	Hour     int  // in the owner's time zone, 0 to 23
	Tainted  bool // the turn has read text that is not the owner's
	// AnyCall is true if the request is not about a specific call, for example to decide whether a tool is offered at all.
	// Resource is then ignored, and the decision is the mildest one that any call of the tool can get.
	AnyCall bool
	// Exceeds reports whether a rule's limit is used up. Nil means that no limit is.
	Exceeds func(*Rule) bool
}

// Limit is how often a rule lets one agent call one tool in a period. The zero value means no limit.
type Limit struct {
	Calls int
	Per   time.Duration
}

// String returns the limit as rules write it: 20/h.
func (l Limit) String() string {
	unit := map[time.Duration]string{time.Minute: "m", time.Hour: "h", 24 * time.Hour: "d"}[l.Per]
	return fmt.Sprintf("%d/%s", l.Calls, unit)
}

// Rule is one rule. A condition that is empty matches every call. A condition with a list matches if any of its items does.
type Rule struct {
	File string // the file with the rule
	Line int

	Surfaces []Surface
	Roles    []Role
	Agents   []string // patterns of agents' names
	Can      []string // what agents are good for; New replaces it by the names of these agents in Agents
	Tools    []string // patterns of tools' names
	Classes  []Class
	Tiers    []Tier
	Chats    []int64
	Paths    []string   // globs
	Domains  []string   // each with its subdomains; "*" matches all
	Argv     [][]string // words, each with wildcards; a last ** matches all further words
	Hours    *Hours
	Tainted  *bool

	Decision Decision
	Limit    Limit
	Reason   string // for people and the model; may be empty
}

// Position returns where the rule is written: "rules.yaml:12".
func (r *Rule) Position() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// String returns the place and the decision.
func (r *Rule) String() string { return r.Position() + " " + string(r.Decision) }

// Hours is a part of the day in the owner's time zone, from the beginning of hour From to the beginning of hour To. It
// may extend past midnight.
type Hours struct{ From, To int }

// contains reports whether an hour is in the part of the day.
func (h Hours) contains(hour int) bool {
	switch {
	case h.From == h.To: // 0-24, the whole day
		return true
	case h.From < h.To:
		return hour >= h.From && hour < h.To
	default:
		return hour >= h.From || hour < h.To
	}
}

func indexOf[T comparable](all []T, one T) int {
	for i := range all {
		if all[i] == one {
			return i
		}
	}
	return -1
}
