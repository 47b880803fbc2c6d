package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm/llmtest"
)

// terminalSession is a program, mostly multis init, in a pseudo-terminal.
type terminalSession struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File

	mu     sync.Mutex
	raw    string
	output string // without escape sequences
	read   int    // how much of output was expected already
	done   chan struct{}
	err    error
}

var variable = regexp.MustCompile(`^[A-Z_]+=`)

var escapes = regexp.MustCompile(`\x1b\[[0-9;?>=<$]*[ -/]*[a-zA-Z~]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>78]|\x1bP[^\x1b]*\x1b\\`)

// startInit starts multis init with a kind of terminal in a folder. Arguments of the form KEY=value in capital letters are its environment.
func startInit(t *testing.T, term, dir string, args ...string) *terminalSession {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	isVariable := func(arg string) bool { return variable.MatchString(arg) }
	flags := slices.DeleteFunc(slices.Clone(args), isVariable)
	cmd := exec.CommandContext(ctx, self, append([]string{"init", "--service", "none"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM="+term, "TZ=Europe/Berlin")
	cmd.Env = append(cmd.Env, slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !isVariable(arg) })...)
	return startSession(t, cmd)
}

// startSession starts a program in a pseudo-terminal.
func startSession(t *testing.T, cmd *exec.Cmd) *terminalSession {
	t.Helper()
	s := &terminalSession{t: t, cmd: cmd, done: make(chan struct{})}
	var err error
	s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.tty.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buffer)
			s.mu.Lock()
			s.raw += string(buffer[:n])
			s.output += escapes.ReplaceAllString(strings.ReplaceAll(string(buffer[:n]), "\r", ""), "")
			s.mu.Unlock()
			if err != nil { // the program has ended, and the terminal with it
				s.err = s.cmd.Wait()
				close(s.done)
				return
			}
		}
	}()
	return s
}

// expect waits until a text appears in the output, after the texts that were expected before.
func (s *terminalSession) expect(text string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := strings.Index(s.output[s.read:], text)
		if at >= 0 {
			s.read += at + len(text)
		}
		return at >= 0
	}, time.Minute, 10*time.Millisecond, "%q in %s", text, lazy(func() string { return s.all() }))
}

type lazy func() string

func (l lazy) String() string { return l() }

func (s *terminalSession) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output
}

// answer waits for a question and types an answer.
func (s *terminalSession) answer(question, text string) {
	s.t.Helper()
	s.expect(question)
	s.typeIn(text + "\r")
}

func (s *terminalSession) typeIn(text string) {
	s.t.Helper()
	_, err := s.tty.WriteString(text)
	require.NoError(s.t, err)
}

// end waits for the end of the program and returns its error.
func (s *terminalSession) end() error {
	s.t.Helper()
	select {
	case <-s.done:
		return s.err
	case <-time.After(2 * time.Minute):
		require.Fail(s.t, "multis init does not end", s.all())
		return nil
	}
}

// newSynapse starts a homeserver with one account and without the registration of multis, and writes its configuration file.
func newSynapse(t *testing.T) (url, file string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_matrix/client/versions", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string][]string{"versions": {"v1.12"}})
	})
	mux.HandleFunc("GET /_matrix/federation/v1/version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]map[string]string{"server": {"name": "Synapse", "version": "1.160.0"}})
	})
	mux.HandleFunc("GET /_matrix/client/v3/profile/{user}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("user") != "@anna:example.org" {
			refuse(w, http.StatusNotFound, "M_UNKNOWN") // as Synapse 1.160 does
			return
		}
		reply(w, struct{}{})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusUnauthorized, "M_UNKNOWN_TOKEN") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	file = filepath.Join(t.TempDir(), "homeserver.yaml")
	text := fmt.Sprintf("server_name: example.org\nlisteners:\n  - port: %s\n    type: http\n    resources:\n      - names: [client, federation]\n", server.URL[strings.LastIndex(server.URL, ":")+1:])
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return server.URL, file
}

