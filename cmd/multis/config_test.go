package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"multis/config"
	"multis/ops/doctor"
	"multis/policy/rules"
	"multis/store"
	"multis/store/storetest"
)

// logged is a writer that collects log lines.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestReload_TakesOnlyValid(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	valid := fmt.Sprintf(serveConfig, "http://127.0.0.1:1", 29399, "")
	used, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer used.Close()
	_, usedPort, err := net.SplitHostPort(used.Addr().String())
	require.NoError(t, err)
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write(valid)
	var log logged
	ctx := zerolog.New(&log).WithContext(t.Context())
	source := configSource{file, st}
	current, err := source.load(ctx)
	require.NoError(t, err)

	key := filepath.Join(filepath.Dir(file), "key")
	require.NoError(t, os.WriteFile(key, []byte("the-first-key"), 0o600))
	changed := func(want string) *config.Config {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		next, err := source.awaitChange(ctx, current, false)
		require.NoError(t, err, want)
		return next
	}
	appears := func(text string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(log.String(), text) }, time.Minute, 20*time.Millisecond, text)
	}
	result := make(chan *config.Config)
	go func() { result <- changed("a valid file") }()
	write(valid + "nonsense: 1\n")
	appears("config.yaml:14: nonsense: unknown key")
	write(strings.Replace(valid, "database: {", "logging: {level: debug}\ndatabase: {", 1))
	appears(`"key":"logging.level","message":"This changed key takes effect when multis is started again"`)
	write(valid + "documents: {folder: /dev/null/documents}\n")
	appears("documents.folder: cannot be made: /dev/null is not a folder")
	write(valid + fmt.Sprintf("watches: {hostname: 127.0.0.1, port: %s}\n", usedPort))
	appears("watches.port: is in use by another program")
	require.Empty(t, result, "none is taken over, and multis goes on")
	refused := "select count(*) from audit_entries where kind = 'config' and actor = 'system' and outcome = 'refused' and content is not null and action = $1"
	for key, want := range map[string]int{"config.yaml": 1, "documents.folder": 1, "watches.port": 1} {
		require.Eventually(t, func() bool {
			return storetest.Count(t, st, refused, key) == want
		}, time.Minute, 20*time.Millisecond, "the log says that %s was refused", key)
	}
	refusals := func() int {
		return storetest.Count(t, st, "select count(*) from settings where key = 'config_refused' and value->>'why' like '%watches.port%'")
	}
	require.Equal(t, 1, refusals(), "the owner sees it, too")
	require.Equal(t, 1, storetest.Count(t, st,
		"select count(*) from river.river_job where kind = 'notice' and args->>'topic' = 'config_refused'"), "and is told once")
	write(valid + "name: Ana\n")
	current = <-result
	require.Equal(t, "Ana", current.Name)
	require.Zero(t, refusals(), "it is over")

	go func() { result <- changed("a file that is there again") }()
	require.NoError(t, os.Remove(file))
	appears("config.yaml: no such file or directory")
	write(valid + "name: Bea\n")
	current = <-result
	require.Equal(t, "Bea", current.Name)

	require.NoError(t, store.PutSetting(ctx, st.Writer(), store.SettingConfig+"budget.per_day", "7"))
	require.NoError(t, store.PutSetting(ctx, st.Writer(), store.SettingConfig+"owner", "@eve:x"))
	current = changed("a setting")
	require.EqualValues(t, 7_000_000, current.Budget.PerDay)
	require.EqualValues(t, "@owner:x", current.Owner, "it cannot be set in chat")

	write(valid + "speech: {api_key: \"file:key\"}\n")
	current = changed("a secret in a file")
	require.Equal(t, "the-first-key", current.Speech.APIKey.Value())
	require.NoError(t, os.WriteFile(key, []byte("another-key"), 0o600))
	current = changed("another secret in that file")
	require.Equal(t, "another-key", current.Speech.APIKey.Value())
	require.NotContains(t, log.String(), "another-key")

	own := filepath.Join(filepath.Dir(file), "rules.yaml")
	require.NoError(t, os.WriteFile(own, []byte("rules:\n  - {tool: fetch_url, decision: deny}\n"), 0o600))
	write(valid + "policy: {file: rules.yaml}\n")
	current = changed("a file of rules")
	require.Equal(t, rules.Deny, current.Policy.FileRules[0].Decision)
	go func() { result <- changed("a valid file of rules") }()
	require.NoError(t, os.WriteFile(own, []byte("rules:\n  - {tool: fetch_url, decision: allow}\n  - {tool: fetch_url, decision: maybe}\n"),
		0o600))
	appears("rules.yaml:3")
	require.Empty(t, result, "the last good rules stay, and a file is not taken over by half")
	require.Equal(t, rules.Deny, current.Policy.FileRules[0].Decision)
	require.NoError(t, os.WriteFile(own, []byte("rules:\n  - {tool: fetch_url, decision: confirm}\n"), 0o600))
	current = <-result
	require.Equal(t, rules.Confirm, current.Policy.FileRules[0].Decision)

	go func() { result <- changed("the missing file appears") }()
	write(valid + "policy: {file: later.yaml}\n")
	appears("later.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "later.yaml"), []byte("rules:\n  - {tool: fetch_url, decision: deny}\n"),
		0o600))
	current = <-result
	require.Equal(t, rules.Deny, current.Policy.FileRules[0].Decision)
}

