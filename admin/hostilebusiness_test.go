package admin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/business/answers"
)

// Each command of the business desk answers whatever stands after it, keeps nothing invisible or too long, and shows nothing invisible.
func TestBusinessCommands_HostileArguments(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	ana := r.chat("Ana", "whatsapp")
	hostile := append(hostileArguments(), "= x", "x =", "=", "\u202eIs there parking? = \u2066Behind\u2069 the house.",
		"# Title = # Title\n===\n> quote", "9999999999999999999999 = 1", "{name}{hours}{business} = {name}{hours}{business}{unknown}")
	for n, command := range []string{
		"/business", "/business setup", "/business show", "/business preview", "/business clear", "/answers", "/answers add",
		"/answers add Is there parking", "/answers add Question =", "/answers remove",
		"/desk", "/desk week", "/shadow", "/escalations", "/handoff", "/delivery", "/drafts", "/mode business",
	} {
		for _, args := range someOf(hostile, n) {
			line := command + " " + args
			if args == "yes" {
				continue // a dialog of an earlier command may wait for it
			}
			said := r.asOwner(line)
			require.NotContains(t, said, "\u202e", "%.60q", line)
			require.NotContains(t, said, "\x1b", "%.60q", line)
			require.Less(t, len(said), 10_000, "%.60q", line)
			require.Empty(t, r.sentTo(ana), "%.60q", line)
		}
	}
	require.Zero(t,
		r.count("select count(*) from canned_answers where question ~ '[\u202e\u2066\u200b]' or answer ~ '[\u202e\u2066\u200b]' or question = '' or answer = ''"))
	require.Zero(t, r.count("select count(*) from canned_answers where length(question) > $1 or length(answer) > $2", answers.MaxQuestion,
		answers.MaxAnswer))
	require.Positive(t, r.count("select count(*) from canned_answers"))
}

// No answer to a question of the setup is kept with invisible characters, or longer than it may be.
func TestBusinessSetup_HostileAnswers(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	for n, step := range []string{"name", "greeting", "topics", "rules", "pages", "hours", "tone", "operators"} {
		for _, said := range someOf(hostileArguments(), n) {
			if strings.TrimSpace(said) == "" {
				continue
			}
			r.asOwner("/business setup " + step)
			answered := r.asOwner(said)
			require.NotContains(t, answered, "\u202e", "%s: %.60q", step, said)
			require.NotContains(t, answered, "\x1b", "%s: %.60q", step, said)
			require.Less(t, len(answered), 5000, "%s: %.60q", step, said)
		}
	}
	require.Zero(t,
		r.count("select count(*) from settings where key like 'config%' and (length(value::text) > 9000 or value::text ~ '[\u202e\u2066\u200b\u2060\ufeff]')"))
	require.NotContains(t, r.asOwner("/business show"), "\u202e")
}

// A million characters after a command are answered at once and in a few words: they are bounded before anything is compared or stored.
func TestCommand_MegabyteIsAnswered(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.chat("Ana", "whatsapp")
	before := r.count("select (select count(*) from canned_answers) + (select count(*) from settings where key not in ('slash', 'last_change'))")
	for _, command := range []string{
		"/business", "/business setup", "/business preview", "/answers", "/answers add", "/answers add Is there parking? =", "/answers remove",
		"/handoff", "/escalations", "/desk", "/desk week", "/drafts",
		"/delivery", "/label Ana", "/followup Ana", "/mode business",
	} {
		for _, big := range []string{strings.Repeat("a", 1<<20), strings.Repeat("ab ", 1<<20/3)} {
			start := time.Now()
			said := r.asOwner(command + " " + big)
			require.Less(t, time.Since(start), 20*time.Second, command)
			require.NotEmpty(t, said, command)
			require.Less(t, len(said), 5000, command)
		}
	}
	require.Equal(t, before,
		r.count("select (select count(*) from canned_answers) + (select count(*) from settings where key not in ('slash', 'last_change'))"))
	require.Contains(t, r.asOwner("/business setup greeting"), "greeting")
	require.Contains(t, r.asOwner(strings.Repeat("a", 1<<20)), "Not taken: it is 1048576 characters long; write at most 500.")
}
