package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program runs multis in a folder, and returns its output.
func program(t *testing.T, dir, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return programAt(t, self, dir, input, args...)
}

// programAt is program for the executable self.
func programAt(t *testing.T, self, dir, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	var out, errOut strings.Builder
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout = &out
	cmd.Stderr = &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

func TestSecrets_FilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://multis:hunter2@127.0.0.1:1/multis", "")
	file, registration := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "registration.yaml")
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.WriteFile(registration, []byte(strings.Repeat("# old\n", 1000)), 0o600))
	require.NoError(t, os.Chmod(registration, 0o644))
	_, said, err := program(t, dir, "", "-g")
	require.NoError(t, err)
	require.Empty(t, said)
	info, err := os.Stat(registration)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(registration)
	require.NoError(t, err)
	require.NotContains(t, string(text), "# old")
	_, said, err = program(t, dir, "", "run")
	require.Error(t, err, "no database is there")
	require.NotContains(t, said, "chmod")
	require.NotContains(t, said, "hunter2")

	require.NoError(t, os.Chmod(file, 0o644))
	_, said, err = program(t, dir, "", "-g")
	require.NoError(t, err)
	require.Contains(t, said, "run chmod 600 config.yaml")
	_, said, err = program(t, dir, "", "run")
	require.Error(t, err)
	require.Contains(t, said, "chmod 600 config.yaml")
}

func TestSetup_Commands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, _, err := program(t, dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "There is no "+filepath.Join(dir, "config.yaml")+" yet, nor a service in /var/lib/multis.",
		"bare multis says what is missing")
	printed, _, err := program(t, dir, "", "doctor")
	require.Error(t, err)
	require.Contains(t, printed, "There is no configuration at "+filepath.Join(dir, "config.yaml")+".")
	require.Contains(t, said, "multis chat", "and what can be tried without it")

	example, _, err := program(t, dir, "", "-e")
	require.NoError(t, err)
	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(example), 0o600))
	said, _, err = program(t, dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "config.yaml is not complete yet:\n\n  config.yaml:", "bare multis says what is in the way")
	require.Contains(t, said, "Next: correct these lines, then run multis -g", "and what to do then")
	_, refused, err := program(t, dir, "", "-g")
	require.Error(t, err, "somebody else's homeserver")
	for line := range strings.Lines(refused) {
		require.Regexp(t, "^multis: config.yaml:[0-9]+: (homeserver.address|homeserver.domain|owner): is still the example's", line)
	}
	require.NoFileExists(t, filepath.Join(dir, "registration.yaml"))

	require.NoError(t, os.WriteFile(config, []byte(strings.ReplaceAll(example, "example.com", "example.org")), 0o600))
	said, _, err = program(t, dir, "", "-g")
	require.NoError(t, err)
	require.Contains(t, said, "Wrote "+filepath.Join(dir, "registration.yaml"), "the whole path")
	require.Contains(t, said, "app_service_config_files", "it says what to do with the file")
	filled, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NotContains(t, string(filled), ": generate", "the tokens are there")
	require.Contains(t, string(filled), "# You: the one person", "and the comments still are")
	registration, err := os.ReadFile(filepath.Join(dir, "registration.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(registration), `^@you:example\.org$`)
	info, err := os.Stat(filepath.Join(dir, "registration.yaml"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else reads the tokens")

	for _, command := range []string{"-g", "registration"} {
		require.NoError(t, os.Remove(filepath.Join(dir, "registration.yaml")))
		_, _, err = program(t, dir, "", command)
		require.NoError(t, err)
		again, err := os.ReadFile(filepath.Join(dir, "registration.yaml"))
		require.NoError(t, err)
		require.Equal(t, string(registration), string(again), "a second time changes nothing")
		unchanged, err := os.ReadFile(config)
		require.NoError(t, err)
		require.Equal(t, string(filled), string(unchanged))
	}

	said, _, err = program(t, dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "\nNext: ", "bare multis says what comes next")
}

func TestCLI_HelpAndVersionCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flag, _, err := program(t, dir, "", "--help")
	require.NoError(t, err)
	command, _, err := program(t, dir, "", "help")
	require.NoError(t, err)
	require.Equal(t, flag, command)
	require.Contains(t, command, "Serve: receive, remember, answer.")
	one, _, err := program(t, dir, "", "help", "models", "test")
	require.NoError(t, err)
	require.Contains(t, one, "Usage: multis models test")
	_, said, err := program(t, dir, "", "help", "serve")
	require.Error(t, err)
	require.Equal(t, "multis: unexpected argument serve; multis --help shows what there is\n", said)
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 2, failed.ExitCode(), "as for any command that does not exist")
	said, _, err = program(t, dir, "", "version")
	require.NoError(t, err)
	require.Equal(t, "multis dev", strings.TrimSpace(said)[:10])

	built := func(settings ...debug.BuildSetting) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Settings: settings}, true }
	}
	require.Equal(t, "dev", versionOf(built()))
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "c685fbe0123456789"}, {Key: "vcs.time", Value: "2026-11-20T10:00:00Z"}}
	require.Equal(t, "dev (commit c685fbe01234 of 2026-11-20)", versionOf(built(commit...)))
	require.Equal(t, "dev (commit c685fbe01234 of 2026-11-20, with changes)",
		versionOf(built(append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})...)))
}

