package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestShell_DatabaseLinesFitServer(t *testing.T) {
	t.Parallel()
	facts := store.ServerFacts{
		Version:        170005,
		Encoding:       "UTF8",
		Database:       "multis",
		User:           "multis",
		MaxConnections: 10,
		Open:           true,
	}
	own, compose := OwnPostgres("/var/lib/multis/data/postgres/run",
		AsRoot("systemctl restart multis")), PostgresAt("postgres://multis:secret@multis-postgres/multis")
	for _, c := range []struct {
		server Postgres
		fixes  map[ID]string
	}{
		{PostgresAt("postgres://multis:secret@127.0.0.1/multis"), map[ID]string{
			DatabaseConnections: " psql -c 'ALTER SYSTEM SET max_connections = 200' && " + AsRoot("systemctl restart postgresql"),
			DatabaseVector:      " psql -d multis -c 'CREATE EXTENSION vector'",
		}},
		{own, map[ID]string{
			DatabaseConnections: AsRoot("psql -h /var/lib/multis/data/postgres/run -U postgres -c 'ALTER SYSTEM SET max_connections = 200'") +
				" && " + AsRoot("systemctl restart multis"),
			DatabaseVector: AsRoot("apt-get install postgresql-17-pgvector") + " && " + AsRoot("systemctl restart multis"),
		}},
		{compose, map[ID]string{
			DatabaseConnections: "docker compose exec multis-postgres psql -U postgres -c 'ALTER SYSTEM SET max_connections = 200' && docker compose restart multis-postgres",
			DatabaseVector:      "docker compose exec multis-postgres psql -U postgres -d multis -c 'CREATE EXTENSION vector'   (then restart multis)",
		}},
	} {
		facts := facts
		facts.VectorPackage = !c.server.IsOurs
		found := map[ID]string{}
		for _, f := range c.server.check(facts, true) {
			found[f.ID] = f.Fix
		}
		for id, fix := range c.fixes {
			require.Contains(t, found[id], fix)
		}
	}
	for _, s := range []Postgres{own, compose} {
		require.NotContains(t, s.unreachable(errors.New("refused"), "").Findings[0].Fix, "database.url")
	}
	const start = "systemctl restart multis"
	local := PostgresAt("postgres://multis:secret@127.0.0.1:5433/multis?sslmode=disable")
	local.Unit = "postgresql-17"
	off := fmt.Errorf("dial error: %w", syscall.ECONNREFUSED)
	require.Equal(t, AsRoot("systemctl start postgresql-17")+"   (or correct database.url)", local.unreachable(off, start).Findings[0].Fix)
	require.Contains(t, local.restart(), "systemctl restart postgresql-17 ")
	corrected := "database.url: postgres://multis:PASSWORD@%s/multis?sslmode=disable   (in config.yaml, " // multis config set refuses a secret
	require.Contains(t, local.unreachable(errors.New("password authentication failed"), start).Findings[0].Fix,
		fmt.Sprintf(corrected, "127.0.0.1:5433"))
	remote := PostgresAt("postgres://multis:secret@db.example.org/multis?sslmode=disable&password=secret")
	require.Contains(t, remote.unreachable(off, start).Findings[0].Fix, fmt.Sprintf(corrected, "db.example.org"),
		"a server elsewhere cannot be started here")
	require.Contains(t, own.checkShared(facts)[0].Fix, "psql -h /var/lib/multis/data/postgres/run ")
}

// The lines are for a person on the machine, who has neither the program multis nor the paths of the container.
func TestShell_ComposeLinesRunOnHost(t *testing.T) {
	t.Parallel()
	in := &Input{Compose: true, Start: "docker compose restart multis"}
	for fix, typed := range map[string]string{
		"multis backup create":                    "docker compose run --rm multis backup create",
		"sudo multis backup restore FILE":         "docker compose run --rm multis backup restore FILE",
		"multis doctor   (once more)":             "docker compose exec multis multis doctor   (once more)",
		"chmod 600 /data/config.yaml":             "chmod 600 data/config.yaml",
		"sudo chown -R 1337: /data/data":          "sudo chown -R 1337: data/data",
		"/kick @eva:example.org   (in that room)": "/kick @eva:example.org   (in that room)",
		in.log(1): "docker compose logs --since 1h multis",
		"multis config set budget.per_day 2   (later)": "docker compose run --rm multis config set budget.per_day 2   (later)",
	} {
		require.Equal(t, typed, in.asTyped(fix))
		require.Equal(t, fix, (&Input{}).asTyped(fix))
	}
	require.Contains(t, in.asTyped(in.installFix()), "docker compose run --rm multis -g && "+AsRoot("deploy/register.sh /srv/synapse")+
		" && docker restart synapse")
	report := run(t.Context(), &Input{Compose: true, Now: time.Now}, []Check{{"backup", func(context.Context, *Input) (Result, string) {
		return oneFinding(BackupOld, "x", "multis backup create"), ""
	}}})
	require.Equal(t, "docker compose run --rm multis backup create", report.Findings()[0].Fix)
}

func TestReport_TextsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000) // as a server may answer
	report := run(t.Context(), &Input{Now: time.Now}, []Check{
		{"backup", func(context.Context, *Input) (Result, string) { return oneFinding(BackupOld, long, long), "" }},
		{"chats", func(context.Context, *Input) (Result, string) { return Result{Fact: long}, long }},
	})
	require.Len(t, []rune(report.Findings()[0].Message), maxText)
	require.Len(t, []rune(report.Findings()[0].Fix), maxFix)
	require.Len(t, []rune(report.Sections[1].Fact), maxText)
	require.Len(t, []rune(report.Sections[1].Skipped), maxText)
}

func TestShell_LowersAccountName(t *testing.T) {
	t.Parallel()
	require.Equal(t, "There is no account @You:example.org on this homeserver. Matrix ids have small letters: is it @you:example.org?",
		MissingAccount("@You:example.org"))
	require.Equal(t, "There is no account @you:example.org on this homeserver.", MissingAccount("@you:example.org"))
	require.Contains(t, AccountLine("You"), " -u you")
}

func TestShell_LineCanBePasted(t *testing.T) {
	t.Parallel()
	for fix, want := range map[string]string{
		"systemctl restart matrix-synapse   (if it stays, Synapse's log (journalctl) says why)": "systemctl restart matrix-synapse   # if it stays, Synapse's log (journalctl) says why",
		"chmod 600 config.yaml":          "chmod 600 config.yaml",
		"a: address   (such as b), then": "a: address   (such as b), then",
	} {
		require.Equal(t, want, Copyable(fix))
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", Copyable("echo done   (if it's right)")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "done\n", string(out))
}
