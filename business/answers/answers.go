// Package answers keeps the owner's own answers: canned ones, and those that people gave to questions which no document
// answered. Both are also stored as documents, so that contacts are answered from them as from any other document. It
// compares what multis would have answered with what the owner wrote.
package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// The origins of the documents that are made here. The last two have learned answers, with words of contacts and
// operators, so index.AnyForeign counts them as foreign.
const (
	cannedOrigin  = "answers:canned"
	hoursOrigin   = "answers:hours"
	publicOrigin  = "answers:public"
	privateOrigin = "answers:private"
)

// Variables are the values of the variables in canned answers. The contact's name is an argument of Fill.
type Variables struct {
	Business string // {business}
	Hours    string // {hours}, as the configuration has them, with the next holidays; customers are also answered from them
	// OpeningHours are the same, with the holidays.
	OpeningHours hours.Hours
	// Language is that of answers which are too short to tell.
	Language catalog.Lang
}

// Keeper keeps the owner's answers.
type Keeper struct {
	Store     *store.Store
	Search    *search.Searcher
	Library   *knowledge.Library
	Variables Variables
	Defaults  policy.Defaults // they say which chats are business chats
	Judge     Judge           // nil without a model
}

// Judge says what a comparison of words does not tell.
type Judge interface {
	// Contradicts reports whether a person's answer to a question contradicts what a document says.
	Contradicts(ctx context.Context, chat store.ChatID, question, said, answer string) (bool, error)
}

// Limits of the texts, in characters, and of their number.
const (
	MaxQuestion = 200
	MaxAnswer   = 1500
	MaxCanned   = 200
)

// CleanQuestion returns a question as it is stored: on one line, and without markup, because it becomes a heading.
func CleanQuestion(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("#*_`~[]<>|\\", r) {
			return ' '
		}
		return r
	}, s)
	return text.Clip(text.OneLine(s), MaxQuestion)
}

// blockTag matches the beginning of HTML that Markdown does not end at an empty line.
var blockTag = regexp.MustCompile(`(?i)^<(?:[!?]|script|pre|style|textarea)`)