func TestCLI_WrongConfigurationIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("homeserver: {address: http://x, domain: x, adress: y}\n"),
		0o600))
	for _, command := range []string{"run", "migrate", "health"} {
		_, said, err := program(t, dir, "", command)
		require.Error(t, err, command)
		require.Contains(t, said, "config.yaml:1: homeserver.adress", command)
		require.NotContains(t, said, "goroutine", command)
	}
}

func TestDev_LogsInDetail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("owner: \"@anna:example.org\"\n"), 0o600))
	t.Setenv("MULTIS_LOGGING_LEVEL", "")
	t.Setenv("MULTIS_TIME_ZONE", "")
	require.NoError(t, setDevelopment(file))
	require.Equal(t, "debug", os.Getenv("MULTIS_LOGGING_LEVEL"))
	_, err := time.LoadLocation(os.Getenv("MULTIS_TIME_ZONE"))
	require.NoError(t, err)
	require.NotEmpty(t, os.Getenv("MULTIS_TIME_ZONE"))

	t.Setenv("MULTIS_LOGGING_LEVEL", "warn")
	t.Setenv("MULTIS_TIME_ZONE", "")
	require.NoError(t, os.WriteFile(file, []byte("time_zone: Asia/Tokyo\n"), 0o600))
	require.NoError(t, setDevelopment(file))
	require.Equal(t, "warn", os.Getenv("MULTIS_LOGGING_LEVEL"), "what is set stays")
	require.Empty(t, os.Getenv("MULTIS_TIME_ZONE"), "the file has one")
}

func TestRepair_NeedsID(t *testing.T) {
	t.Parallel()
	_, said, err := program(t, configured(t, "postgres://nobody@127.0.0.1:1/none", ""), "", "doctor", "--fix", "")
	require.Error(t, err, "an empty variable of a script does not turn a repair into a look")
	require.Contains(t, said, "is no id of a finding")
}

func TestDoctor_UnusableFile(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{configured(t, "postgres://nobody@127.0.0.1:1/none", ""), t.TempDir()} {
		for _, file := range []string{"", "gone.yaml", "config.yaml", os.DevNull} {
			_, said, err := program(t, dir, "", "doctor", "--synapse", file)
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, file)
			require.Equal(t, 2, failed.ExitCode())
			require.Regexp(t, "^multis: --synapse: [^\n]+\n$", said)
		}
	}
}

func TestCLI_WrongCommandIsOneLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args  []string
		where string
	}{
		{[]string{"rum"}, "multis"},
		{[]string{"--confg", "x"}, "multis"},
		{[]string{"chat", "--date", "x"}, "multis chat"},
		{[]string{"index", "x.pdf"}, "multis index"},
		{[]string{"models", "tset"}, "multis models"},
	} {
		_, said, err := program(t, t.TempDir(), "", test.args...)
		var failed *exec.ExitError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 2, failed.ExitCode())
		require.Regexp(t, "^multis: [^\n]*; "+test.where+" --help[^\n]*\n$", said)
	}
}

