package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm/llmtest"
)

const aKey = "a-key-of-this-test"

// longQuestions lists the questions where nothing is found by itself and every model is chosen, each with an answer. Only
// those from the model on need servers.
func longQuestions(homeserver string) [][2]string {
	return [][2]string{
		{"The address of your homeserver", homeserver},
		{"The domain of your homeserver", "example.org"},
		{"What should multis do in new chats?", ""},
		{"The name of your assistant", ""},
		{"The language model", "3"},
		{"The name of the model", ""},
		{"The API key", aKey},
		{"Search by meaning", "4"},
		{"The name of the model", "meanings"},
		{"The address of the server", ""},
		{"Voice notes", "2"},
		{"The name of the model", ""},
		{"The API key", ""},
		{"Write it?", "n"},
	}
}

// inForm returns the keys that give an answer in a form with cursor keys: an option is chosen by moving down to it, and a
// default text is removed first.
func inForm(question, answer string) string {
	n, err := strconv.Atoi(answer)
	switch {
	case err == nil:
		down := ""
		for range n - 1 {
			down += "j"
		}
		return down
	case question == "Write it?" || answer == "":
		return answer
	default:
		return "\x15" + answer
	}
}

// stops returns the questions at which a test stops: some, beginning with a random one, and the last.
func stops(questions int) (at []int) {
	for stop := rand.IntN(stopEvery); stop < questions-1; stop += stopEvery {
		at = append(at, stop)
	}
	return append(at, questions-1)
}

func TestInit_StoppedAtModelWritesNothing(t *testing.T) {
	t.Parallel()
	homeserver, _ := newSynapse(t)
	synapse := filepath.Join(t.TempDir(), "homeserver.yaml")
	require.NoError(t, os.WriteFile(synapse, []byte("listeners: [{port: 1, resources: [{names: [client]}]}]\n"), 0o600))
	model := llmtest.Start(t, llmtest.Say("ready"))
	meanings := llmtest.StartEmbeddings(t, llmtest.Meanings(8, nil))
	speech := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{} })
	questions := longQuestions(homeserver)
	for _, term := range []string{"dumb", "xterm-256color"} {
		for _, stop := range stops(len(questions)) {
			dir := t.TempDir()
			s := startInit(t, term, dir, "--synapse", synapse, "--pair", "--wait", "10m",
				"MULTIS_LLM_BASE_URL="+model.URL, "MULTIS_LLM_LOCAL=true", "MULTIS_EMBEDDINGS_BASE_URL="+meanings.URL,
				"MULTIS_SPEECH_BASE_URL="+speech.URL)
			for _, q := range questions[:stop] {
				text := q[1]
				if term != "dumb" {
					text = inForm(q[0], text)
				}
				s.answer(q[0], text)
			}
			s.expect(questions[stop][0])
			if stop == len(questions)-1 && term == "dumb" {
				s.typeIn("n\r")
			} else {
				s.typeIn("\x03")
			}
			require.Error(t, s.end())
			require.Contains(t, s.all(), "stopped; nothing was written", "%s: %s", term, questions[stop][0])
			require.NotContains(t, s.all(), aKey, "it is not shown")
			require.NotRegexp(t, "[^\r]\n", s.raw, "each line begins at the left edge")
			require.Empty(t, filesIn(t, dir), "%s: %s", term, questions[stop][0])
		}
	}
}

func TestInit_WritesChosenModels(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	model := llmtest.Start(t, llmtest.Say("ready"))
	meanings := llmtest.StartEmbeddings(t, llmtest.Meanings(8, nil))
	speech := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{} })
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--owner", "@anna:example.org", "--wait", "0", "--name", "Nora", "--profile",
		"personal",
		"MULTIS_LLM_BASE_URL="+model.URL, "MULTIS_LLM_LOCAL=true", "MULTIS_EMBEDDINGS_BASE_URL="+meanings.URL,
		"MULTIS_SPEECH_BASE_URL="+speech.URL)
	for _, q := range longQuestions("")[4:13] {
		s.answer(q[0], q[1])
	}
	s.answer("Write it?", "y")
	require.NoError(t, s.end(), s.all())
	for _, fact := range []string{
		`✓ llm          openai/gpt-5-mini says "ready" in `,
		"✓ embeddings   openai/meanings answers with 8 dimensions in ", "✓ speech       openai/whisper-1 answers in ",
	} {
		require.Contains(t, s.all(), fact)
	}
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, []string{"openai/gpt-5-mini", aKey, "openai/meanings", "openai/whisper-1", aKey},
		[]string{cfg.LLM.Model, cfg.LLM.APIKey.Value(), cfg.Embeddings.Model, cfg.Speech.Model, cfg.Speech.APIKey.Value()},
		"the second key is the first one, by Enter")
}

// Each question that setup can ask is in a list of questions at which the tests stop.
func TestInit_AsksEveryQuestion(t *testing.T) {
	t.Parallel()
	var asked []string
	for _, q := range slices.Concat(firstQuestions, longQuestions("")) {
		asked = append(asked, q[0])
	}
	asked = append(asked, repeatedQuestions...)
	files, err := filepath.Glob("../../ops/setup/*.go")
	require.NoError(t, err)
	var titles []string
	add := func(e ast.Expr) {
		if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING {
			title, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			titles = append(titles, title)
		}
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Title" {
					add(n.Value)
				}
			case *ast.CallExpr:
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "choose" {
					add(n.Args[2])
				} else if ok && method.Sel.Name == "Confirm" {
					add(n.Args[1])
				}
			}
			return true
		})
	}
	require.Len(t, titles, 14, "this test finds the questions in the code")
	for _, title := range titles {
		require.True(t, slices.ContainsFunc(asked, func(a string) bool { return strings.Contains(title, a) }), title)
	}
}
