package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"multis/internal/text"
)

// Problem is one line of the error that Parse returns.
type Problem struct {
	Key  string // empty when the file is wrong as a whole
	What string // what is wrong and what to write
	Text string // the whole line: the place, the key and What
	line int    // line of the file; zero if the place is none in this file
}

// Problems returns what is wrong with a configuration, in the order of the file. The arguments are those of Parse.
func Problems(name string, data []byte, env func(string) (string, bool)) []Problem {
	c := defaults()
	r := newReader(name, c)
	_, _ = c.parse(r, data, nil, env) // its error joins the same problems
	return r.problems
}

// places holds where the values of a configuration come from.
type places struct {
	file     string
	sections map[string]int   // line of each section; zero if it is not in the file
	source   map[string]place // where a key was set, even to an invalid value
}

// place returns where a key was set. For a key that is not set, it is the line of the section that could have it or,
// without a file, the variable.
func (p places) place(key string) place {
	for _, name := range []string{key, key + fileSuffix} {
		if at, ok := p.source[name]; ok {
			return at
		}
	}
	if p.file == "" {
		return place{variable: EnvName(key)}
	}
	return place{line: max(p.sections[parentSection(key)], 1)}
}

// settingPlace is how problems name the place of a value that was set in chat and so has no line in a file.
const settingPlace = "setting"

// describe returns a problem as one clean line that begins with its place. key is empty if the file is wrong as a whole.
func (p places) describe(at place, key, what string) string {
	where := fmt.Sprintf("%s:%d", p.file, at.line)
	switch {
	case at.variable != "":
		where = "environment " + at.variable
	case at.setting:
		where = settingPlace
	}
	if key != "" {
		where += ": " + text.Visible(text.Clip(key, 121))
	}
	return text.OneLine(where + ": " + what)
}

// maxProblems is the number of problems after which no others are looked for.
const maxProblems = 100

// isFull reports whether no further problems are looked for.
func (r *reader) isFull() bool { return len(r.problems) >= maxProblems }

// report adds a problem, with its place.
func (r *reader) report(at place, key, what string) {
	switch len(r.problems) {
	case maxProblems - 1:
		key, what = "", "there may be more problems; correct these first"
	case maxProblems:
		return
	}
	r.problems = append(r.problems, Problem{key, what, r.describe(at, key, what), at.line})
}

// Problem returns an error about a problem that another package found in the value of a key. Like the errors of Parse, it
// is one line with the place.
func (c *Config) Problem(key, what string) error {
	return errors.New(c.places.describe(c.places.place(key), key, what))
}

// reportKey reports a key that contradicts other keys, at the place where it was set. It does nothing if the key already
// has a problem.
func (r *reader) reportKey(key, what string) {
	if slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Key == key || p.Key == key+fileSuffix }) {
		return
	}
	r.report(r.place(key), key, what)
}

// err joins the problems, ordered by line. Problems without a line come first.
func (r *reader) err() error {
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.line, b.line) })
	var lines []error
	for _, p := range r.problems {
		lines = append(lines, errors.New(p.Text))
	}
	return errors.Join(lines...)
}

var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// reportYAMLError reports a YAML syntax error, with a fix for the common mistakes.
func (r *reader) reportYAMLError(data []byte, err error) {
	at, what := place{line: 1}, err.Error()
	if m := yamlError.FindStringSubmatch(what); m != nil {
		what = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			at.line = n
		}
	}
	if strings.Contains(what, "did not find expected") || strings.Contains(what, "could not find expected") {
		at.line = firstBadLine(data, at.line) // the parser names the line where the block begins
	}
	fix := "look for a missing colon, quote or wrong indentation in this line or the next"
	switch {
	case strings.Contains(what, "tab character"):
		fix = "indent by spaces, in this line or the next"
	case strings.Contains(what, "cannot start any token"):
		fix = "a value that begins with @ or a special character needs quotes, and lines are indented by spaces, not tabs"
	case strings.HasPrefix(what, "unknown anchor"): // the text would quote the value, which may be a secret
		what, fix = "a value begins with *", "put it in quotes"
	case strings.Contains(what, "mapping values are not allowed"):
		fix = "a value that holds \": \" needs quotes, and keys of one section start in the same column"
	}
	r.report(at, "", "is not YAML: "+what+"; "+fix)
}

// maxCheckedLines is the maximum number of lines of a file in which firstBadLine looks.
const maxCheckedLines = 2000

// firstBadLine returns the line from which on a file is not YAML: the lines before it are. It returns named for a file
// that is too long to look.
func firstBadLine(data []byte, named int) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) > maxCheckedLines {
		return named
	}
	size := len(data)
	for n := len(lines); n > 0; n-- {
		size -= len(lines[n-1])
		var node yaml.Node
		if yaml.Unmarshal(data[:size], &node) == nil {
			return n
		}
	}
	return named
}
