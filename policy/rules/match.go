package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// variant is a request about at most one path or domain. A call about several is decided once for each of them.
type variant struct {
	*Request
	path, domain string
}

// variants splits a request into its variants.
func (q *Request) variants() []variant {
	var all []variant
	for i, p := range q.Resource.Paths {
		if !slices.Contains(q.Resource.Paths[:i], p) {
			all = append(all, variant{Request: q, path: p})
		}
	}
	for i, d := range q.Resource.Domains {
		if !slices.Contains(q.Resource.Domains[:i], d) {
			all = append(all, variant{Request: q, domain: d})
		}
	}
	if len(all) == 0 {
		all = []variant{{Request: q}}
	}
	return all
}

// about returns the path or domain of a variant; empty if it has none.
func (v variant) about() string { return v.path + v.domain }

func (q *Request) agent() string {
	if q.Agent == "" {
		return Assistant
	}
	return q.Agent
}

// mismatch returns the first condition of a rule that a variant does not meet, in words. It is empty if the rule matches.
func (r *Rule) mismatch(v variant) string {
	role := v.Surface.Role()
	switch {
	case len(r.Roles) > 0 && !slices.Contains(r.Roles, role):
		return fmt.Sprintf("role is %s", role)
	case len(r.Surfaces) > 0 && !slices.Contains(r.Surfaces, v.Surface):
		return fmt.Sprintf("surface is %s", v.Surface)
	case len(r.Agents) > 0 && !matchesAny(r.Agents, v.agent()):
		return "agent is " + v.agent()
	case len(r.Tools) > 0 && !matchesAny(r.Tools, v.Tool):
		return "tool is " + v.Tool
	case len(r.Classes) > 0 && !slices.Contains(r.Classes, v.Class):
		return fmt.Sprintf("class is %s", v.Class)
	case len(r.Tiers) > 0 && !slices.Contains(r.Tiers, v.Tier):
		return fmt.Sprintf("tier is %s", v.Tier)
	case len(r.Chats) > 0 && !slices.Contains(r.Chats, v.Chat):
		return fmt.Sprintf("chat is %d", v.Chat)
	case r.Hours != nil && !r.Hours.contains(v.Hour):
		return fmt.Sprintf("hour is %d", v.Hour)
	case r.Tainted != nil && *r.Tainted != v.Tainted:
		return fmt.Sprintf("tainted is %t", v.Tainted)
	}
	if v.AnyCall {
		return "" // some call may have a matching resource
	}
	return r.resourceMismatch(v)
}

// resourceMismatch is the part of mismatch for the conditions about resources.
func (r *Rule) resourceMismatch(v variant) string {
	switch {
	case len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(p string) bool { return r.matchesResource(p, v.path) }):
		return orNone("path is ", v.path)
	case len(r.Domains) > 0 && !slices.ContainsFunc(r.Domains, func(d string) bool { return matchesDomain(d, v.domain) }):
		return orNone("domain is ", v.domain)
	case len(r.Argv) > 0 && !r.matchesCommand(v.Resource):
		return orNone("argv is ", strings.Join(v.Resource.Argv, " "))
	}
	return ""
}

// hasResource reports whether the rule has a condition about resources.
func (r *Rule) hasResource() bool { return len(r.Paths)+len(r.Domains)+len(r.Argv) > 0 }

func orNone(what, value string) string {
	if value == "" {
		return strings.TrimSuffix(what, " is ") + ": none"
	}
	return what + value
}

// matchesAny reports whether one of the patterns matches a name.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return ok && err == nil })
}

// matchesResource reports whether a glob of the rule matches a path. A path that ends in a slash means a folder with
// everything below it: a rule that allows must match all of it; for any other rule it is enough to match a part.
func (r *Rule) matchesResource(glob, name string) bool {
	folder, isFolder := strings.TrimRight(name, "/"), strings.HasSuffix(name, "/")
	switch {
	case !isFolder:
		return matchesPath(glob, name)
	case r.Decision == Allow:
		return strings.HasSuffix(glob, "/**") && matchesPath(glob, cmp.Or(folder, "/"))
	default:
		return matchesPath(glob, cmp.Or(folder, "/")) || mayMatchBelow(glob, folder)
	}
}

// mayMatchBelow reports whether a glob may match a path below a folder, which has no slash at its end. It may err on the side of yes.
func mayMatchBelow(glob, folder string) bool {
	if strings.ContainsAny(glob, `{[\`) { // which may stand across a slash
		fixed := glob[:strings.IndexAny(glob, `*?{[\`)]
		return strings.HasPrefix(fixed, folder+"/") || strings.HasPrefix(folder+"/", fixed[:strings.LastIndexByte(fixed, '/')+1])
	}
	globs := strings.Split(glob, "/")
	for i, name := range strings.Split(folder, "/") {
		if i < len(globs) && globs[i] == "**" {
			return true
		}
		if i >= len(globs) || !matchesPath(globs[i], name) && name != globs[i] {
			return false
		}
	}
	return len(globs) > strings.Count(folder, "/")+1
}

// matchesPath reports whether a glob matches an absolute path.
func matchesPath(glob, name string) bool {
	if name == "" {
		return false
	}
	ok, err := doublestar.Match(glob, name)
	return ok && err == nil
}

// matchesDomain reports whether a host, with or without a port, is a domain or one of its subdomains.
func matchesDomain(pattern, host string) bool {
	if host == "" {
		return false
	}
	wantHost, wantPort, hasPort := strings.Cut(pattern, ":")
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:i], host[i+1:]
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if hasPort && wantPort != port {
		return false
	}
	return wantHost == "*" || name == wantHost || strings.HasSuffix(name, "."+wantHost)
}

// matchesCommand reports whether a pattern of the rule matches a command, or one that this command runs: "curl **" also
// matches "env curl x". A rule that allows must match the command itself, because it says nothing about what else is run,
// and by a name only a program of the system: "make **" does not allow a file make that an agent wrote.
func (r *Rule) matchesCommand(q Resource) bool {
	return slices.ContainsFunc(r.Argv, func(words []string) bool {
		if r.Decision == Allow {
			return matchesArgv(words, q.Argv) && (strings.Contains(words[0], "/") || isSystemProgram(q.Argv[0]))
		}
		return matchesArgv(words, q.Argv) || slices.ContainsFunc(q.Inner, func(argv []string) bool { return matchesArgv(words, argv) })
	})
}

// isSystemProgram reports whether a program is found by its name, or is named in a folder where such programs are found.
func isSystemProgram(program string) bool {
	folders := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	return !strings.Contains(program, "/") || slices.Contains(folders, strings.TrimSuffix(program, "/"+path.Base(program)))
}

// matchesArgv reports whether the words of a pattern match a command. Programs are compared by name only, unless the
// pattern contains a path.
func matchesArgv(pattern, argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	for i, word := range pattern {
		if word == "**" && i == len(pattern)-1 {
			return true
		}
		if i >= len(argv) {
			return false
		}
		arg := argv[i]
		if i == 0 && !strings.Contains(word, "/") {
			arg = path.Base(arg)
		}
		if !matchesWord(word, arg) {
			return false
		}
	}
	return len(pattern) == len(argv)
}

// matchesWord reports whether a pattern matches a word. A * in the pattern matches any characters, slashes included.
func matchesWord(pattern, word string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == word
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(word) < len(first)+len(last) || !strings.HasPrefix(word, first) || !strings.HasSuffix(word, last) {
		return false
	}
	rest := word[len(first) : len(word)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}