func TestReload_HolidayCalendar(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	calendar := filepath.Join(filepath.Dir(file), "days.ics")
	write := func(days ...string) {
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n"
		for _, day := range days {
			text += "BEGIN:VEVENT\r\nUID:" + day + "\r\nDTSTART;VALUE=DATE:" + day + "\r\nEND:VEVENT\r\n"
		}
		require.NoError(t, os.WriteFile(calendar, []byte(text+"END:VCALENDAR\r\n"), 0o600))
	}
	write("20261225")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(serveConfig, "http://127.0.0.1:1", 29399, "")+
		"business: {hours: [daily 9-17], holiday_calendar: days.ics}\n"), 0o600))
	source := configSource{file, storetest.New(t)}
	current, err := source.load(t.Context())
	require.NoError(t, err)
	before, err := source.fingerprint(t.Context(), current)
	require.NoError(t, err)
	write("20261225", "20261226")
	after, err := source.fingerprint(t.Context(), current)
	require.NoError(t, err)
	require.NotEqual(t, before, after, "the file is looked at")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, err := source.awaitChange(ctx, current, false)
	require.NoError(t, err)
	require.Len(t, next.Business.CalendarHolidays, 2)
}

func TestConfigGet_PrefixListsKeys(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "documents: {folder: \"doc\\u202Euments\"}\n")
	for beginning, key := range map[string]string{
		"budg": "budget.per_day: ", "budget": "budget.per_day: ", "chats.": "chats.burst_quiet: ",
		"documents.f": `documents.folder: data/doc\u202Euments`,
	} {
		said, complaint, err := program(t, dir, "", "config", "get", beginning)
		require.NoError(t, err, complaint)
		require.Contains(t, said, key)
	}
	said, _, err := program(t, dir, "", "config", "diff")
	require.NoError(t, err)
	require.Contains(t, said, `doc\u202Euments`, "what does not show is written out")
}

func TestDoctor_JSONListIsNeverNull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, writeReport(&out, doctor.Report{}))
	require.Contains(t, out.String(), `"findings": []`)
}

func TestConfig_UnreadableIsExplained(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printIncomplete(&out, "/var/lib/multis/config.yaml", &os.PathError{
		Op:   "open",
		Path: "/var/lib/multis/config.yaml",
		Err:  os.ErrPermission,
	}, doctor.Restore{}))
	require.Equal(t, "multis is set up in /var/lib/multis, which only its owner and root may read.\nNext: sudo multis\n", out.String())
}

func TestConfigCheck_MistakeIsNotIncomplete(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "budget: {per_day: much}\n")
	said, _, err := program(t, dir, "", "status")
	require.NoError(t, err)
	require.Regexp(t, `^config.yaml cannot be used:\n\n  config.yaml:\d+: budget.per_day: "much" is not an amount`, said)
	require.Contains(t, said, "A running multis continues with what it read before.")
	require.NotContains(t, said, "multis -g")
	said, _, err = program(t, dir, "", "status", "--json")
	require.NoError(t, err)
	var s status
	require.NoError(t, json.Unmarshal([]byte(said), &s), said)
	require.Regexp(t, `^config.yaml:\d+: budget.per_day: "much" is not an amount`, s.Lines[0].Value)
	require.Contains(t, s.Next, "multis doctor")
}

