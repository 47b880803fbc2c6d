package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctor_HealthyHasNoFinding(t *testing.T) {
	t.Parallel()
	require.Empty(t, newWorld(t).findingIDs())
}

func TestDoctor_NewInstallationHasNoFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec("delete from messages; delete from settings where key = 'pushed_at'")
	require.Empty(t, w.findingIDs(), "nothing was written yet, so nothing was pushed")
}

// breakage is a broken set-up and the finding that shows it.
type breakage struct {
	name   string
	id     ID
	breaks func(w *world)
	// byHand says why the line that the finding prints cannot be run here; empty means that it is run in a shell, as a
	// person would who copies it.
	byHand string
	// fixes does what remains then: what a person does, or multis and Synapse when the line restarted them. nil if the line repairs it all.
	fixes func(w *world)
}

// execSQL returns a step that runs a statement.
func execSQL(statement string) func(*world) { return func(w *world) { w.exec(statement) } }

// setYAML returns a step that adds lines to the configuration.
func setYAML(lines string) func(*world) {
	return func(w *world) { w.write(w.paths.Config, w.yaml+lines) }
}

func brokenInstallations(t *testing.T) []breakage {
	t.Helper()
	return slices.Concat(brokenFiles(), brokenData(), brokenModels(t), brokenHomeserver(), brokenCommands())
}

func TestDoctor_BrokenUntilFixed(t *testing.T) {
	t.Parallel()
	sh := newShell(t, true)
	for _, b := range brokenInstallations(t) {
		t.Run(string(b.id)+" "+b.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b.breaks(w)
			found := Run(t.Context(), w.openInput()).Findings()
			require.Equal(t, []ID{b.id}, slices.Compact(ids(found)))
			restarted := false
			for _, f := range found {
				require.NotEmpty(t, f.Fix)
				if b.byHand == "" {
					restarted = sh.carryOut(t, w.dir, f.Fix) || restarted
				}
			}
			if b.fixes != nil {
				said := b.byHand != "" || restarted || strings.Contains(found[0].Fix, "(then restart")
				require.True(t, said, "the line was run and did not repair it")
				b.fixes(w)
			}
			require.Empty(t, w.findingIDs())
		})
	}
}

func TestDoctor_Repairs(t *testing.T) {
	t.Parallel()
	repaired := map[ID]bool{}
	for _, b := range brokenInstallations(t) {
		if kinds[b.id].fixable {
			w := newWorld(t)
			b.breaks(w)
			done, err := Fix(t.Context(), w.openInput(), b.id)
			require.NoError(t, err)
			require.NotEmpty(t, done)
			if b.fixes != nil { // after a restart
				b.fixes(w)
			}
			require.Empty(t, w.findingIDs(), b.id)
			repaired[b.id] = true
		}
	}
	for id, k := range kinds {
		require.Equal(t, k.fixable, repaired[id], id)
	}
}

func brokenFiles() []breakage {
	mend := func(w *world) { w.write(w.paths.Config, w.yaml) }
	return []breakage{
		{"no file", ConfigMissing, func(w *world) { require.NoError(w.t, os.Remove(w.paths.Config)) }, asks, mend},
		{"unknown key", ConfigInvalid, setYAML("chatz: {profile: business}\n"), inFile, mend},
		{"open to all", ConfigPermissions, func(w *world) { require.NoError(w.t, os.Chmod(w.paths.Config, 0o644)) }, "", nil},
		{"a folder that cannot be made", ConfigStart, func(w *world) {
			w.start = errors.New("config.yaml:1: documents.folder: cannot be made; choose a folder that multis can make and write to")
		}, inFile, func(w *world) { w.start = nil }},
		{
			"changed while it runs", ConfigRefused,
			execSQL(`insert into settings (key, value) values ('config_refused', '{"since": "2026-01-01T00:00:00Z", "why": "config.yaml:3: nonsense: unknown key"}')`),
			showsOnly, execSQL("delete from settings where key = 'config_refused'"),
		},
		{"of two processes", ConfigDiffers, showTwoConfigs, showsOnly, endOtherConfig},
		{"old registration", RegistrationFile, func(w *world) {
			w.write(w.paths.Registration, "id: multis\nas_token: older\n")
		}, "", nil},
		{"registration open to all", RegistrationPermissions, func(w *world) {
			require.NoError(w.t, os.Chmod(w.paths.Registration, 0o644))
		}, "", nil},
		{"not named", RegistrationMissing, func(w *world) { require.NoError(w.t, os.Remove(w.named)) }, "", nil},
		{"edited by hand", RegistrationDrift, func(w *world) {
			path := filepath.Join(w.dir, "synapse-registration.yaml")
			text, err := os.ReadFile(path)
			require.NoError(w.t, err)
			w.write(path, strings.Replace(string(text), "rate_limited: false", "rate_limited: true", 1))
		}, "", nil},
		{"upgraded distribution", DatabasePrograms, func(w *world) {
			w.programs = errors.New("the database in data was made by Postgres 15, and this machine has 17; apt-get install postgresql-15")
		}, byPackage, func(w *world) { w.programs = nil }},
		{"disk full", DiskLow, func(w *world) { w.free = 100 << 20 }, showsOnly, func(w *world) { w.free = 50 << 30 }},
		{"files of root", DataUnwritable, func(w *world) {
			w.write(filepath.Join(w.dir, "log"), "")
			require.NoError(w.t, os.Chown(w.dir, 65534, 65534))
		}, "", nil},
	}
}

