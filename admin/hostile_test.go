package admin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// hostileArguments are what nobody should type: too long, empty, invisible, turned around, alike but other letters, forged ids.
func hostileArguments() []string {
	return []string{
		"", " ", strings.Repeat("a", 10_000), strings.Repeat("\u202e", 3000), strings.Repeat("[x](y) ", 1400), "\u200b\u2060\ufeff", "\u202eon",
		"о\u043fn", "ｏｎ", "0", "-1", "1e9", "99999999999999999999", "9223372036854775807",
		"'; drop table audit_entries; --", "%s%d%n", "$x:evil.example", "https://matrix.to/#/!a:b/$c", "@eve:example.com", "../../etc/shadow",
		"a\x01\x1b[31mb", "{\"a\":", "1 2 3 yes", "yes", "all", "on off",
	}
}

// someOf returns the arguments that the n-th of several commands is tried with: every third of them, so that three commands
// that follow each other are tried with all. With MULTIS_TEST_ALL, each command is tried with all.
func someOf(all []string, n int) (some []string) {
	if os.Getenv("MULTIS_TEST_ALL") != "" {
		return all
	}
	for i := n % 3; i < len(all); i += 3 {
		some = append(some, all[i])
	}
	return some
}

// Each command about safety answers whatever stands after it, changes nothing by it, and shows nothing invisible.
func TestSafetyCommands_HostileArguments(t *testing.T) {
	t.Parallel()
	r, h := newHostRig(t)
	r.chat("Ana", "whatsapp")
	state := func() [4]int {
		return [4]int{
			r.count("select count(*) from settings where key in ('safe_mode', 'pause')"), r.count("select count(*) from tasks"),
			r.count("select count(*) from pin where hash is not null"), r.count("select count(*) from approvals"),
		}
	}
	before := state()
	for n, command := range []string{
		"/exec", "/exec @multis", "/read", "/policy", "/policy explain", "/policy explain multis",
		"/policy explain multis exec", "/approvals", "/approvals revoke", "/audit", "/audit injection", "/audit injection lift", "/safe",
		"/config get", "/config set", "/config reset", "/pin", "/why", "/account", "/cancel-task",
	} {
		for _, args := range someOf(hostileArguments(), n) {
			line := command + " " + args
			if strings.TrimSpace(line) == "/exec" || args == "yes" {
				continue // a dialog of an earlier command may wait for it
			}
			seen := len(r.homeserver.sent)
			r.ownerTypes(line)
			for _, said := range r.homeserver.sent[seen:] {
				require.NotContains(t, said.Body+said.HTML, "\u202e", "%.60q", line)
				require.NotContains(t, said.Body+said.HTML, "\x1b", "%.60q", line)
				require.LessOrEqual(t, len(said.Body), 50_000, "%.60q", line)
			}
		}
	}
	after := state()
	require.Equal(t, before[0], after[0], "neither safe mode nor a pause")
	require.Equal(t, before[2:], after[2:])
	require.Empty(t, h.ran, "nothing runs without a PIN that is set, or before its job")
	require.Positive(t, r.count("select count(*) from audit_entries"))
	report, err := r.settings.Audit.Verify(r.ctx, r.st)
	require.NoError(t, err)
	require.Positive(t, report.Entries)
	_, safe, err := store.SafeModeOf(r.ctx, r.st.DB())
	require.NoError(t, err)
	require.False(t, safe)
}
