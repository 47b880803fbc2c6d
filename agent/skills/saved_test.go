package skills

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSavedTask_Forms(t *testing.T) {
	t.Parallel()
	require.Equal(t, SavedTask{
		Name:   "a",
		Prompt: "Look around.\nTell me.",
		Agent:  "shop",
		Tools:  []string{"search_*", "fetch_url"},
		Target: "Ana · WhatsApp",
	},
		parseSaved("a", "agent: shop\nprompt: |\n  Look around.\n  Tell me.\ntools: [search_*, fetch_url]\ntarget: Ana · WhatsApp\n"))
	require.Equal(t, SavedTask{Name: "a", Prompt: "x", Tools: []string{}}, parseSaved("a", "\ufeffprompt: x\ntools: []\nagent:\n"))
	require.Nil(t, parseSaved("a", "prompt: x").Tools)
	for text, problem := range map[string]string{
		"":                           `it has no keys; write "prompt: what to do"`,
		"- a":                        `it has no keys; write "prompt: what to do"`,
		"agent: x":                   `prompt is missing; write "prompt: what to do"`,
		"prompt: ~":                  `prompt is missing; write "prompt: what to do"`,
		"prompt: x\nprompts: y":      "line 2: prompts is none of its keys; there are prompt, agent, tools and target",
		"prompt: x\nprompt: y":       "line 2: prompt is set a second time; keep one",
		"prompt: [x]":                "line 1: prompt is not a text; write it on one line, or below prompt: |",
		"prompt: x\ntools: all":      "line 2: tools is not a list; write [search_docs, fetch_url], or [] for none",
		"prompt: x\ntools:\n- [a]":   `line 3: "" is no name of a tool; /tools lists them`,
		"prompt: x\ntools: ['[a']":   `line 2: "[a" is no name of a tool; /tools lists them`,
		"prompt: 'x\n":               "it is not YAML: line 2: found unexpected end of stream",
		"prompt: " + long(maxPrompt): "prompt is too long: at most 4000 bytes",
	} {
		require.Equal(t, SavedTask{Name: "a", Problem: problem}, parseSaved("a", text), text)
	}
}

func long(n int) string { return strings.Repeat("x", n+1) }

func TestSavedTasks_OfFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Empty(t, ReadSavedTasks(filepath.Join(dir, "absent")))
	write(t, filepath.Join(dir, "week.yaml"), "prompt: Sum up the week.\n")
	write(t, filepath.Join(dir, "week.yml"), "prompt: Sum it up otherwise.\n")
	write(t, filepath.Join(dir, "long.yaml"), "prompt: "+long(maxText))
	write(t, filepath.Join(dir, "notes.txt"), "prompt: x")
	write(t, filepath.Join(dir, ".hidden.yaml"), "prompt: x")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link.yaml")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600), "nobody ever writes into it")
	require.Equal(t, []SavedTask{
		{Name: "link", Problem: "it cannot be read"},
		{Name: "long", Problem: "it is too long: at most 8000 bytes"},
		{Name: "pipe", Problem: "it cannot be read"},
		{Name: "week", Prompt: "Sum up the week."},
		{Name: "week", Problem: "there is another file of that name; keep one"},
	}, ReadSavedTasks(dir))
}

func FuzzSaved(f *testing.F) {
	for _, seed := range []string{
		"", "prompt: x\ntools: [a, b]", "prompt: &a x\nagent: *a", "tools: &a [*a]", "? [a]\n: b",
		"prompt: !!binary eA==", "a: b\n---\nc: d", "prompt: |\n  x\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := parseSaved("a", text)
		require.Equal(t, "a", s.Name)
		require.NotEqual(t, s.Prompt == "", s.Problem == "", "it can be begun, or says why not")
		require.NotContains(t, s.Problem+s.Agent+s.Target, "\n")
	})
}