// openFolder returns a folder that other users can enter. Postgres needs that if root runs the test.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}

// firstQuestions lists the questions for a new configuration, each with an answer.
var firstQuestions = [][2]string{
	{"Your Matrix id", "@anna:example.org"},
	{"What should multis do in new chats?", ""},
	{"The name of your assistant", ""},
	{"The language model", ""},
	{"Search by meaning", ""},
	{"Voice notes", ""},
	{"Write it?", ""},
}

func TestInit_StoppedWritesNothing(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	for _, term := range []string{"dumb", "xterm-256color"} {
		for _, stop := range stops(len(firstQuestions)) {
			dir := t.TempDir()
			s := startInit(t, term, dir, "--synapse", synapse, "--wait", "0")
			for _, q := range firstQuestions[:stop] {
				s.answer(q[0], q[1])
			}
			s.expect(firstQuestions[stop][0])
			s.typeIn("\x03")
			require.Error(t, s.end())
			require.Contains(t, s.all(), "stopped; nothing was written", "%s: %s", term, firstQuestions[stop][0])
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, "%s: %s", term, firstQuestions[stop][0])
		}
	}
}

// A signal comes from systemd, timeout, or a shell that ends.
func TestInit_EndsOnSignal(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for range signalsEach { // it hung in three of four
			dir := t.TempDir()
			s := startInit(t, "xterm-256color", dir, "--synapse", synapse, "--wait", "0")
			s.expect(firstQuestions[0][0])
			require.NoError(t, s.cmd.Process.Signal(sig))
			require.Error(t, s.end(), sig)
			require.Contains(t, s.all(), "stopped; nothing was written", sig)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left, sig)
		}
	}
}

func TestInit_AsksTriesAndWrites(t *testing.T) {
	t.Parallel()
	url, synapse := newSynapse(t)
	model := llmtest.Start(t, llmtest.Say("ready"))
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0")
	s.expect("✓ synapse      example.org, configured in " + synapse)
	s.expect("✓ homeserver   Synapse 1.160.0 at " + url)
	s.answer("Your Matrix id", "anna at home")
	s.expect("a Matrix id looks like @anna:example.org")
	s.typeIn("bob\r")
	s.expect("✗ owner        There is no account @bob:example.org on this homeserver.")
	s.answer("Your Matrix id", "@anna:example.org")
	s.expect("✓ owner        @anna:example.org has an account")
	s.expect("✓ time zone    Europe/Berlin")
	s.answer("What should multis do in new chats?", "2")
	s.answer("[Nora] >", "Ada")
	s.expect("✓ postgres     multis runs its own from /usr/lib/postgresql/")
	s.answer("The language model", "own")
	s.answer("The name of the model", "small")
	s.answer("The address of the server", model.URL)
	s.expect("✓ llm          openai/small says \"ready\" in ")
	s.answer("Search by meaning", "")
	s.answer("Voice notes", "1")
	s.answer("Write it? [Y/n] >", "")
	s.expect("✓ wrote        " + filepath.Join(dir, "config.yaml"))
	s.expect("✓ database     its tables are made")
	s.expect("install -m 640 -o matrix-synapse " + filepath.Join(dir, "registration.yaml"))
	s.expect("app_service_config_files")
	s.expect("systemctl restart matrix-synapse")
	require.NoError(t, s.end())
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, "@anna:example.org example.org Ada openai/small business",
		fmt.Sprint(cfg.Owner, " ", cfg.Homeserver.Domain, " ", cfg.Name, " ", cfg.LLM.Model, " ", cfg.Chats.Profile))
	for _, name := range []string{"config.yaml", "registration.yaml"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}

	before, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	s = startInit(t, "dumb", dir, "--synapse", synapse, "--wait", "0")
	for _, question := range repeatedQuestions {
		s.answer(question, "")
	}
	s.expect("config.yaml stays as it is.")
	require.NoError(t, s.end())
	after, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "Enter keeps every value")

	s = startInit(t, "xterm-256color", dir, "--synapse", synapse, "--wait", "0", "--homeserver", url, "--profile", "personal", "--time-zone",
		"Europe/Berlin", "--database", "")
	s.answer("Your Matrix id", "")
	s.answer("The name of your assistant", "\x15Nora")
	s.answer("The database", "")
	for _, question := range []string{"The language model", "Search by meaning", "Voice notes"} {
		s.answer(question, "")
	}
	s.expect("- name: Ada")
	s.expect("+ name: Nora")
	s.answer("Write it?", "n")
	require.Error(t, s.end())
	after, err = os.ReadFile(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "nothing is written without a yes")
}

