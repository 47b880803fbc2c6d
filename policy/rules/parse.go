package rules

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"multis/internal/text"
)

// The limits of rules.
const (
	MaxBytes        = 128 << 10 // of one file
	MaxRules        = 500       // of one file or list
	maxPatterns     = 200       // in one list of a rule
	maxPatternBytes = 300       // bytes of a pattern
	maxStars        = 4         // ** in a path
	maxReasonBytes  = 200       // bytes
	maxLimit        = 10_000    // calls
	maxProblems     = 50        // reported at once
	maxChatDigits   = 18
)

// ParseError is a mistake in a file of rules, with its place.
type ParseError struct {
	File string
	Line int
	Text string
}

// Error returns the place and the mistake on one line.
func (p ParseError) Error() string {
	return text.OneLine(fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text))
}

// join returns problems as one error, one per line, ordered by their lines. It returns nil if there are none.
func join(all []ParseError) error {
	slices.SortStableFunc(all, func(a, b ParseError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	lines := make([]error, min(len(all), maxProblems))
	for i := range lines {
		lines[i] = all[i]
	}
	return errors.Join(lines...)
}

// Parse reads a file of rules: YAML with the one key "rules". It returns all rules or none: the error contains all problems, one per line.
func Parse(file string, data []byte) ([]Rule, error) {
	if len(data) > MaxBytes {
		return nil, ParseError{file, 1, fmt.Sprintf("the file is larger than %d KB; write fewer rules", MaxBytes>>10)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		return nil, yamlProblem(file, err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, ParseError{file, max(second.Line, 1), "a second document starts here and would be ignored; remove the line with ---"}
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode || len(top.Content) != 2 || top.Content[0].Value != "rules" {
		return nil, ParseError{file, top.Line, "a file of rules has one key; write rules: and a list below it"}
	}
	all, problems := ParseNode(file, top.Content[1])
	return all, join(problems)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

func yamlProblem(file string, err error) ParseError {
	p := ParseError{file, 1, "is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	if errors.Is(err, io.EOF) {
		p.Text = "the file is empty; write rules: and a list below it"
	}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Text = "is not YAML: " + strings.TrimPrefix(err.Error(), m[0])
	}
	return p
}

// ParseNode reads a list of rules. It returns no rules if there is a problem.
func ParseNode(file string, list *yaml.Node) ([]Rule, []ParseError) {
	if list.Kind == yaml.ScalarNode && list.Tag == "!!null" {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, []ParseError{{file, list.Line, "is not a list; write one rule a line, such as - {tool: fetch_url, decision: deny}"}}
	}
	if len(list.Content) > MaxRules {
		return nil, []ParseError{{file, list.Line, fmt.Sprintf("has %d rules; write at most %d", len(list.Content), MaxRules)}}
	}
	var all []Rule
	var problems []ParseError
	for _, node := range list.Content {
		r, found := parseRule(file, node)
		all, problems = append(all, r), append(problems, found...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return all, nil
}

// keys lists the keys of a rule, and how each is read.
var keys = map[string]func(*Rule, *yaml.Node) error{
	"role":    func(r *Rule, n *yaml.Node) error { return parseKnownWords(n, &r.Roles, RoleOwner, RoleContact) },
	"surface": func(r *Rule, n *yaml.Node) error { return parseKnownWords(n, &r.Surfaces, Surfaces()...) },
	"class":   func(r *Rule, n *yaml.Node) error { return parseKnownWords(n, &r.Classes, Classes()...) },
	"tier":    func(r *Rule, n *yaml.Node) error { return parseKnownWords(n, &r.Tiers, Tiers()...) },
	"agent":   func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Agents, parseNamePattern) },
	"can":     func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Can, parseCapability) },
	"tool":    func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Tools, parseNamePattern) },
	"chat":    func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Chats, parseChatNumber) },
	"path":    func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Paths, parsePathGlob) },
	"domain":  func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Domains, parseDomain) },
	"argv":    func(r *Rule, n *yaml.Node) error { return parseList(n, &r.Argv, parseArgv) },
	"hours":   func(r *Rule, n *yaml.Node) error { return parseSingle(n, func(h Hours) { r.Hours = &h }, parseHours) },
	"tainted": func(r *Rule, n *yaml.Node) error { return parseSingle(n, func(b bool) { r.Tainted = &b }, parseBool) },
	"limit":   func(r *Rule, n *yaml.Node) error { return parseSingle(n, func(l Limit) { r.Limit = l }, parseLimit) },
	"reason":  func(r *Rule, n *yaml.Node) error { return parseSingle(n, func(s string) { r.Reason = s }, parseReason) },
	"decision": func(r *Rule, n *yaml.Node) error {
		return parseSingle(n, func(d Decision) { r.Decision = d }, parseDecision)
	},
}

