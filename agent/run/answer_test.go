package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseAnswer(f *testing.F) {
	f.Add(`{"sentences":[{"text":"a","source":1,"quote":"b"}]}`)
	f.Add("```json\n{}\n```")
	f.Add(`}{`)
	f.Fuzz(func(t *testing.T, text string) {
		answer, err := ParseAnswer(text)
		if err != nil {
			require.Empty(t, answer.Sentences)
		}
	})
}

func TestParseAnswer_TakesMarksAndNothings(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Answer{
		`{"sentences": [{"text": "It is 5 euro [1.2].", "cite": []}]}`:             {Sentences: []Sentence{{Text: "It is 5 euro.", Cite: []string{" [1.2]"}}}},
		`{"sentences": [{"text": "It is 5 euro. [1.2, 1.3]", "cite": ["1.4"]}]}`:   {Sentences: []Sentence{{Text: "It is 5 euro.", Cite: []string{"1.4"}}}},
		`{"sentences": [{"text": "It is (16.50)", "cite": []}]}`:                   {Sentences: []Sentence{{Text: "It is (16.50)"}}},
		`{"sentences": [{"text": "Yes.", "cite": ["1.1"]}], "open": "None."}`:      {Sentences: []Sentence{{Text: "Yes.", Cite: []string{"1.1"}}}},
		`{"sentences": [{"text": "Yes.", "cite": ["1.1"]}], "open": "N/A"}`:        {Sentences: []Sentence{{Text: "Yes.", Cite: []string{"1.1"}}}},
		`{"sentences": [{"text": "Yes.", "cite": ["1.1"]}], "open": "no idea of"}`: {Sentences: []Sentence{{Text: "Yes.", Cite: []string{"1.1"}}}, Open: "no idea of"},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			got, err := ParseAnswer(said)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestParseAnswer_Streaming(t *testing.T) {
	t.Parallel()
	whole := `{"sentences": [{"text": "It is \"5\" euro.", "source": 1, "quote": "x"}, {"text": "Really.", "source": 0, "quote": ""}]}`
	require.Equal(t, `It is "5" euro. Really.`, partialText(whole))
	require.Equal(t, `It is "5" eu`, partialText(whole[:strings.Index(whole, "ro.")]))
	require.Empty(t, partialText("plain words"), "they may be thoughts")
	require.Empty(t, partialText(`<think>{"text": "The owner`))
	require.Equal(t, "It", partialText(`<think>{"text": "The owner"}</think>{"text": "It`))
	for i := range whole {
		require.True(t, strings.HasPrefix(`It is "5" euro. Really.`, partialText(whole[:i])), whole[:i])
	}
}