// CleanAnswer returns an answer as it is stored: without invisible characters, and without lines that would be headings
// of a document, or begin a block that hides those of other answers.
func CleanAnswer(s string) string {
	var lines []string
	for line := range strings.SplitSeq(text.Clean(s), "\n") {
		line = strings.TrimLeft(strings.TrimSpace(line), "#> ")
		for text.IsFence(line) || blockTag.MatchString(line) { // would go on to the end of the document
			line = strings.TrimLeft(line, "`~<# ")
		}
		if strings.Trim(line, "=-") != "" || line == "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// addressInName finds what a client shows as a link in a name, such as "evil.example". "J. R. Smith" and "J.R.R. Tolkien"
// have none, nor has "Ann St.-John".
var addressInName = regexp.MustCompile(`\.[\p{L}\p{M}\p{N}][^\s.]`)

// isPlainName reports whether a name has letters, their accents and vowel signs, and the punctuation of names only. A
// contact chooses it, and must not put a text of his own, a link or a sign that steers the writing into an answer.
func isPlainName(name string) bool {
	if addressInName.MatchString(name) || text.Clean(name) != name {
		return false
	}
	marks := 0 // in a row
	for _, r := range name {
		switch {
		case r == '\u200c' || r == '\u200d': // joins letters of Persian and Hindi; elsewhere Clean has removed it
		case text.IsInvisible(r), unicode.Is(unicode.Me, r):
			return false
		case unicode.IsMark(r):
			if marks++; marks > maxMarks {
				return false
			}
			continue
		case !unicode.IsLetter(r) && !unicode.IsSpace(r) && !strings.ContainsRune("-'.’‘`´·‐‑", r):
			return false
		}
		marks = 0
	}
	return true
}

// maxMarks is the maximum number of marks on one letter. Vietnamese and the scripts of India have three at most.
const maxMarks = 4

// variable matches what looks like a variable in a canned answer.
var variable = regexp.MustCompile(`\{\s*[\p{L}_]+\s*\}`)

// The variables of canned answers.
const (
	nameVariable     = "{name}"
	hoursVariable    = "{hours}"
	businessVariable = "{business}"
)

// UnknownVariable returns the first part of a canned answer that looks like a variable and is none, so that a customer
// would read it; empty for none.
func UnknownVariable(answer string) string {
	for _, v := range variable.FindAllString(answer, -1) {
		if !slices.Contains([]string{nameVariable, hoursVariable, businessVariable}, v) {
			return v
		}
	}
	return ""
}

// Fill returns a canned answer for a contact with its variables replaced: the opening hours with words in the language of
// the answer. An empty name leaves the name out.
func (v Variables) Fill(answer, name string) string {
	if !isPlainName(name) {
		name = ""
	}
	open := catalog.FormatHours(catalog.DetectLanguage([]string{answer}, v.Language), v.Hours, v.closedDays())
	filled := strings.NewReplacer(nameVariable, text.Clip(text.OneLine(name), 60), hoursVariable, open, businessVariable,
		v.Business).Replace(answer)
	if name != "" {
		return filled
	}
	var lines []string
	for line := range strings.SplitSeq(filled, "\n") {
		line = strings.NewReplacer(" ,", ",", " !", "!", " .", ".").Replace(text.CollapseSpaces(line))
		lines = append(lines, strings.TrimLeft(line, ",!. "))
	}
	return strings.Join(lines, "\n")
}

// closedDays returns the holidays that are told with the opening hours.
func (v Variables) closedDays() []time.Time {
	return v.OpeningHours.ClosedDays(time.Now(), holidaysAhead, maxHolidays)
}

// Publish rewrites the documents of the answers. It may run several times, even concurrently: it repeats until what it wrote is up to date.
func (b *Keeper) Publish(ctx context.Context) error {
	for {
		before, err := b.documents(ctx)
		if err != nil {
			return err
		}
		for _, d := range before {
			if err := b.write(ctx, d); err != nil {
				return err
			}
		}
		after, err := b.documents(ctx)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			return nil
		}
	}
}

// document is a document of answers. It is removed if it has no text.
type document struct {
	origin, name string
	role         policy.Role
	markdown     string
}

// documents returns the documents as they should be stored now.
func (b *Keeper) documents(ctx context.Context) ([]document, error) {
	canned, err := store.CannedAnswers(ctx, b.Store.DB())
	if err != nil {
		return nil, err
	}
	learned, err := store.LearnedAnswers(ctx, b.Store.DB())
	return []document{
		{cannedOrigin, "Standard answers.md", policy.RolePublic, b.cannedDocument(canned)},
		{hoursOrigin, catalog.HoursTitle(cmp.Or(b.Variables.Language, catalog.English)) + ".md", policy.RolePublic, b.hoursDocument()},
		{publicOrigin, "Answers.md", policy.RolePublic, learnedDocument(learned, policy.RolePublic)},
		{privateOrigin, "Answers (private).md", policy.RoleAdmin, learnedDocument(learned, policy.RoleAdmin)},
	}, err
}

// write indexes a document, or removes it if it is empty.
func (b *Keeper) write(ctx context.Context, d document) error {
	if d.markdown == "" {
		if err := b.Library.Remove(ctx, d.origin); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	}
	_, err := b.Library.Index(ctx, knowledge.File{
		Name:   d.name,
		Title:  strings.TrimSuffix(d.name, ".md"),
		Origin: d.origin,
		Type:   "text/markdown",
		Data:   []byte(d.markdown),
		Role:   d.role,
	})
	return err
}

// cannedDocument returns the canned answers as Markdown, a section each, without names of contacts.
func (b *Keeper) cannedDocument(list []store.CannedAnswer) string {
	var sections []string
	for _, a := range list {
		if b.Variables.Hours == "" && strings.Contains(a.Answer, hoursVariable) {
			continue // there is nothing to tell
		}
		sections = append(sections, fmt.Sprintf("## %s\n\n%s\n", a.Question, b.Variables.Fill(a.Answer, "")))
	}
	return strings.Join(sections, "\n")
}

// The holidays that are told with the opening hours: maxHolidays days of those within the next holidaysAhead days.
const (
	holidaysAhead = 14
	maxHolidays   = 10
)

// hoursDocument returns the opening hours as Markdown with the holidays of the next days; empty for a business that is
// always open. It is written again every few minutes, as all of these documents are.
func (b *Keeper) hoursDocument() string {
	if b.Variables.Hours == "" {
		return ""
	}
	return catalog.HoursDocument(b.Variables.Hours, b.Variables.closedDays())
}

// learnedDocument returns the learned answers of a role as Markdown: below each heading with its source and date, the
// question and its answer.
func learnedDocument(list []store.LearnedAnswer, role policy.Role) string {
	var sections []string
	for _, a := range list {
		if a.Role != role {
			continue
		}
		sections = append(sections, fmt.Sprintf("# From %s, %s\n\n## %s\n\n%s\n", answeredBy(a), a.AnsweredAt.UTC().Format("2 January 2006"),
			a.Question, a.Answer))
	}
	return strings.Join(sections, "\n")
}

// answeredBy names who gave a learned answer. Contacts and models read the public document, so it names nobody; the owner
// sees who it was in the private one.
func answeredBy(a store.LearnedAnswer) string {
	switch {
	case a.Role == policy.RolePublic:
		return "a person of the business"
	case a.Person == "":
		return "you"
	default:
		return a.Person.String()
	}
}

// Canned is a canned answer for a question of a contact.
type Canned struct {
	Number   int64
	Text     string // with its variables replaced
	Citation store.Citation
	Hit      search.Hit
}

// maxHits is how many passages are searched for. It is large because other documents may match better than the canned answers.
const maxHits = 50

// Find returns the canned answer to a question of a contact, in its own words or others for the same
// (policy.HoursWordings). It reports false if there is none. name is the contact's; empty for none.
func (b *Keeper) Find(ctx context.Context, question, name string) (Canned, bool, error) {
	for _, wording := range append([]string{question}, policy.HoursWordings(question)...) {
		canned, ok, err := b.find(ctx, wording, name)
		if err != nil {
			return canned, ok, err
		}
		if ok {
			return canned, ok, nil
		}
	}
	return Canned{}, false, nil
}

func (b *Keeper) find(ctx context.Context, question, name string) (Canned, bool, error) {
	doc, err := index.DocumentByOrigin(ctx, b.Store.DB(), cannedOrigin)
	if errors.Is(err, store.ErrNotFound) {
		return Canned{}, false, nil
	}
	if err != nil {
		return Canned{}, false, err
	}
	found, err := b.Search.AsContact(ctx, policy.PublicScope(), search.Query{
		Text:  question,
		Limit: maxHits,
		Kinds: []index.Kind{index.KindKnowledge},
	})
	if err != nil {
		return Canned{}, false, err
	}
	found.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return h.DocumentID != doc.ID })
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return Canned{}, false, nil
	}
	q, ok, err := b.Search.Answer(ctx, found)
	if err != nil {
		return Canned{}, false, err
	}
	if !ok {
		return Canned{}, false, nil
	}
	list, err := store.CannedAnswers(ctx, b.Store.DB())
	if err != nil {
		return Canned{}, false, err
	}
	i := slices.IndexFunc(list, func(a store.CannedAnswer) bool { return a.Question == q.Hit.Heading() })
	if i < 0 || !strings.Contains(text.CollapseSpaces(q.Hit.Text), text.CollapseSpaces(b.Variables.Fill(list[i].Answer, ""))) {
		return Canned{}, false, nil // the document is older than the table, or the answer is longer than a passage
	}
	return Canned{
		Number: list[i].ID, Text: b.Variables.Fill(list[i].Answer, name), Hit: q.Hit,
		Citation: store.Citation{Ref: q.Hit.Ref, Source: fmt.Sprintf("[your answer %d: %s]", list[i].ID, list[i].Question), Quote: q.Text},
	}, true, nil
}

// ByNumber returns a canned answer by its number for a contact, as a person sends it from a thread; or store.ErrNotFound. An empty name
// leaves the name out.
func (b *Keeper) ByNumber(ctx context.Context, number int64, name string) (string, error) {
	a, err := store.CannedAnswerByID(ctx, b.Store.DB(), number)
	if err != nil {
		return "", err
	}
	return b.Variables.Fill(a.Answer, name), nil
}
