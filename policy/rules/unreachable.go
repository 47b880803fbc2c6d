package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// cell is one combination of the finite conditions of a rule. The role is no part of it, because it follows from the surface.
type cell struct {
	surface Surface
	class   Class
	tier    Tier
	tainted bool
	hour    int
}

const hoursADay = 24

// cells yields every combination.
func cells(yield func(cell) bool) {
	for _, surface := range Surfaces() {
		for _, class := range Classes() {
			for _, tier := range Tiers() {
				for i := range 2 * hoursADay {
					if !yield(cell{surface, class, tier, i%2 == 1, i / 2}) {
						return
					}
				}
			}
		}
	}
}

// meets reports whether a combination meets the finite conditions of a rule.
func (r *Rule) meets(c cell) bool {
	return isIn(r.Surfaces, c.surface) && isIn(r.Roles, c.surface.Role()) && isIn(r.Classes, c.class) && isIn(r.Tiers, c.tier) &&
		(r.Tainted == nil || *r.Tainted == c.tainted) && (r.Hours == nil || r.Hours.contains(c.hour))
}

// isIn reports whether a condition of a rule allows a value. A condition without values allows every value.
func isIn[T comparable](values []T, v T) bool { return len(values) == 0 || slices.Contains(values, v) }

// whyDecided returns why no call is left for a rule after the rules before it; empty if calls are left.
func (r *Rule) whyDecided(before []Rule) string {
	var wide []*Rule // those that match every name and resource of this one
	for i := range before {
		if before[i].coversPatterns(r) {
			wide = append(wide, &before[i])
		}
	}
	last := -1 // the rule that decides the last combination
	for c := range cells {
		if !r.meets(c) {
			continue
		}
		i := slices.IndexFunc(wide, func(w *Rule) bool { return w.meets(c) })
		if i < 0 {
			return ""
		}
		last = max(last, i)
	}
	if last < 0 {
		return "its role and its surface exclude each other; remove one"
	}
	return wide[last].Position() + " and the rules before it decide all of its calls; move it up or remove it"
}

// unreachable returns a problem for every rule that can never match: its conditions contradict each other, it names what
// does not exist, or the rules before it match every call that it would match.
func unreachable(all []Rule, known Vocabulary) []ParseError {
	var problems []ParseError
	for i := range all {
		r := &all[i]
		problem := func(what string) { problems = append(problems, ParseError{r.File, r.Line, what}) }
		const never = "the rule can never match: "
		if len(r.Paths) > 0 && r.namesCommands(known) {
			problem(pathOfCommand)
			continue
		}
		if why := r.unknownName(known); why != "" {
			problem(never + why)
			continue
		}
		if why := r.whyDecided(all[:i]); why != "" {
			problem(never + why)
		}
	}
	return problems
}

// namesCommands reports whether the rule names tools all of which run commands.
func (r *Rule) namesCommands(known Vocabulary) bool {
	return slices.ContainsFunc(r.Tools, func(p string) bool {
		matches := func(t Tool) bool { return matchesAny([]string{p}, t.Name) }
		matchesOther := func(t Tool) bool { return matches(t) && t.Class != ClassExec }
		return slices.ContainsFunc(known.Tools, matches) && !slices.ContainsFunc(known.Tools, matchesOther)
	})
}

// unknownName returns why the names in a rule match nothing; empty if they match something.
func (r *Rule) unknownName(known Vocabulary) string {
	if known.Agents != nil {
		agents := append([]string{Assistant}, known.Agents...)
		for _, p := range r.Agents {
			if !slices.ContainsFunc(agents, func(name string) bool { return matchesAny([]string{p}, name) }) {
				return fmt.Sprintf("there is no agent %s; known are %s", p, strings.Join(agents, ", "))
			}
		}
	}
	if known.Tools == nil {
		return ""
	}
	for _, p := range r.Tools {
		isKnown := slices.ContainsFunc(known.Tools, func(t Tool) bool { return matchesAny([]string{p}, t.Name) })
		if !isKnown && !mayMatchPrefixed(p, known.Prefixes) {
			return fmt.Sprintf("there is no tool %s; /tools lists them", p)
		}
	}
	if r.isAboutContactsOnly() {
		if !slices.ContainsFunc(known.Tools, func(t Tool) bool {
			return t.Contacts && (len(r.Tools) == 0 || matchesAny(r.Tools, t.Name)) && r.fitsTool(t)
		}) {
			return "no tool that contacts' turns have fits it, and no rule gives them others"
		}
		return ""
	}
	if len(r.Tools) > 0 && slices.ContainsFunc(r.Tools, func(p string) bool { return mayMatchPrefixed(p, known.Prefixes) }) {
		return ""
	}
	if len(r.Tools) > 0 && !slices.ContainsFunc(known.Tools, func(t Tool) bool { return matchesAny(r.Tools, t.Name) && r.fitsTool(t) }) {
		return "no such tool has that class, or paths, domains or commands to compare; /help policy says which have"
	}
	return ""
}