// keyOrder is the order of the keys in error messages.
const keyOrder = "decision, role, surface, agent, can, tool, class, tier, chat, path, domain, argv, hours, tainted, limit, reason"

// parseRule reads one rule.
func parseRule(file string, node *yaml.Node) (Rule, []ParseError) {
	r := Rule{File: file, Line: node.Line}
	if node.Kind != yaml.MappingNode {
		return r, []ParseError{{file, node.Line, "a rule is a section of keys; write - {tool: fetch_url, decision: deny}"}}
	}
	var problems []ParseError
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		read, known := keys[name.Value]
		switch {
		case !known:
			problems = append(problems, ParseError{
				file, name.Line,
				fmt.Sprintf("%.60q is not a key of a rule; write one of: %s", name.Value, keyOrder),
			})
		case seen[name.Value]:
			problems = append(problems, ParseError{file, name.Line, name.Value + " is set a second time; keep one"})
		default:
			if err := read(&r, content); err != nil {
				problems = append(problems, ParseError{file, max(content.Line, name.Line), name.Value + ": " + err.Error()})
			}
		}
		seen[name.Value] = true
	}
	switch {
	case !seen["decision"]:
		problems = append(problems, ParseError{file, node.Line, "the rule has no decision; write decision: allow, deny, confirm or pin"})
	case r.Decision == Deny && r.Limit.Calls > 0:
		problems = append(problems, ParseError{file, node.Line, "a rule that denies needs no limit; remove it"})
	case len(r.Paths) > 0 && len(r.Domains)+len(r.Argv) > 0:
		problems = append(problems, ParseError{
			file, node.Line,
			"the rule can never match: a path is judged separately from domains and commands; write a rule for each",
		})
	case len(r.Paths) > 0 && slices.Contains(r.Classes, ClassExec):
		problems = append(problems, ParseError{file, node.Line, pathOfCommand})
	}
	return r, problems
}

// pathOfCommand is the problem of a rule about the paths of commands: their words do not tell which files they open.
const pathOfCommand = "path does not hold for commands; write argv for them, in a rule of its own. Which files a command reaches is limited by the sandbox: the agent's workspace and read_paths"

// scalar returns a scalar of the YAML as it is written.
func scalar(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", errors.New("is not a single value")
	case n.Tag == "!!null" || n.Value == "":
		return "", errors.New("is empty; write a value, or remove the key")
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		return "", errors.New("has a YAML tag (a word after !); write the value in quotes")
	case len(n.Value) > maxPatternBytes:
		return "", fmt.Errorf("is longer than %d bytes", maxPatternBytes)
	case text.OneLine(n.Value) != n.Value:
		return "", errors.New("has line breaks, control characters or double spaces; write one plain line")
	}
	return n.Value, nil
}

func parseSingle[T any](n *yaml.Node, set func(T), parse func(string) (T, error)) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	v, err := parse(s)
	if err == nil {
		set(v)
	}
	return err
}

// parseList reads a single value or a list of values.
func parseList[T any](n *yaml.Node, into *[]T, parse func(string) (T, error)) error {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 || len(items) > maxPatterns {
		return fmt.Errorf("has %d items; write 1 to %d, or remove the key", len(items), maxPatterns)
	}
	for _, item := range items {
		if err := parseSingle(item, func(v T) { *into = append(*into, v) }, parse); err != nil {
			return err
		}
	}
	return nil
}

// parseKnownWords reads a list of words, each of which must be in known.
func parseKnownWords[T ~string](n *yaml.Node, into *[]T, known ...T) error {
	return parseList(n, into, func(s string) (T, error) {
		if slices.Contains(known, T(s)) {
			return T(s), nil
		}
		names := make([]string, len(known))
		for i, name := range known {
			names[i] = string(name)
		}
		return "", fmt.Errorf("%.60q is not known; write one of: %s", s, strings.Join(names, ", "))
	})
}

