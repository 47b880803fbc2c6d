package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestAHealthyInstallationHasNoFinding(t *testing.T) {
	t.Parallel()
	require.Empty(t, newWorld(t).findingIDs())
}

func TestANewInstallationWithoutAMessageHasNoFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("delete from messages; delete from settings where key = 'pushed_at'")
	require.Empty(t, w.findingIDs(), "nothing was written yet, so nothing was pushed")
}

// breakage is a broken set-up, the finding that shows it, and the repair that the finding names.
type breakage struct {
	name   string
	id     ID
	breaks func(w *world)
	fixes  func(w *world)
}

// execSQL returns a step that runs a statement.
func execSQL(statement string) func(*world) { return func(w *world) { w.exec(statement) } }

// setYAML returns a step that adds lines to the configuration.
func setYAML(lines string) func(*world) {
	return func(w *world) { w.write(w.paths.Config, w.yaml+lines) }
}

func TestEachBrokenInstallationIsFoundUntilItIsRepaired(t *testing.T) {
	t.Parallel()
	for _, b := range slices.Concat(brokenFiles(), brokenData(), brokenModels(t), brokenHomeserver(), brokenCommands()) {
		t.Run(string(b.id)+" "+b.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b.breaks(w)
			require.Equal(t, []ID{b.id}, slices.Compact(w.findingIDs()))
			b.fixes(w)
			require.Empty(t, w.findingIDs())
		})
	}
}

func brokenFiles() []breakage {
	mend := func(w *world) { w.write(w.paths.Config, w.yaml) }
	return []breakage{
		{"no file", ConfigMissing, func(w *world) { require.NoError(w.t, os.Remove(w.paths.Config)) }, mend},
		{"unknown key", ConfigInvalid, setYAML("chatz: {profile: business}\n"), mend},
		{"open to all", ConfigPermissions, func(w *world) { require.NoError(w.t, os.Chmod(w.paths.Config, 0o644)) }, fixWith(ConfigPermissions)},
		{"old registration", RegistrationFile, func(w *world) {
			w.write(w.paths.Registration, "id: multis\nas_token: older\n")
		}, fixWith(RegistrationFile)},
		{"registration open to all", RegistrationPermissions, func(w *world) { require.NoError(w.t, os.Chmod(w.paths.Registration, 0o644)) }, fixWith(RegistrationPermissions)},
		{"not named", RegistrationMissing, func(w *world) { w.synapse = nil }, func(w *world) {
			w.synapse = []string{filepath.Join(w.dir, "synapse-registration.yaml")}
		}},
		{"edited by hand", RegistrationDrift, func(w *world) {
			path := filepath.Join(w.dir, "synapse-registration.yaml")
			text, err := os.ReadFile(path)
			require.NoError(w.t, err)
			w.write(path, strings.Replace(string(text), "rate_limited: false", "rate_limited: true", 1))
		}, func(w *world) {
			text, err := config.Registration(w.openInput().Config)
			require.NoError(w.t, err)
			w.write(filepath.Join(w.dir, "synapse-registration.yaml"), string(text))
		}},
		{"upgraded distribution", DatabasePrograms, func(w *world) {
			w.programs = errors.New("the database in data was made by Postgres 15, and this machine has 17; apt-get install postgresql-15")
		}, func(w *world) { w.programs = nil }},
		{"disk full", DiskLow, func(w *world) { w.free = 100 << 20 }, func(w *world) { w.free = 50 << 30 }},
		{"files of root", DataUnwritable, func(w *world) {
			w.write(filepath.Join(w.dir, "log"), "")
			require.NoError(w.t, os.Chown(w.dir, 65534, 65534))
		}, func(w *world) {
			entries, err := os.ReadDir(w.dir)
			require.NoError(w.t, err)
			for _, e := range entries {
				require.NoError(w.t, os.Chown(filepath.Join(w.dir, e.Name()), 65534, 65534))
			}
		}},
	}
}

// fixWith returns a step that repairs a finding as multis doctor --fix does.
func fixWith(id ID) func(*world) {
	return func(w *world) {
		done, err := Fix(w.t.Context(), w.openInput(), id)
		require.NoError(w.t, err)
		require.NotEmpty(w.t, done)
	}
}