func TestConfig_PathIsBounded(t *testing.T) {
	t.Parallel()
	file := "/srv/\u202e\x1b[31m" + strings.Repeat("x", 10_000)
	for _, command := range []string{"status", "doctor"} {
		said, _, _ := program(t, t.TempDir(), "", "-c", file, command)
		require.Contains(t, said, "/srv/[31mxxx", command)
		require.NotContains(t, said, "\u202e", command)
		require.NotContains(t, said, "\x1b", command)
		require.Less(t, len(said), 6000, command)
	}
}

func TestServe_UnreadableFileNamesFix(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(parent), 0o755)) // the other user sees whose folder it is
	folder := filepath.Join(parent, "service")
	file := filepath.Join(folder, "config.yaml")
	var said error
	asOtherUser(t, folder, func() { _, said = load(file) })
	require.ErrorContains(t, said, "who runs multis, may not read "+file+"; ")
	require.ErrorContains(t, said, "chmod 600 "+file)
	require.NotContains(t, said.Error(), "as root")
	_, missing := load(file)
	require.ErrorIs(t, missing, os.ErrNotExist)
}

func TestConfig_ForbiddenFolderIsNotSetUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "closed", "config.yaml")
	var out bytes.Buffer
	var notKnown, notOpened error
	asOtherUser(t, filepath.Dir(file), func() {
		_, err := config.Load(file)
		notKnown = printIncomplete(&out, file, err, doctor.Restore{})
		_, notOpened = openBackup(t.Context(), file, "verify")
	})
	require.ErrorContains(t, notKnown, "whether multis is set up here is not known")
	require.ErrorContains(t, notKnown, "permission denied")
	require.Empty(t, out.String())
	require.ErrorContains(t, notOpened, "permission denied; run it as root: sudo multis backup verify "+file)
	_, missing := openBackup(t.Context(), filepath.Join(t.TempDir(), "none.tar"), "verify")
	require.ErrorContains(t, missing, "name the file of a backup")
}

// asOtherUser calls do as a user who may not enter a folder, which it makes.
func asOtherUser(t *testing.T, closed string, do func()) {
	t.Helper()
	require.NoError(t, os.Mkdir(closed, 0o000))
	defer func() { require.NoError(t, os.Chmod(closed, 0o700)) }()
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // the user of a thread; it ends with the test, because it is not unlocked
		_, err := unix.SetfsuidRetUid(65534)
		require.NoError(t, err)
		defer func() { _, _ = unix.SetfsuidRetUid(0) }()
	}
	do()
}

func TestConfigCheck_InterruptedRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml.from-backup"), []byte("name: Nora\n"), 0o600))
	for _, command := range []string{"status", "doctor"} {
		said, complaint, _ := program(t, dir, "", command, "-c", filepath.Join(dir, "config.yaml")) // doctor exits with 2
		require.Contains(t, said, "The restore of a backup was interrupted", complaint)
		require.Contains(t, said, "multis backup restore FILE")
	}
}

func TestSettings_OverrideFileNotEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(serveConfig, "http://127.0.0.1:1", 29399, "")+"budget: {per_day: 3}\n"), 0o600))
	settings := map[string]string{"budget.per_day": "4", "budget.per_run": "1"}
	t.Setenv("MULTIS_BUDGET_PER_RUN", "2")
	values, err := config.Values(file, settings)
	require.NoError(t, err)
	got := map[string]config.Entry{}
	for _, v := range values {
		got[v.Key] = v
	}
	require.Equal(t, config.Entry{Key: "budget.per_day", Value: "4.00", Source: config.FromSettings}, got["budget.per_day"])
	require.Equal(t, config.Entry{Key: "budget.per_run", Value: "2.00", Source: config.FromEnvironment}, got["budget.per_run"])
	require.Equal(t, config.FromDefault, got["name"].Source)
	require.Equal(t, "20ms", got["chats.burst_quiet"].Value)
	require.Equal(t, "@operator:x", got["operators"].Value)
	require.NotContains(t, got["appservice.as_token"].Value, "as-token")
	require.ErrorContains(t, config.CheckSetting(file, nil, "owner", "@eve:x"),
		"only be changed in config.yaml, on the machine: multis config set owner VALUE")
	require.ErrorContains(t, config.CheckSetting(file, nil, "budget.per_run", "3"),
		"the variable MULTIS_BUDGET_PER_RUN of multis' environment sets budget.per_run, and wins")
	require.ErrorContains(t, config.CheckSetting(file, nil, "budget.per_dya", "3"),
		"budget.per_dya is no key that can be set here; did you mean budget.per_day? /config lists them")
	require.ErrorContains(t, config.CheckSetting(file, nil, "outside_hours", "away"), "did you mean business.outside_hours?")
	require.ErrorContains(t, config.CheckSetting(file, nil, strings.Repeat("x", 1000), "1"),
		"is no key that can be set here; /config lists them")
	require.Regexp(t, `^budget.per_day: "much" is not an amount`, config.CheckSetting(file, nil, "budget.per_day", "much"))
}

