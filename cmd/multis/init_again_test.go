package main

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm/llmtest"
)

// newInstallation makes an installation with an external database and a model by multis init --yes. It returns its
// folder, the configuration of Synapse and the password of the database.
func newInstallation(t *testing.T) (dir, synapse, password string) {
	t.Helper()
	_, synapse = newSynapse(t)
	model := llmtest.Start(t, llmtest.Say("ready"))
	dsn, err := url.Parse(newDatabase(t, "init_elsewhere"))
	require.NoError(t, err)
	password = "a-password-of-this-test"
	dsn.User = url.UserPassword(dsn.User.Username(), password)
	dir = openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0", "--yes", "--owner", "@anna:example.org", "--database", dsn.String(),
		"--model", "openai/small", "--set", "llm.base_url="+model.URL, "--set", "llm.api_key=secret-key", "--set", "llm.local=true")
	require.NoError(t, s.end(), s.all())
	require.Contains(t, s.all(), "✓ database     postgres 1")
	require.Contains(t, s.all(), "✓ llm          openai/small says \"ready\"")
	require.NotContains(t, s.all(), password)
	require.NotContains(t, s.all(), "secret-key")
	return dir, synapse, password
}

// readFiles returns the files of a folder by name.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range filesIn(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil { // not a folder
			all[name] = string(text)
		}
	}
	return all
}

// repeatedQuestions lists the questions for a configuration that exists.
var repeatedQuestions = []string{
	"address of your homeserver", "Your Matrix id", "Your time zone", "in new chats", "name of your assistant", "The database",
	"The language model", "Search by meaning", "Voice notes",
}

func TestInitAgain_KeepsRemoteDatabase(t *testing.T) {
	t.Parallel()
	dir, synapse, password := newInstallation(t)
	before := readFiles(t, dir)
	for _, term := range []string{"dumb", "xterm-256color"} {
		for stop := range repeatedQuestions {
			s := startInit(t, term, dir, "--synapse", synapse, "--wait", "0")
			for _, q := range repeatedQuestions[:stop] {
				s.answer(q, "")
			}
			s.expect(repeatedQuestions[stop])
			s.typeIn("\x03")
			require.Error(t, s.end())
			require.Equal(t, before, readFiles(t, dir), "%s: %s", term, repeatedQuestions[stop])
		}
		s := startInit(t, term, dir, "--synapse", synapse, "--wait", "0")
		for _, q := range repeatedQuestions {
			s.answer(q, "")
		}
		s.expect("config.yaml stays as it is.")
		require.NoError(t, s.end(), s.all())
		require.Equal(t, before, readFiles(t, dir), "Enter keeps every value")
		require.NotContains(t, s.all(), password)
		require.NotContains(t, s.all(), "secret-key")
	}

	// The first run is stopped at the last question, the second one is completed: only that value changes.
	for _, last := range []string{"\x03", "y\r"} {
		s := startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0")
		for _, q := range repeatedQuestions {
			answer := ""
			if q == "name of your assistant" {
				answer = "Ada"
			}
			s.answer(q, answer)
		}
		s.expect("+ name: Ada")
		s.expect("Write it?")
		s.typeIn(last)
		err := s.end()
		if last == "\x03" {
			require.Error(t, err)
			require.Equal(t, before, readFiles(t, dir))
		} else {
			require.NoError(t, err, s.all())
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Ada", cfg.Name)
	require.Contains(t, cfg.Database.URL.Value(), password)
	require.Equal(t, before["registration.yaml"], readFiles(t, dir)["registration.yaml"], "the tokens are the same")
}

func TestInitAgain_KeepsConcurrentChange(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--yes", "--owner", "@anna:example.org", "--name", "Ada", "--wait", "0")
	require.NoError(t, s.end(), s.all())

	s = startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0", "--name", "Nora")
	for _, question := range repeatedQuestions {
		if question != "name of your assistant" {
			s.answer(question, "")
		}
	}
	s.expect("Write it?")
	_, _, err := program(t, dir, "", "config", "set", "time_zone", "Europe/Madrid")
	require.NoError(t, err)
	s.typeIn("y\r")
	require.Error(t, s.end())
	require.Contains(t, s.all(), "was changed while the questions were asked")
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "Europe/Madrid Ada", cfg.TimeZone.String()+" "+cfg.Name, "the other change stays")
}