// isAboutContactsOnly reports whether a rule can only match calls in turns of contacts.
func (r *Rule) isAboutContactsOnly() bool {
	return !slices.ContainsFunc(Surfaces(), func(s Surface) bool {
		return s.Role() == RoleOwner && isIn(r.Surfaces, s) && isIn(r.Roles, RoleOwner)
	})
}

// fitsTool reports whether calls of a tool can meet the rule's conditions about class and resource.
func (r *Rule) fitsTool(t Tool) bool {
	return (len(r.Classes) == 0 || slices.Contains(r.Classes, t.Class)) &&
		(len(r.Paths) == 0 || t.Kinds.Paths) && (len(r.Domains) == 0 || t.Kinds.Domains) && (len(r.Argv) == 0 || t.Kinds.Argv)
}

// mayMatchPrefixed reports whether a pattern may match a name that begins with one of the prefixes.
func mayMatchPrefixed(pattern string, prefixes []string) bool {
	fixed, _, _ := strings.Cut(pattern, "*")
	if i := strings.IndexAny(fixed, "?["); i >= 0 {
		fixed = fixed[:i]
	}
	wild := fixed != pattern
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return strings.HasPrefix(fixed, prefix) || (wild && strings.HasPrefix(prefix, fixed))
	})
}

// coversPatterns reports whether r matches every name and resource that later matches. It may report false for a rule
// that does, but never true for one that does not.
func (r *Rule) coversPatterns(later *Rule) bool {
	name := func(p, q string) bool { ok, err := path.Match(p, q); return ok && err == nil }
	literal := func(s string) bool { return !strings.ContainsAny(s, `*?[\`) }
	anything := func(string) bool { return true }
	nothing := func(string) bool { return false }
	return covers(r.Agents, later.Agents, "*", literal, name) &&
		covers(r.Tools, later.Tools, "*", literal, name) &&
		covers(r.Paths, later.Paths, "", literal, matchesPath) &&
		covers(r.Domains, later.Domains, "", anything, coversDomain) &&
		covers(joinWords(r.Argv), joinWords(later.Argv), "", nothing, nil) &&
		coversChats(r.Chats, later.Chats)
}

// covers reports whether each pattern of narrow is covered by a pattern of wide. An empty list matches everything, and so
// does the pattern all.
func covers(wide, narrow []string, all string, isLiteral func(string) bool, match func(pattern, name string) bool) bool {
	if len(wide) == 0 || (all != "" && slices.Contains(wide, all)) {
		return true
	}
	if len(narrow) == 0 {
		return false
	}
	for _, n := range narrow {
		if !slices.ContainsFunc(wide, func(w string) bool { return w == n || (isLiteral(n) && match(w, n)) }) {
			return false
		}
	}
	return true
}

// coversDomain reports whether the pattern wide matches every host that narrow matches.
func coversDomain(wide, narrow string) bool {
	if narrow == "*" || strings.HasPrefix(narrow, "*:") {
		return wide == "*" || wide == narrow
	}
	return matchesDomain(wide, narrow)
}

func coversChats(wide, narrow []int64) bool {
	if len(wide) == 0 {
		return true
	}
	return len(narrow) > 0 && !slices.ContainsFunc(narrow, func(n int64) bool { return !slices.Contains(wide, n) })
}

func joinWords(all [][]string) []string {
	var lines []string
	for _, words := range all {
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}