func TestInit_RefusesPairingWithoutWaiting(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	dir := t.TempDir()
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--yes", "--pair")
	require.Error(t, s.end())
	require.Contains(t, s.all(), "--pair waits for you")
	require.Empty(t, filesIn(t, dir))
}

func TestPair_KeepsOwnerUntilPaired(t *testing.T) {
	t.Parallel()
	url, synapse := newSynapse(t)
	dir := openFolder(t)
	s := startInit(t, "dumb", dir, "--synapse", synapse, "--yes", "--owner", "@anna:example.org", "--wait", "0")
	require.NoError(t, s.end(), s.all())
	file := filepath.Join(dir, "config.yaml")
	before, err := os.ReadFile(file)
	require.NoError(t, err)

	s = startInit(t, "dumb", dir, "--synapse", synapse, "--pair", "--wait", "10m", "--homeserver", url, "--time-zone", "Europe/Berlin",
		"--profile", "personal",
		"--name", "Nora", "--database", "", "--model", "none", "--set", "embeddings.model=none", "--set", "speech.model=none")
	s.answer("The database", "")
	s.expect("config.yaml stays as it is.")
	s.expect("Waiting for Synapse to know multis.")
	s.typeIn("\x03")
	require.Error(t, s.end())
	require.Contains(t, s.all(), "nobody is paired yet; multis init --pair continues")
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))

	unpaired := strings.ReplaceAll(string(before), "@anna:example.org", config.UnpairedOwner("example.org").String())
	require.NoError(t, os.WriteFile(file, []byte(unpaired), 0o600))
	s = startInit(t, "dumb", dir, "--synapse", synapse, "--yes", "--wait", "0")
	require.Error(t, s.end())
	require.Contains(t, s.all(), "owner is neither given nor found: add --owner @you:example.org")
	require.NotContains(t, s.all(), "make the account")
}

func TestInit_NamesMissingOrWrongFlag(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	for _, c := range []struct{ flag, value, complaint string }{
		{"--profile", "personal", "multis: owner is neither given nor found: add --owner @you:example.org"},
		{"--set", "foo.bar=1", "multis: foo: unknown key"},
	} {
		dir := t.TempDir()
		s := startInit(t, "dumb", dir, "--synapse", synapse, "--yes", c.flag, c.value)
		require.Error(t, s.end())
		require.Contains(t, s.all(), c.complaint)
		require.Empty(t, filesIn(t, dir))
	}
}

func TestInit_FolderIsOpenToPostgres(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	config := filepath.Join(openFolder(t), "sub folder", "config.yaml")
	s := startInit(t, "dumb", t.TempDir(), "-c", config, "--synapse", synapse, "--yes", "--owner", "@anna:example.org", "--wait", "0")
	require.NoError(t, s.end(), s.all())
	require.Contains(t, s.all(), "its tables are made")
	require.Contains(t, s.all(), "install -m 640 -o matrix-synapse '"+filepath.Dir(config)+"/registration.yaml'")
}

func TestInit_ExplainsRepeatedQuestion(t *testing.T) {
	t.Parallel()
	_, synapse := newSynapse(t)
	s := startInit(t, "dumb", t.TempDir(), "--synapse", synapse, "--owner", "anna smith")
	s.expect("✗ owner: a Matrix id looks like @anna:example.org")
	s.expect("Your Matrix id")
	s.typeIn("\x03")
	require.Error(t, s.end())
}
