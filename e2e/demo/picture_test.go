package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPicture_ShowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	drawn := string(draw([]line{
		{"Ana (network)", "Is <b> & 😀 fine?"},
		{"multis (admin room)", "**Draft for Ana**\n\n> " + strings.Repeat("long words ", 20) + "\n\n`/why`"},
		{"you (on the card)", "👍"},
	}))
	var parsed struct {
		Texts []string `xml:"text"`
	}
	require.NoError(t, xml.Unmarshal([]byte(drawn), &parsed))
	require.Equal(t, "Ana (network)", parsed.Texts[0])
	require.Equal(t, "Is <b> & 😀 fine?", parsed.Texts[1])
	require.Contains(t, parsed.Texts, "Draft for Ana")
	require.Contains(t, parsed.Texts, "/why")
	require.Equal(t, 20, strings.Count(drawn, "long"))
	for _, words := range parsed.Texts {
		require.LessOrEqual(t, len([]rune(words)), letters)
	}
}

func TestPicture_KeepsOneWithSameWords(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(pictureDir, 0o750))
	path, err := writePicture("one.svg", []line{{"multis", "Open until Sun 29 Nov, 20:58."}})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(pictureDir, "one.svg"), path)
	first, err := os.ReadFile(path)
	require.NoError(t, err)

	_, err = writePicture("one.svg", []line{{"multis", "Open until Mon 30 Nov, 21:03."}})
	require.NoError(t, err)
	same, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, same)

	_, err = writePicture("one.svg", []line{{"multis", "Open until then."}})
	require.NoError(t, err)
	other, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(other), "Open until then.")
}
