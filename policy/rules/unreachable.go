package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A grid has a cell for each combination of the finite conditions of a rule. The role is no dimension, because it follows from the surface.
const (
	hoursADay   = 24
	taintStates = 2
)

// grid is a set of cells.
type grid []uint64

func newGrid() grid {
	cells := len(Surfaces()) * len(Classes()) * len(Tiers()) * taintStates * hoursADay
	return make(grid, (cells+63)/64)
}

// cells returns the cells that meet the finite conditions of a rule.
func (r *Rule) cells() grid {
	g, i := newGrid(), 0
	for _, s := range Surfaces() {
		inSurface := isIn(r.Surfaces, s) && isIn(r.Roles, s.Role())
		for _, c := range Classes() {
			inClass := inSurface && isIn(r.Classes, c)
			for _, t := range Tiers() {
				inTier := inClass && isIn(r.Tiers, t)
				for _, tainted := range []bool{false, true} {
					inTaint := inTier && (r.Tainted == nil || *r.Tainted == tainted)
					for hour := range hoursADay {
						if inTaint && (r.Hours == nil || r.Hours.contains(hour)) {
							g[i/64] |= 1 << (i % 64)
						}
						i++
					}
				}
			}
		}
	}
	return g
}

// isIn reports whether a condition of a rule allows a value. A condition without values allows every value.
func isIn[T comparable](values []T, v T) bool { return len(values) == 0 || slices.Contains(values, v) }

func (g grid) isEmpty() bool { return !slices.ContainsFunc(g, func(w uint64) bool { return w != 0 }) }

func (g grid) add(other grid) {
	for i := range g {
		g[i] |= other[i]
	}
}

// isWithin reports whether all cells of g are in other.
func (g grid) isWithin(other grid) bool {
	for i := range g {
		if g[i]&^other[i] != 0 {
			return false
		}
	}
	return true
}

// unreachable returns a problem for every rule that can never match: its conditions contradict each other, it names what does not exist, or the
// rules before it match every call that it would match.
func unreachable(all []Rule, known Vocabulary) []ParseError {
	var problems []ParseError
	grids := make([]grid, len(all))
	for i := range all {
		r := &all[i]
		grids[i] = r.cells()
		never := func(why string) {
			problems = append(problems, ParseError{r.File, r.Line, "the rule can never match: " + why})
		}
		if len(r.Paths) > 0 && r.namesCommands(known) {
			problems = append(problems, ParseError{r.File, r.Line, pathOfCommand})
			continue
		}
		if why := r.unknownName(known); why != "" {
			never(why)
			continue
		}
		if grids[i].isEmpty() {
			never("its role and its surface exclude each other; remove one")
			continue
		}
		covered, last := newGrid(), 0
		for j := range i {
			if all[j].coversPatterns(r) {
				covered.add(grids[j])
				last = j
				if grids[i].isWithin(covered) {
					break
				}
			}
		}
		if grids[i].isWithin(covered) {
			never(all[last].Position() + " and the rules before it decide all of its calls; move it up or remove it")
		}
	}
	return problems
}

// namesCommands reports whether the rule names tools all of which run commands.
func (r *Rule) namesCommands(known Vocabulary) bool {
	return slices.ContainsFunc(r.Tools, func(p string) bool {
		matches := func(t Tool) bool { return matchesAny([]string{p}, t.Name) }
		return slices.ContainsFunc(known.Tools, matches) && !slices.ContainsFunc(known.Tools, func(t Tool) bool { return matches(t) && t.Class != ClassExec })
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
		if !slices.ContainsFunc(known.Tools, func(t Tool) bool { return matchesAny([]string{p}, t.Name) }) && !mayMatchPrefixed(p, known.Prefixes) {
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
	return !slices.ContainsFunc(Surfaces(), func(s Surface) bool { return s.Role() == RoleOwner && isIn(r.Surfaces, s) && isIn(r.Roles, RoleOwner) })
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

// coversPatterns reports whether r matches every name and resource that later matches. It may report false for a rule that does, but never true
// for one that does not.
func (r *Rule) coversPatterns(later *Rule) bool {
	name := func(p, q string) bool { ok, err := path.Match(p, q); return ok && err == nil }
	literal := func(s string) bool { return !strings.ContainsAny(s, `*?[\`) }
	return covers(r.Agents, later.Agents, "*", literal, name) && covers(r.Tools, later.Tools, "*", literal, name) &&
		covers(r.Paths, later.Paths, "", literal, matchesPath) && covers(r.Domains, later.Domains, "", func(string) bool { return true }, coversDomain) &&
		covers(joinWords(r.Argv), joinWords(later.Argv), "", func(string) bool { return false }, nil) && coversChats(r.Chats, later.Chats)
}

// covers reports whether each pattern of narrow is covered by a pattern of wide. An empty list matches everything, and so does the pattern all.
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