func brokenData() []breakage {
	return []breakage{
		{"", PushStalled, execSQL(`insert into settings (key, value) values ('push_stalled', '{"since": "2026-01-01T00:00:00Z"}')`), execSQL("delete from settings where key = 'push_stalled'")},
		{"", SyncStalled, execSQL(`insert into settings (key, value) values ('sync_stalled', '{"since": "2026-01-01T00:00:00Z"}')`), execSQL("delete from settings where key = 'sync_stalled'")},
		{"", PushLag, execSQL(`update settings set value = to_jsonb(now() - interval '20 minutes') where key = 'pushed_at';
			update messages set ts = now() - interval '5 minutes', received_at = now() - interval '5 minutes' where event_id = (select max(event_id) from messages)`), execSQL("update settings set value = to_jsonb(now()) where key = 'pushed_at'")},
		{"", AdminRoom, execSQL("update chats set closed_why = 'gone' where kind = 'admin'"), execSQL("update chats set closed_why = '' where kind = 'admin'")},
		{"", ChatsUnreadable, func(w *world) {
			w.message("locked", "@ana:example.org", "contact")
			w.exec(`update messages set parked = '{}', reason = 'It is encrypted, and its key has not come.' where event_id = 'locked'`)
		}, execSQL("update messages set parked = null")},
		{
			"logged out", BridgeDown, execSQL("insert into bridge_states (bot, login, protocol, why, changed_at, down_since) values ('@whatsappbot:example.org', '', 'whatsapp', 'logged out', now(), now())"),
			execSQL("update bridge_states set down_since = null, why = ''"),
		},
		{
			"silent", BridgeDown, execSQL("insert into bridge_states (bot, login, protocol, why, changed_at, down_since) values ('@whatsappbot:example.org', '', 'whatsapp', 'no answer', now(), now())"),
			execSQL("update bridge_states set down_since = null, why = ''"),
		},
		{"typed on the phone", BridgeDoublePuppet, func(w *world) {
			w.exec("update chats set self_ghost = '@whatsapp_49:example.org' where channel_id = 'ana'")
			w.message("typed", "@whatsapp_49:example.org", "owner_phone")
		}, func(w *world) { w.message("typed later", "@you:example.org", "owner_phone") }},
		{"ghost in the chat", BridgeDoublePuppet, execSQL("update chats set self_ghost = '@whatsapp_49:example.org' where channel_id = 'ana'"), execSQL("update chats set self_ghost = ''")},
		{"", BridgeStatus, func(w *world) { w.addSentMessage("sent"); w.addSentMessage("sent") }, execSQL("update outbox set state = 'delivered', delivered_at = now()")},
		{"", BridgeUnconfirmed, execSQL("insert into bridge_bots (bot, protocol) values ('@signalbot:example.org', 'signal')"), execSQL("update bridge_bots set confirmed_at = now()")},
		{"", BridgeClaim, execSQL("insert into bridge_changes (protocol, old_bot, new_bot) values ('whatsapp', '@whatsappbot:example.org', '@whatsapp2:example.org')"), execSQL("update bridge_changes set decided_at = now()")},
		{"never", BackupOld, execSQL("update settings set updated_at = now() - interval '9 days'"), execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now()))`)},
		{"long ago", BackupOld, execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now() - interval '8 days'))`), execSQL(`update settings set value = jsonb_build_object('at', now()) where key = 'backup.last'`)},
		{"embeddings", DatabaseVector, setYAML("embeddings: {model: ollama/nomic, base_url: \"http://127.0.0.1:1/v1\"}\n"), func(w *world) { w.write(w.paths.Config, w.yaml) }},
		{"", BackupFailed, execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now() - interval '1 day', 'problem', 'no space left on device', 'tried_at', now()))`), execSQL(`update settings set value = jsonb_build_object('at', now()) where key = 'backup.last'`)},
		{"", JobsFailed, execSQL("insert into river.river_job (kind, args, max_attempts, state, finalized_at) values ('turn', '{}', 3, 'discarded', now())"), execSQL("delete from river.river_job")},
		{"", JobsLate, execSQL("insert into river.river_job (kind, args, max_attempts, state, scheduled_at) values ('turn', '{}', 3, 'available', now() - interval '1 hour')"), execSQL("delete from river.river_job")},
		{"", SafeMode, execSQL(`insert into settings (key, value) values ('safe_mode', '{"since": "2026-05-01T12:00:00Z", "why": "It crashed."}')`), execSQL("delete from settings where key = 'safe_mode'")},
		{"", OutboxFailed, func(w *world) { w.addSentMessage("failed") }, execSQL("update outbox set state = 'dropped'")},
		{"open", DatabaseShared, func(w *world) {
			w.exec("grant connect on database " + databaseOf(w.t, w.dsn) + " to public")
		}, func(w *world) { w.exec("revoke connect on database " + databaseOf(w.t, w.dsn) + " from public") }},
	}
}

func brokenCommands() []breakage {
	escaped := func(yaml string) func(w *world) {
		return func(w *world) {
			w.sandbox = nil
			setYAML(yaml)(w)
			require.Empty(w.t, w.findingIDs())
			w.sandbox = errors.New("the test could read config.yaml")
		}
	}
	off := func(w *world) { w.write(w.paths.Config, w.yaml+"exec: {enabled: false}\n") }
	return []breakage{
		{"agents may run commands", SandboxOff, escaped("exec: {enabled: true}\n"), off},
		{"command hooks", SandboxOff, escaped("command_hooks: {guard: {command: [sh, guard.sh], before: [tool]}}\n"), off},
	}
}

func brokenModels(t *testing.T) []breakage {
	t.Helper()
	address := provider(t)
	model := func(name, key, base, more string) func(*world) {
		return setYAML("llm:\n  model: " + name + "\n  prices:\n    - mine/small 1 2\n    - mine/other 1 2\n" +
			"  providers:\n    mine:\n      base_url: " + base + "\n      api_key: " + key + "\n" + more)
	}
	right := model("mine/small", "right-key", address, "")
	return []breakage{
		{"no price", ModelConfig, setYAML("llm:\n  model: mine/new\n  providers:\n    mine:\n      base_url: " + address + "\n      api_key: right-key\n"), right},
		{"wrong key", ModelKey, model("mine/small", "wrong-key", address, ""), right},
		{"unknown", ModelUnknown, model("mine/other", "right-key", address, ""), right},
		{"nobody answers", ModelUnreachable, model("mine/small", "right-key", "http://127.0.0.1:1/v1", ""), right},
		{"no money", BudgetZero, model("mine/small", "right-key", address, "budget: {per_day: 0}\n"), right},
		{"spent", BudgetSpent, func(w *world) {
			right(w)
			w.exec(`insert into usage (day, chat_id, purpose, model, reserved, cost) values ((now() at time zone 'Europe/Berlin')::date, 0, 'ask', 'mine/small', 0, 2000000)`)
		}, execSQL("delete from usage")},
	}
}

func TestAFormerOperatorIsNamedWithTheLineThatRemovesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.homeserver.set(func(h *homeserver) { h.extra = []string{"@eva:example.org"} })
	found := Run(t.Context(), w.openInput()).Findings()
	require.Len(t, found, 1)
	require.Equal(t, "@eva:example.org is no operator (config: operators) and reads all that is said in !admin:example.org.", found[0].Message)
	require.Contains(t, found[0].Fix, "/kick @eva:example.org   (")
}

func TestRootClosesNoFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can change a file of another user.")
		return
	}
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.paths.Registration, 0o644))
	require.NoError(t, os.Chown(w.paths.Registration, 65534, 65534))
	_, err := Fix(t.Context(), w.openInput(), RegistrationPermissions)
	require.ErrorContains(t, err, w.paths.Registration+" belongs to nobody, and "+w.paths.Config+" to root")
	info, err := os.Stat(w.paths.Registration)
	require.NoError(t, err)
	require.EqualValues(t, 0o644, info.Mode().Perm())
}

func TestOneHundredRunsChangeNoByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, files := w.contents(), w.files()
	for range 100 {
		Run(t.Context(), w.openInput())
	}
	require.Equal(t, before, w.contents())
	require.Equal(t, files, w.files())
}

func TestTheExitCodeIsThatOfTheWorstFinding(t *testing.T) {
	t.Parallel()
	report := func(list ...ID) Report {
		var s Section
		for _, id := range list {
			s.Findings = append(s.Findings, newFinding(id, "", "x", "y"))
		}
		return Report{Sections: []Section{s}}
	}
	require.Equal(t, 0, report().ExitCode())
	require.Equal(t, 1, report(BackupOld).ExitCode())
	require.Equal(t, 2, report(BackupOld, DatabaseRowSecurity).ExitCode())
	require.Equal(t, []ID{DatabaseRowSecurity, BackupOld}, ids(report(BackupOld, DatabaseRowSecurity).Findings()))
	raw, err := json.Marshal(report(DatabaseRowSecurity))
	require.NoError(t, err)
	require.Contains(t, string(raw), `"id":"database.wall"`)
}

// Those that need a real homeserver are in the end-to-end tests.
func TestEveryKindOfFindingHasABrokenSetUp(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, path := range append(files, "../e2e/doctor_test.go") {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				used[name.Name] = true
			}
			return true
		})
	}
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	count := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "ID" {
				count++
				require.True(t, used[spec.Names[0].Name], "no test breaks something so that %s is found", spec.Names[0].Name)
			}
		}
		return true
	})
	require.Equal(t, len(IDs()), count)
}

func TestEveryIDIsInTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/troubleshooting.md")
	require.NoError(t, err)
	for _, id := range IDs() {
		require.Contains(t, string(text), "\n### "+string(id)+"\n")
	}
	require.Contains(t, string(text), fmt.Sprintf("%d kinds of findings", len(IDs())))
	require.Equal(t, len(IDs()), strings.Count(string(text), "\n### "), "no section without a finding")
}