func TestCLI_WrongValueIsExplained(t *testing.T) {
	t.Parallel()
	dir, long := configured(t, "postgres://nobody@127.0.0.1:1/none", ""), strings.Repeat("ab", 5000)
	_, said, err := program(t, dir, "", "doctor", "--fix")
	require.Error(t, err)
	require.Equal(t, "multis: --fix: expected ID but nothing follows; multis doctor --help shows what there is\n", said)
	_, said, err = program(t, dir, "", "config", "set", "budget.per_day", "-1")
	require.Error(t, err)
	require.Equal(t, "multis: -1 is not a flag: write -- before a value that begins with a dash; multis config set --help shows what there is\n",
		said)
	_, said, err = program(t, dir, "", "config", "set", "budget.per_day", "--", "-1")
	require.Error(t, err)
	require.Contains(t, said, "budget.per_day: ")
	for _, args := range [][]string{
		{"config", "get", long},
		{"backup", "create", "--to", "/dev/null/" + long},
		{"--" + long},
		{"init", "--yes", "--homeserver", "http://" + long, "--database", "postgres://" + long},
	} {
		_, said, err = program(t, dir, "", args...)
		require.Error(t, err)
		require.Less(t, len(said), 2000, "%.60q", args)
		require.NotEmpty(t, said)
	}
}

func TestChat_NamesMissingVariable(t *testing.T) {
	t.Setenv("MULTIS_LLM_MODEL", "openai/some")
	_, said, err := program(t, t.TempDir(), "", "chat")
	require.Error(t, err)
	require.Contains(t, said, "MULTIS_LLM_API_KEY")
}

func TestCLI_MissingDatabaseIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"),
		fmt.Appendf(nil, serveConfig, "http://127.0.0.1:1", 29399, "postgres://multis:wrong-secret@"+address+"/multis"), 0o600))
	_, said, err := program(t, dir, "", "run")
	require.Error(t, err)
	require.Regexp(t, "^multis: no database at "+address+": [^\n]*connection refused; check database.url\n$", said)
	require.NotContains(t, said, "wrong-secret")
}

func TestTerminal_Markdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ markdown, plain, styled string }{
		"bold words":        {"**Ana** is now **business**.", "Ana is now business.", "\x1b[1mAna\x1b[0m is now \x1b[1mbusiness\x1b[0m."},
		"something to type": {"`/mode Ana`", "/mode Ana", "\x1b[36m/mode Ana\x1b[0m"},
		"escaped words":     {`a\*b\_c \\ d\e`, `a*b_c \ d\e`, `a*b_c \ d\e`},
		"emphasised words": {
			"I don't know _5pm_ or “_next week_”.", "I don't know 5pm or “next week”.",
			"I don't know 5pm or “next week”.",
		},
		"underscores in names":   {"send_as_owner, _a and `_b_`", "send_as_owner, _a and _b_", "send_as_owner, _a and \x1b[36m_b_\x1b[0m"},
		"marks that are none":    {"2 ** 3, ` and \\", "2 ** 3, ` and \\", "2 ** 3, ` and \\"},
		"stars inside of code":   {"`**x**`", "**x**", "\x1b[36m**x**\x1b[0m"},
		"signs to be obeyed":     {"a\x1b]52;c;x\a\u009b2Jb\tc\nd\r", "a]52;c;x2Jb\tc\nd\n", "a]52;c;x2Jb\tc\nd\n"},
		"letters of other kinds": {"**Größe** 名前", "Größe 名前", "\x1b[1mGröße\x1b[0m 名前"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.plain, renderMarkdown(c.markdown, false))
			require.Equal(t, c.styled, renderMarkdown(c.markdown, true))
		})
	}
}

func TestChat_InTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// if root runs the test, Postgres runs as another user, who must be able to enter the folder
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prices.md"), []byte("# Prices\n\nA consultation costs 80 EUR.\n"), 0o600))
	chat := func(lines ...string) string {
		said, stderr, err := program(t, dir, strings.Join(lines, "\n")+"\n", "chat", "--data", filepath.Join(dir, "data"))
		require.NoError(t, err, stderr)
		return said
	}

	said := chat("/index prices.md", "1", "/help", "exit", "What came after the end?")
	require.Regexp(t, `(?s)who may see it\?.*done: 1 passage.*/ask do you deliver`, said, "each line is answered before the next is read")
	require.NotContains(t, said, "**", "the marks of Markdown are for those who render it")
	require.NotContains(t, said, "\x1b", "colours are for terminals")
	require.NotContains(t, said, "after the end")

	said = chat("What does a consultation cost?", "/status")
	require.Contains(t, said, "80 EUR", "what was learned is still known the next time")
	require.Contains(t, said, "prices.md")
	require.Contains(t, said, "1 public")
	require.NoFileExists(t, filepath.Join(dir, "data", "postgres", "data", "postmaster.pid"), "its database ended with it")
}
