package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/policy"
)

func TestInit_AsksAgainAfterInvalidAnswer(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0", "MULTIS_TIME_ZONE=Europe/Berlin")
	s.answer("Your Matrix id", "@multis:example.org")
	s.expect("✗ owner: is the assistant's own user")
	s.answer("Your Matrix id", "@an na:example.org")
	s.expect("✗ owner: \"@an na:example.org\" is not a Matrix id")
	s.answer("Your Matrix id", "@anna:example.org")
	s.answer("What should multis do in new chats?", "")
	for _, name := range []string{"A", strings.Repeat("n", 101), "[Nora]", "42"} {
		s.answer("The name of your assistant", name)
		s.expect("✗ name: ")
	}
	s.answer("The name of your assistant", "Ada")
	s.answer("The language model", "own")
	s.answer("The name of the model", "a b")
	s.expect("is not a model")
	s.typeIn("small\r")
	s.answer("The address of the server", "nowhere")
	s.expect("is not a web address")
	s.typeIn("http://127.0.0.1:1/v1\r")
	s.expect("✗ llm ")
	s.answer("The language model", "none")
	s.answer("Search by meaning", "openai")
	s.answer("The name of the model", "")
	s.answer("The API key", "two words")
	s.expect("copy the token again")
	s.typeIn("a-key\r")
	s.expect("✗ embeddings ")
	s.answer("Search by meaning", "none")
	s.answer("Voice notes", "")
	s.answer("Write it?", "")
	require.NoError(t, s.end(), s.all())
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Ada", cfg.Name)
}

func TestInit_GoesBack(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0", "MULTIS_TIME_ZONE=Europe/Berlin")
	s.expect("To go back to the question before, type b")
	for _, q := range [][2]string{
		{"Your Matrix id", "b"},
		{"This is the first question.", "@anna:example.org"},
		{"What should multis do in new chats?", "business"},
		{"The name of your assistant", "Adda"},
		{"The language model", "back"},
		{"[Adda]", "B"},
		{"[2]", "personal"},
		{"[Adda]", "Ada"},
		{"The language model", "own"},
		{"The name of the model", "b"},
		{"The language model", "none"},
		{"Search by meaning", "none"},
		{"Voice notes", "none"},
		{"Write it?", "b"},
		{"Voice notes", "none"},
	} {
		s.answer(q[0], q[1])
	}
	for _, line := range []string{
		"Your multis:", "owner        @anna:example.org", "time zone    Europe/Berlin", "new chats    personal", "name         Ada\n",
		"database     multis runs its own Postgres", "model        none",
	} {
		s.expect(line)
	}
	s.answer("Write it?", "")
	require.NoError(t, s.end(), s.all())
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Ada", cfg.Name)
	require.Equal(t, policy.ProfilePersonal, cfg.Chats.Profile)
}

// Where there are cursor keys, Shift-Tab goes back, b does so where it is no beginning of a text, and a b as a text does.
func TestInit_GoesBackInForms(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	dir := openFolder(t)
	s := startInit(t, "xterm-256color", dir, "--synapse", synapse, "--wait", "0", "--profile", "personal", "--model", "none",
		"MULTIS_TIME_ZONE=Europe/Berlin")
	s.answer("Your Matrix id", "@anna:example.org")
	s.expect("The name of your assistant")
	s.typeIn("\x1b[Z")
	s.answer("Your Matrix id", "")
	s.answer("The name of your assistant", "\x15Ada")
	s.expect("Search by meaning")
	s.typeIn("b")
	s.answer("The name of your assistant", "\x15b")
	s.answer("Your Matrix id", "")
	s.answer("The name of your assistant", "")
	s.answer("Search by meaning", "")
	s.answer("Voice notes", "")
	s.answer("Write it?", "")
	require.NoError(t, s.end(), s.all())
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Ada", cfg.Name)
	require.Equal(t, "@anna:example.org", cfg.Owner.String())
}

func TestInit_RefusesInvalidFlag(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	for flag, complaint := range map[string]string{
		"--name=A":                       "write 2 to 100 characters",
		"--model=haiku":                  "llm.model: \"haiku\" is not a model",
		"--set=budget.per_day=much":      "budget.per_day: ",
		"--set=chats.burst_quiet=1000h":  "chats.burst_max: is shorter than burst_quiet",
		"--set=appservice.port=70000000": "appservice.port: ",
	} {
		dir := t.TempDir()
		s := startInit(t, "dumb", dir, "--synapse", synapse, "--yes", "--owner", "@anna:example.org", "--wait", "0", flag)
		require.Error(t, s.end(), flag)
		require.Contains(t, s.all(), complaint)
		require.Empty(t, filesIn(t, dir))
	}
	s := startInit(t, "dumb", t.TempDir(), "--synapse", synapse, "--set", "budget.per_day=much", "--wait", "0")
	require.Error(t, s.end())
	require.NotContains(t, s.all(), "Your Matrix id", "it is refused before the first question")
}
