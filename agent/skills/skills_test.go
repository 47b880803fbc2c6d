package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func names(all []Skill) (list []string) {
	for _, s := range all {
		list = append(list, s.Name)
	}
	return list
}

func every(string) bool { return true }

func TestSkills_DefaultsMatchSource(t *testing.T) {
	t.Parallel()
	s := Open("", map[string]string{"capture": "Write down what was decided."}, false)
	all := s.All("")
	require.Equal(t, []string{"admin", "capture", "customer-support", "files", "shell"}, names(all))
	for _, skill := range all {
		require.Empty(t, skill.Problem, skill.Name)
		require.Equal(t, FromBuiltIn, skill.From)
	}
	require.Equal(t, []string{"customer-support"}, names(s.ForAnswer("", nil, false, every)))
	support := s.ForAnswer("", nil, false, every)[0]
	require.True(t, support.Limited)
	require.Equal(t, []string{"search_docs", "recall_memory", "escalate"}, support.Actions)
	require.Equal(t, []string{"admin", "files"}, names(s.ForAnswer("", nil, true, func(tool string) bool {
		return tool != "exec"
	})), "without exec there is nothing to say about a shell")
}

func TestSkills_AgentsOwnReplaceShared(t *testing.T) {
	t.Parallel()
	shared, work := t.TempDir(), t.TempDir()
	s := Open(shared, nil, false)
	of := func() Skill { return s.Get(work, "customer-support") }
	require.Equal(t, FromBuiltIn, of().From)
	write(t, filepath.Join(shared, "customer-support.md"), "---\nroles: public\n---\nShared.\n")
	require.Equal(t, "Shared.", of().Text, "from the next answer on")
	write(t, filepath.Join(work, "skills", "customer-support.md"), "---\nroles: [public]\n---\nIts own.\n")
	require.Equal(t, "Its own.", of().Text)
	require.NoError(t, os.Remove(filepath.Join(work, "skills", "customer-support.md")))
	require.Equal(t, "Shared.", of().Text)
}

func TestSkills_LongAreCut(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	write(t, filepath.Join(work, "skills", "long.md"), "---\nroles: admin\n---\n"+strings.Repeat("word ", 4000))
	write(t, filepath.Join(work, "skills", "broken.md"), "---\nroles: everybody\n---\nx")
	write(t, filepath.Join(work, "skills", "open.md"), "---\nroles: admin\nx")
	write(t, filepath.Join(work, "secret.md"), "a secret")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(work, "skills", "link.md")))
	s := Open("", nil, false)
	text := PromptText(s.ForAnswer(work, []string{"long", "broken", "open", "link", "absent"}, true, every))
	require.Contains(t, text, "[long.md is cut here: 8000 of 20021 bytes]")
	require.Contains(t, text, `[the skill broken is missing: roles: "everybody" is none; write admin, public, or both]`)
	require.Contains(t, text, "[the skill open is missing: its head has no end")
	require.Contains(t, text, "[the skill link is missing: it cannot be read]", "a link out of the folder")
	require.Contains(t, text, "[the skill absent is missing: it is not there]")
	require.NotContains(t, text, "root:")
	require.NotContains(t, PromptText(s.ForAnswer(work, nil, true, every)), "broken", "one that nobody asked for is not missed")
	require.LessOrEqual(t, len(text), maxPromptText+1000)
}

func TestHeader_Forms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Skill{
		"Just text.": {ForOwner: true, Text: "Just text."},
		"---\nroles: public + user:$chatId\nactions: none\n---\nx": {
			ForContact: true, Limited: true, Actions: []string{},
			Text: "x",
		},
		"---\r\nroles: [admin, public]\r\nallowed_urls: a.example, b.example\r\n---\r\nx": {
			ForOwner: true, ForContact: true,
			URLs: []string{"a.example", "b.example"}, Text: "x",
		},
		"---\nroles: admin\nactions: all\nmemory_rules: {visible: none}\n---\nx": {
			ForOwner: true, Actions: []string{}, NoMemory: true,
			Text: "x",
		},
		"---\n---\nx": {Text: "x"},
	} {
		want.Name, want.From = "a", FromShared
		got := parse("a", text, FromShared)
		require.Equal(t, want, got, text)
	}
	for text, problem := range map[string]string{
		"---\nname: b\n---\nx":                      "calls itself",
		"---\nroles: {a: b}\n---\nx":                "cannot be read",
		"---\nmemory_rules: {visible: all}\n---\nx": "own or none",
	} {
		require.Contains(t, parse("a", text, FromShared).Problem, problem, text)
	}
}

