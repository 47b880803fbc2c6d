package setup

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrompt_EnterKeepsValidValue(t *testing.T) {
	t.Parallel()
	in, keys, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	_, err = keys.WriteString("\n\n@anna:example.org\n")
	require.NoError(t, err)
	require.NoError(t, keys.Close())
	var out bytes.Buffer
	p := newPrompts(in, &out)
	answer, err := p.Ask(t.Context(), Question{Title: "Owner", Default: "@an\u200bna:example.org", Check: func(s string) error {
		return checkOwner(s, "example.org")
	}})
	require.NoError(t, err)
	require.Equal(t, "@anna:example.org", answer)
	_, err = p.Ask(t.Context(), Question{Title: "Name"})
	require.ErrorIs(t, err, ErrAborted, "the input has ended")
	require.Contains(t, out.String(), `@an\u200Bna:example.org has characters that do not show`)
	require.Contains(t, out.String(), `[@an\u200Bna:example.org] > `, "what does not show is written out")
}
