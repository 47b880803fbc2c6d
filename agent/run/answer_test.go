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