func TestSkills_OfFirstMultisLoad(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	write(t, filepath.Join(shared, "customer-support.md"), `---
name: customer-support
description: Handle customer queries from business-mode chats
roles: public + user:$chatId
escalation: true
allowed_urls: from config
actions: none
memory_rules:
  capture: true
  index: true
  visible: own
---

Answer from the knowledge base only. Cite sources.
`)
	write(t, filepath.Join(shared, "admin.md"),
		"---\nname: admin\nroles: kb + admin + user:*\nactions: exec, read, index, cron, all\n---\nThe owner asks.\n")
	write(t, filepath.Join(shared, "desk.md"), "---\nroles: kb + admin\nactions: ask, search only\nescalation: false\n---\nx")
	s := Open(shared, nil, false)
	support := s.Get("", "customer-support")
	require.Equal(t, Skill{
		Name:        "customer-support",
		Description: "Handle customer queries from business-mode chats",
		ForContact:  true,
		Limited:     true,
		Actions:     []string{"escalate"},
		Text:        "Answer from the knowledge base only. Cite sources.",
		From:        FromShared,
	}, support)
	admin := s.Get("", "admin")
	require.True(t, admin.ForOwner && !admin.ForContact && !admin.Limited, "%+v", admin)
	require.Empty(t, admin.Problem)
	require.Empty(t, admin.Warnings)
	desk := s.Get("", "desk")
	require.True(t, desk.ForOwner && !desk.ForContact, "the knowledge base is what is read, not who asks")
	require.Equal(t, []string{"search_docs", "recall_memory"}, desk.Actions)
	require.True(t, desk.NoEscalation)
}

func TestSkills_BrokenFileReplacesNothing(t *testing.T) {
	t.Parallel()
	shared, work := t.TempDir(), t.TempDir()
	s := Open(shared, nil, false)
	of := func() Skill { return s.Get(work, "customer-support") }
	write(t, filepath.Join(shared, "customer-support.md"),
		"---\nroles: public\ncolour: red\nmemory_rules: {visible: own, depth: 3, capture: false}\n---\nShared.\n")
	require.Equal(t, "Shared.", of().Text)
	require.Equal(t, []string{
		"memory_rules.capture: false changes nothing: every chat that is not off is remembered", `"colour" in its head means nothing here`,
		`"memory_rules.depth" in its head means nothing here`,
	}, of().Warnings)

	write(t, filepath.Join(work, "skills", "customer-support.md"), "---\nroles: [everybody]\n---\nIts own.\n")
	require.Equal(t, "Shared.", of().Text)
	require.Contains(t, of().Warnings[3], "the agent file of that name is not used: roles: \"everybody\" is none")

	write(t, filepath.Join(shared, "customer-support.md"), "---\nroles: public\n")
	support := of()
	require.Equal(t, FromBuiltIn, support.From, "the built-in one")
	require.Empty(t, support.Problem)
	require.Len(t, support.Warnings, 2)
	require.True(t, support.ForContact && support.Limited)
	require.Equal(t, []string{"customer-support"}, names(s.ForAnswer(work, nil, false, every)), "and it is used")
}

// A command may write files of its workspace that nobody is shown.
func TestSkill_WritableGrantsNothing(t *testing.T) {
	t.Parallel()
	shared, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(shared, "desk.md"), "---\nroles: owner\nactions: [search_docs]\n---\nShared.\n")
	write(t, filepath.Join(work, "skills", "desk.md"), "---\nroles: owner\n---\nIts own.\n")
	write(t, filepath.Join(work, "skills", "files.md"), "---\nroles: owner\n---\nIts own.\n")
	write(t, filepath.Join(work, "skills", "news.md"), "---\nroles: owner\nallowed_urls: [evil.example]\n---\nIts own.\n")
	free := Open(shared, nil, false)
	require.Equal(t, "Its own.", free.Get(work, "desk").Text)
	require.Equal(t, []string{"evil.example"}, free.Get(work, "news").URLs)

	s := Open(shared, nil, true)
	desk := s.Get(work, "desk")
	files := s.Get(work, "files")
	news := s.Get(work, "news")
	require.Equal(t, "Shared.", desk.Text)
	require.Equal(t, []string{"search_docs"}, desk.Actions, "its limits stay")
	require.Contains(t, desk.Warnings[0], "the agent file of that name is not used: agents can write it")
	require.Equal(t, FromBuiltIn, files.From)
	require.Equal(t, "Its own.", news.Text)
	require.Empty(t, news.URLs)
	require.Contains(t, news.Warnings[0], "its allowed_urls have no effect, because agents can write it")
	require.Contains(t, names(s.ForAnswer(work, nil, true, every)), "news")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "---\nroles: [admin]\n---\nx", "---\n&a [*a]\n---\n", "---\nactions: {}\n---",
		"\ufeff---\r\n---\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := parse("a", text, FromShared)
		require.Equal(t, "a", s.Name)
		require.False(t, s.Problem != "" && (s.Text != "" || s.ForOwner || s.ForContact), "what is wrong is not used")
	})
}