func brokenData() []breakage {
	return []breakage{
		{
			"", PushStalled, execSQL(`insert into settings (key, value) values ('push_stalled', '{"since": "2026-01-01T00:00:00Z"}')`), showsOnly,
			execSQL("delete from settings where key = 'push_stalled'"),
		},
		{
			"", SyncStalled, execSQL(`insert into settings (key, value) values ('sync_stalled', '{"since": "2026-01-01T00:00:00Z"}')`), showsOnly,
			execSQL("delete from settings where key = 'sync_stalled'"),
		},
		{"", PushLag, execSQL(`update settings set value = to_jsonb(now() - interval '20 minutes') where key = 'pushed_at';
			update messages set ts = now() - interval '5 minutes', received_at = now() - interval '5 minutes' where event_id = (select max(event_id) from messages)`), "", execSQL("update settings set value = to_jsonb(now()) where key = 'pushed_at'")},
		{
			"", AdminRoom, execSQL("update chats set closed_reason = 'gone' where kind = 'admin'"), "",
			execSQL("update chats set closed_reason = '' where kind = 'admin'"),
		},
		{"", ChatsUnreadable, func(w *world) {
			w.message("locked", "@ana:example.org", "contact")
			w.exec(`update messages set parked = '{}', reason = 'It is encrypted, and its key has not come.' where event_id = 'locked'`)
		}, asks, execSQL("update messages set parked = null")},
		{
			"logged out", BridgeDown,
			execSQL("insert into bridge_states (bot, login, protocol, reason, changed_at, down_since) values ('@whatsappbot:example.org', '', 'whatsapp', 'logged out', now(), now())"),
			inBridge, execSQL("update bridge_states set down_since = null, reason = ''"),
		},
		{
			"silent", BridgeDown,
			execSQL("insert into bridge_states (bot, login, protocol, reason, changed_at, down_since) values ('@whatsappbot:example.org', '', 'whatsapp', 'no answer', now(), now())"),
			inBridge, execSQL("update bridge_states set down_since = null, reason = ''"),
		},
		{"typed on the phone", BridgeDoublePuppet, func(w *world) {
			w.exec("update chats set self_ghost = '@whatsapp_49:example.org' where channel_id = 'ana'")
			w.message("typed", "@whatsapp_49:example.org", "owner_phone")
		}, inBridge, func(w *world) { w.message("typed later", "@you:example.org", "owner_phone") }},
		{
			"ghost in the chat", BridgeDoublePuppet, execSQL("update chats set self_ghost = '@whatsapp_49:example.org' where channel_id = 'ana'"),
			inBridge, execSQL("update chats set self_ghost = ''"),
		},
		{"", BridgeStatus, func(w *world) {
			w.addSentMessage("sent")
			w.addSentMessage("sent")
		}, inBridge, execSQL("update outbox set state = 'delivered', delivered_at = now()")},
		{
			"", BridgeUnconfirmed, execSQL("insert into bridge_bots (bot, protocol) values ('@signalbot:example.org', 'signal')"), inClient,
			execSQL("update bridge_bots set confirmed_at = now()"),
		},
		{
			"", BridgeClaim,
			execSQL("insert into bridge_changes (protocol, old_bot, new_bot) values ('whatsapp', '@whatsappbot:example.org', '@whatsapp2:example.org')"), inClient, execSQL("update bridge_changes set decided_at = now()"),
		},
		{"never", BackupOld, execSQL("update settings set updated_at = now() - interval '9 days'"), "", nil},
		{
			"long ago", BackupOld,
			execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now() - interval '8 days'))`), "", nil,
		},
		{
			"by a clock that was ahead", BackupOld,
			execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now() + interval '1 year'))`), "", nil,
		},
		{"a restore that was interrupted early", DatabaseSchema, func(w *world) {
			w.restore.File = "/mnt/multis.tar.gz"
		}, "a restore needs an empty database; TestARestoreThatIsKilledEarly runs it", func(w *world) { w.restore.File = "" }},
		{
			"a restore that was interrupted", DatabaseSchema, execSQL("create table restore_in_progress ()"), "it names no file",
			execSQL("drop table restore_in_progress"),
		},
		{"of an older multis", DatabaseSchema, func(w *world) {
			w.yaml += "backup: {every: off}\n"
			w.write(w.paths.Config, w.yaml)
			w.exec("update schema_functions set revision = revision - 1, hash = ''")
		}, "", nil},
		{"typing errors", DatabaseTrigrams, execSQL("drop index term_stats_similar, message_terms_similar"), "", nil},
		{
			"embeddings", DatabaseVector, setYAML("embeddings: {model: ollama/nomic, base_url: \"http://127.0.0.1:1/v1\"}\n"), byPackage,
			func(w *world) {
				w.write(w.paths.Config, w.yaml)
			},
		},
		{
			"", BackupFailed,
			execSQL(`insert into settings (key, value) values ('backup.last', jsonb_build_object('at', now() - interval '1 day', 'problem', 'no space left on device', 'tried_at', now()))`), "", nil,
		},
		{
			"", JobsFailed,
			execSQL("insert into river.river_job (kind, args, max_attempts, state, finalized_at) values ('turn', '{}', 3, 'discarded', now())"),
			showsOnly, execSQL("delete from river.river_job"),
		},
		{
			"", JobsLate,
			execSQL("insert into river.river_job (kind, args, max_attempts, state, scheduled_at) values ('turn', '{}', 3, 'available', now() - interval '1 hour')"), "", execSQL("delete from river.river_job"),
		},
		{
			"", SafeMode,
			execSQL(`insert into settings (key, value) values ('safe_mode', '{"since": "2026-05-01T12:00:00Z", "why": "It crashed."}')`), "",
			execSQL("delete from settings where key = 'safe_mode'"),
		},
		{"", OutboxFailed, func(w *world) { w.addSentMessage("failed") }, inClient, execSQL("update outbox set state = 'dropped'")},
		{
			"", MonitorFails,
			execSQL("insert into monitors (name, failures, error, failing_since) values ('shop', 2, 'the server says 502', now())"), inClient,
			execSQL("update monitors set failures = 0, error = '', failing_since = null"),
		},
		{"open", DatabaseShared, func(w *world) {
			w.exec("grant connect on database " + databaseOf(w.t, w.dsn) + " to public")
		}, "", nil},
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
		{"agents may run commands", SandboxOff, escaped("exec: {enabled: true}\n"), "", nil},
		{"command hooks", SandboxOff, escaped("command_hooks: {guard: {command: [sh, guard.sh], before: [tool]}}\n"), inFile, off},
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
		{"no price", ModelConfig, setYAML("llm:\n  model: mine/new\n  providers:\n    mine:\n      base_url: " + address +
			"\n      api_key: right-key\n"), inFile, right},
		{"wrong key", ModelKey, model("mine/small", "wrong-key", address, ""), inFile, right},
		{"unknown", ModelUnknown, model("mine/other", "right-key", address, ""), inFile, right},
		{"nobody answers", ModelUnreachable, model("mine/small", "right-key", "http://127.0.0.1:1/v1", ""), inFile, right},
		{"no money", BudgetZero, model("mine/small", "right-key", address, "budget: {per_day: 0}\n"), "", nil},
		{"spent", BudgetSpent, func(w *world) {
			right(w)
			w.exec(`insert into usage (day, chat_id, purpose, model, reserved, cost) values ((now() at time zone 'Europe/Berlin')::date, 0, 'ask', 'mine/small', 0, 2000000)`)
		}, "", nil},
	}
}