func TestConfigGet_ShowsAdminSettings(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "budget: {per_day: 2}\n")
	require.NoError(t, store.PutSetting(t.Context(), st.Writer(), store.SettingConfig+"budget.per_day", "7"))
	said, complaint, err := program(t, dir, "", "config", "get", "budget.per_day")
	require.NoError(t, err, complaint)
	require.Equal(t, "7.00\n", said)
	said, complaint, err = program(t, dir, "", "config", "get", "budget.per_da")
	require.NoError(t, err, complaint)
	require.Equal(t, "budget.per_day: 7.00  # set in chat\n", said)
	said, complaint, err = program(t, dir, "", "config", "set", "budget.per_day", "3")
	require.NoError(t, err, complaint)
	require.Contains(t, said,
		"It stays 7.00, because the admin room has set that, which wins over the file. Write there: /config reset budget.per_day\n")
	said, complaint, err = program(t, dir, "", "config", "set", "budget.per_run", "1")
	require.NoError(t, err, complaint)
	require.NotContains(t, said, "It stays")
	require.Contains(t, overridden(config.Entry{
		Key:    "budget.per_day",
		Value:  "4.00",
		Source: config.FromEnvironment,
	}), "the variable MULTIS_BUDGET_PER_DAY is set")
}

func TestConfigDiff_OmitsDefaults(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "name: Nora\nbudget: {per_day: 2.00, per_run: 0.75}\nspeech: {api_key: \"\"}\n")
	said, complaint, err := program(t, dir, "", "config", "diff")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "budget.per_run: 0.75  # config.yaml\n")
	require.Contains(t, said, "database.url: …  # config.yaml\n", "a secret that is set")
	for _, usual := range []string{"name:", "budget.per_day:", "speech.api_key:", "database.data_dir:"} {
		require.NotContains(t, said, usual)
	}
	said, _, err = program(t, dir, "", "config", "get", "speech.api_key")
	require.NoError(t, err)
	require.Equal(t, "\n", said, "no secret is set")
}

func TestConfigCheck_UnusableModelNamesLine(t *testing.T) {
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "llm:\n  model: foo/bar\n")
	path := filepath.Join(dir, "config.yaml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	at := func(line string) string {
		before, _, found := strings.Cut(string(text), line)
		require.True(t, found)
		return fmt.Sprintf("multis: config.yaml:%d: ", strings.Count(before, "\n")+1)
	}
	_, said, err := program(t, dir, "", "config", "check")
	require.Error(t, err)
	require.True(t, strings.HasPrefix(said, at("  model: foo")+"llm.model: foo is no provider"), said)

	text = []byte(strings.Replace(string(text), "foo/bar", "none", 1) + "agents:\n  sales:\n    default: true\n    model: foo/bar\n")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, said, err = program(t, dir, "", "config", "check")
	require.Error(t, err)
	require.True(t, strings.HasPrefix(said, at("    model: foo")+"agents.sales.model: foo is no provider"), said)
	t.Setenv("MULTIS_LLM_MODEL", "bar/foo")
	_, said, err = program(t, dir, "", "config", "check")
	require.Error(t, err)
	require.True(t, strings.HasPrefix(said, "multis: environment MULTIS_LLM_MODEL: llm.model: bar is no provider"), said)
}

func TestConfigSet_RefusesInvalidResult(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "")
	file := filepath.Join(dir, "config.yaml")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	for value, want := range map[string]string{"foo/bar": "foo is no provider", "anthropic/claude-haiku-4-5": "needs a key"} {
		_, said, err := program(t, dir, "", "config", "set", "llm.model", value)
		require.Error(t, err)
		require.Contains(t, said, want)
	}
	for key, want := range map[string]string{
		"operators": "operators is a list; edit it in config.yaml",
		"nme":       `there is no key "nme" with a single value`,
	} {
		_, said, err := program(t, dir, "", "config", "set", key, "x")
		require.Error(t, err)
		require.Contains(t, said, want)
	}
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestServe_ShowsConfiguration(t *testing.T) {
	t.Parallel()
	n, err := store.ConfigsInUse(t.Context(), startServe(t, 1).db.DB())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
