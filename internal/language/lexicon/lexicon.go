// Package lexicon holds the vocabulary of the languages as data: a folder for each language, named by its ISO 639-1 code,
// a file for each topic, and in it a row for each concept. Code asks for a concept, such as the words that deny, and gets
// its words in all languages, so that a language is added with a folder. README.md lists the topics.
package lexicon

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed */*.txt
var files embed.FS

// Row is a concept with its words in one language.
type Row struct {
	Concept string
	Text    string
}

// Words returns the words and phrases of a row, which commas separate.
func (r Row) Words() []string {
	words := strings.Split(r.Text, ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words
}

// topics has each topic that was asked for: a function that returns its rows by language.
var topics sync.Map

// read parses the files of a topic when it is asked for the first time: a program that only prints its version reads few.
// The files are part of the program, so that an error is a mistake in the program; a test reads them all.
func read(topic string) map[string][]Row {
	parsed, _ := topics.LoadOrStore(topic, sync.OnceValue(func() map[string][]Row {
		byLanguage, err := parseTopic(files, topic)
		if err != nil {
			panic(err)
		}
		return byLanguage
	}))
	return parsed.(func() map[string][]Row)() //nolint:forcetypeassert // nothing else is stored
}

// parseTopic parses the files of a topic, and returns its rows by language.
func parseTopic(dir fs.FS, topic string) (map[string][]Row, error) {
	names, err := fs.Glob(dir, "*/"+topic+".txt")
	if err != nil {
		return nil, fmt.Errorf("list the lexicon: %w", err)
	}
	byLanguage := map[string][]Row{}
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("read the lexicon: %w", err)
		}
		rows, err := parse(name, string(data))
		if err != nil {
			return nil, err
		}
		byLanguage[path.Dir(name)] = rows
	}
	return byLanguage, nil
}

// conceptForm matches the name of a concept.
var conceptForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_.]*$`)

// parse parses a file. A row is "concept: word, word"; a line that begins with a space continues it. Empty lines and
// those with # are left out.
func parse(name, data string) ([]Row, error) {
	var rows []Row
	number := 0
	for line := range strings.Lines(data) {
		number++
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case strings.HasPrefix(line, " ") && len(rows) == 0:
			return nil, fmt.Errorf("%s:%d: %.60q continues no row", name, number, text)
		case strings.HasPrefix(line, " "):
			rows[len(rows)-1].Text += " " + text
			continue
		}
		concept, words, found := strings.Cut(text, ":")
		words = strings.TrimSpace(words)
		switch {
		case !found || words == "":
			return nil, fmt.Errorf("%s:%d: %.60q is no row; write it like \"concept: word, word\"", name, number, text)
		case !conceptForm.MatchString(concept):
			return nil, fmt.Errorf("%s:%d: %.60q is no name of a concept; write it in small letters", name, number, concept)
		case slices.ContainsFunc(rows, func(r Row) bool { return r.Concept == concept }):
			return nil, fmt.Errorf("%s:%d: the row %s stands there twice", name, number, concept)
		}
		rows = append(rows, Row{Concept: concept, Text: words})
	}
	return rows, nil
}

// Languages returns the codes of the languages that have a topic, in alphabetical order.
func Languages(topic string) []string {
	return slices.Sorted(maps.Keys(read(topic)))
}

// Rows returns the rows of a topic in one language, in their order; none if the language does not have the topic.
func Rows(language, topic string) []Row { return read(topic)[language] }

// Text returns the text of a concept in one language; empty if the language does not have it.
func Text(language, topic, concept string) string {
	for _, r := range Rows(language, topic) {
		if r.Concept == concept {
			return r.Text
		}
	}
	return ""
}

// In returns the words of a concept in one language; none if the language does not have it.
func In(language, topic, concept string) []string {
	text := Text(language, topic, concept)
	if text == "" {
		return nil
	}
	return Row{Text: text}.Words()
}

// Words returns the words of a concept in all languages. It panics if no language has the concept, because its name is misspelt then.
func Words(topic, concept string) []string {
	var words []string
	for _, language := range Languages(topic) {
		words = append(words, In(language, topic, concept)...)
	}
	if words == nil {
		panic("lexicon: no language has " + topic + " " + concept)
	}
	return words
}
