package search_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// question is one of a contact, with what the quote must hold; want is empty if the documents do not answer it.
type question struct{ text, want string }

func readQuestions(t testing.TB, path ...string) (list []question) {
	for _, line := range readLines(t, path...) {
		text, want, _ := strings.Cut(line, "\t")
		list = append(list, question{text, want})
	}
	return list
}

// desk is a made-up business with questions of contacts.
type desk struct {
	name      string
	documents string // a pattern of files
	questions []question
	answered  int  // at least
	hours     bool // the document of the opening hours in ten languages is there as well
}

const hoursTitle = "Opening hours.md"

func (d desk) test(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexFiles(t, st, d.documents)
	if d.hours {
		_, err := knowledge.New(st).Index(t.Context(), knowledge.File{
			Name: hoursTitle,
			Data: []byte(catalog.HoursDocument("mon-fri 9-17", nil)),
			Role: policy.RolePublic,
		})
		require.NoError(t, err)
	}
	s := search.New(st)
	answered := 0
	askedBack := 0
	answerable := 0
	var wrong []string
	for _, q := range d.questions {
		if q.want != "" {
			answerable++
		}
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: q.text})
		require.NoError(t, err)
		quote, ok, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		if !ok {
			options, err := s.Options(t.Context(), found)
			require.NoError(t, err)
			if len(options) > 0 {
				askedBack++
			}
			continue
		}
		if quote.Hit.Title == hoursTitle {
			require.Regexp(t, "(?i)open|close|öffn|auf|heures|horaire|ouvert|ferme|abier|abre|cierr|hora", q.text)
			continue
		}
		answered++
		if q.want == "" || !containsAll(quote.Text, strings.Split(q.want, " | ")) {
			wrong = append(wrong, q.text+" -> "+quote.Text)
		}
		require.Contains(t, text.CollapseSpaces(quote.Hit.Text), text.CollapseSpaces(quote.Text))
	}
	t.Logf("%d of %d questions that the documents answer were answered, %d of all asked back, %d escalated", answered, answerable, askedBack,
		len(d.questions)-answered-askedBack)
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
	require.GreaterOrEqual(t, answered, d.answered)
}

// Fifty questions in each of four languages, to three made-up businesses, without a model: no quote may be wrong. The log
// says how many were answered.
func TestDesk_TwoHundredQuestions(t *testing.T) {
	t.Parallel()
	english := append(readQuestions(t, "testdata", "bakery", "answered.tsv")[:40],
		readQuestions(t, "testdata", "bakery", "unanswered.txt")[:10]...)
	for _, d := range []desk{
		{"bakery, English", filepath.Join("testdata", "bakery", "documents", "*"), english, 38, false},
		{"bakery, German", filepath.Join("testdata", "desk", "bakery.de.md"), readQuestions(t, "testdata", "desk", "bakery.de.tsv"), 39, false},
		{
			"guesthouse, French", filepath.Join("testdata", "desk", "guesthouse.fr.md"), readQuestions(t, "testdata", "desk", "guesthouse.fr.tsv"),
			39, false,
		},
		{
			"repair shop, Spanish", filepath.Join("testdata", "desk", "repair.es.md"), readQuestions(t, "testdata", "desk", "repair.es.tsv"), 40,
			false,
		},
	} {
		require.Len(t, d.questions, 50)
		t.Run(d.name, d.test)
		d.hours, d.answered = true, d.answered-3 // what is asked about the hours is answered from their document
		t.Run(d.name+", with opening hours", d.test)
	}
}

// The words of questions and answers in the languages were chosen by the 200 questions and by every other question of
// these businesses, the first one included. The rest tells how far they carry.
func TestDesk_UnseenQuestions(t *testing.T) {
	t.Parallel()
	for _, d := range []desk{
		{"music.de", "", nil, 8, false}, {"bakery.fr", "", nil, 10, false}, {"hotel.es", "", nil, 11, false},
	} {
		d.documents = filepath.Join("testdata", "desk", d.name+".md")
		for i, q := range readQuestions(t, "testdata", "desk", d.name+".tsv") {
			if i%2 == 1 {
				d.questions = append(d.questions, q)
			}
		}
		for _, q := range readQuestions(t, "testdata", "desk", "offtopic.tsv") {
			if q.text == d.name {
				d.questions = append(d.questions, question{text: q.want})
			}
		}
		t.Run(d.name, d.test)
	}
}

// Businesses in languages of which few words are known, beside the document of their opening hours in ten languages.
func TestDesk_OtherLanguages(t *testing.T) {
	t.Parallel()
	for _, d := range []desk{{name: "bakery.pt", answered: 10}, {name: "workshop.nl", answered: 11}, {name: "dentist.tr", answered: 9}} {
		d.documents, d.hours = filepath.Join("testdata", "desk", d.name+".md"), true
		d.questions = readQuestions(t, "testdata", "desk", d.name+".tsv")
		require.Len(t, d.questions, 20)
		t.Run(d.name, d.test)
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