func parseDecision(s string) (Decision, error) {
	if d := Decision(s); d == Allow || d == Confirm || d == Pin || d == Deny {
		return d, nil
	}
	return "", fmt.Errorf("%.60q is not a decision; write allow, deny, confirm or pin", s)
}

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("%.60q is neither true nor false", s)
	}
	return s == "true", nil
}

func parseReason(s string) (string, error) {
	if len(s) > maxReasonBytes {
		return "", fmt.Errorf("is longer than %d bytes", maxReasonBytes)
	}
	return s, nil
}

var namePatternForm = regexp.MustCompile(`^[A-Za-z0-9_.*?\[\]-]{1,100}$`)

func parseNamePattern(s string) (string, error) {
	if _, err := path.Match(s, ""); err != nil || !namePatternForm.MatchString(s) {
		return "", fmt.Errorf("%.60q is not a name; write letters, digits, _ and -, with * for any characters", s)
	}
	return s, nil
}

var capabilityForm = regexp.MustCompile(`^[a-z0-9._-]{1,100}$`)

func parseCapability(s string) (string, error) {
	if !capabilityForm.MatchString(s) {
		return "", fmt.Errorf("%.60q is not a word for what agents can; write one of those under can of the agents", s)
	}
	return s, nil
}

func parseChatNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil || n <= 0 || len(s) > maxChatDigits {
		return 0, fmt.Errorf("%.60q is not the number of a chat; /chats shows them", s)
	}
	return n, nil
}

func parsePathGlob(s string) (string, error) {
	switch {
	case !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~/"):
		return "", fmt.Errorf("%.60q is not an absolute path; begin with / or ~/", s)
	case strings.ContainsAny(s, "{}") || !doublestar.ValidatePattern(s) || strings.Count(s, "**") > maxStars:
		return "", fmt.Errorf("%.60q is not a pattern; * is a part of a name, ** any folders (at most %d)", s, maxStars)
	case path.Clean(s) != s:
		return "", fmt.Errorf("%.60q is not a clean path; write %s", s, path.Clean(s))
	}
	return s, nil
}

var domainForm = regexp.MustCompile(`^(\*|[a-z0-9_-]+(\.[a-z0-9_-]+)*)(:[1-9]\d{0,4})?$`)

func parseDomain(s string) (string, error) {
	name := strings.ToLower(s)
	if name != "*" {
		name = strings.TrimPrefix(name, "*.")
	}
	if !domainForm.MatchString(name) {
		return "", fmt.Errorf("%.60q is not a domain; write example.com or example.com:8443, which includes what is below it, or *", s)
	}
	return name, nil
}

func parseArgv(s string) ([]string, error) {
	all := strings.Fields(s)
	for i, word := range all {
		if strings.Contains(word, "**") && (word != "**" || i != len(all)-1) {
			return nil, fmt.Errorf("%.60q is not the pattern of a command; write its words, with * in a word and ** at the end for all others", s)
		}
	}
	return all, nil
}

var hoursForm = regexp.MustCompile(`^(\d{1,2})-(\d{1,2})$`)

func parseHours(s string) (Hours, error) {
	m := hoursForm.FindStringSubmatch(s)
	if m == nil {
		return Hours{}, fmt.Errorf("%.60q is not a part of the day; write it like 22-7", s)
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	if from > 23 || to > 24 || from == to || (to == 0 && from == 0) {
		return Hours{}, fmt.Errorf("%.60q is not a part of the day; write two different hours like 22-7", s)
	}
	return Hours{from, to % 24}, nil
}

var limitForm = regexp.MustCompile(`^(\d{1,5})/([mhd])$`)

func parseLimit(s string) (Limit, error) {
	m := limitForm.FindStringSubmatch(s)
	if m == nil {
		return Limit{}, fmt.Errorf("%.60q is not a limit; write calls a minute, hour or day, like 20/h", s)
	}
	n, _ := strconv.Atoi(m[1])
	if n == 0 || n > maxLimit {
		return Limit{}, fmt.Errorf("%.60q is not possible; write 1 to %d calls, or decision: deny", s, maxLimit)
	}
	return Limit{n, map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]}, nil
}