func TestDoctor_FormerOperatorNamesFix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.homeserver.set(func(h *homeserver) { h.extra = []string{"@eva:example.org"} })
	found := Run(t.Context(), w.openInput()).Findings()
	require.Len(t, found, 1)
	require.Equal(t, "@eva:example.org is not an operator (config: operators) and reads all that is said in !admin:example.org.", found[0].Message)
	require.Contains(t, found[0].Fix, "/kick @eva:example.org   # ")
}

func TestDoctor_RootSparesForeignFiles(t *testing.T) {
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

func TestDoctor_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, files := w.contents(), w.files()
	for range 100 {
		Run(t.Context(), w.openInput())
	}
	require.Equal(t, before, w.contents())
	require.Equal(t, files, w.files())
}

func TestDoctor_ExitCodeOfWorstFinding(t *testing.T) {
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
func TestDoctor_EveryFindingIsTested(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, path := range append(files, withReal) {
		if path != "repair_test.go" { // it names all
			maps.Copy(used, identifiers(t, path))
		}
	}
	names := constantsOfIDs(t)
	require.Len(t, names, len(IDs()))
	for id, name := range names {
		require.True(t, used[name], "no test breaks something so that %s is found", id)
	}
}

// identifiers returns the names that a file of Go uses.
func identifiers(t *testing.T, path string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			used[name.Name] = true
		}
		return true
	})
	return used
}

// constantsOfIDs returns the names of the constants in ids.go.
func constantsOfIDs(t *testing.T) map[ID]string {
	t.Helper()
	names := map[ID]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "ids.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 {
			if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "ID" {
				literal, ok := spec.Values[0].(*ast.BasicLit)
				require.True(t, ok)
				names[ID(strings.Trim(literal.Value, `"`))] = spec.Names[0].Name
			}
		}
		return true
	})
	return names
}

func TestDoctor_IDsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	require.NoError(t, err)
	for _, id := range IDs() {
		require.Contains(t, string(text), "\n### "+string(id)+"\n")
	}
	require.Contains(t, string(text), fmt.Sprintf("%d kinds of findings", len(IDs())))
	require.Equal(t, len(IDs()), strings.Count(string(text), "\n### "), "no section without a finding")
}
