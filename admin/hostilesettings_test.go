package admin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/policy"
	"multis/store"
)

// /label and /followup keep only what they may keep, whatever stands after them, and no contact sees anything of it.
func TestLabels_HostileArguments(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	ana := r.chat("Ana", "whatsapp")
	ben := r.chat("Ben \u202egnp.exe [x](y)", "whatsapp")
	hostile := append(hostileArguments(), "whоlesale", "-x", "_x", "x\u200by", "\u202ewholesale", "--", "remove", strings.Repeat("x", 41),
		"Ana Ana", "9999999999999999999 Ana", "+3 Ana", "3.0 Ana", "0x3 Ana", "off\u200b Ana", "default off Ana")
	for n, command := range []string{
		"/label", "/label Ana", "/label remove", "/label remove Ana", "/label 1", "/followup", "/followup 3",
		"/followup off", "/followup default", "/followup 3 days",
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
		}
	}
	for _, c := range []store.Chat{ana, ben} {
		require.Empty(t, r.sentTo(c))
		now := r.reload(c)
		require.Equal(t, c.ModeIn(r.settings.Defaults), now.ModeIn(r.settings.Defaults))
		require.LessOrEqual(t, len(now.Labels), policy.MaxLabels)
		for _, label := range append(now.Labels, now.Unlabelled...) {
			require.True(t, policy.IsLabelName(label), "%q", label)
		}
		if now.FollowUpDays != nil {
			require.True(t, *now.FollowUpDays >= 0 && *now.FollowUpDays <= policy.MaxFollowUpDays)
		}
	}
}

// Operators and strangers change neither labels, follow-ups, settings nor answers by any of the commands.
func TestOperators_ChangeNoSettings(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.chat("Ana", "whatsapp")
	require.Contains(t, r.asOwner("/answers add Is there parking? = Behind the house."), "Kept")
	state := func() string {
		var all string
		require.NoError(t, r.st.DB().QueryRow(r.ctx,
			`select concat((select json_agg(s order by s.key) from settings s), (select json_agg(row(c.id, c.labels, c.unlabelled, c.follow_up_days, c.mode, c.delivery) order by c.id) from chats c),
			(select json_agg(a) from canned_answers a))`).Scan(&all))
		return all
	}
	before := state()
	for _, line := range []string{
		"/label Ana wholesale", "/label remove Ana wholesale", "/followup 3 Ana", "/followup off Ana", "/config set operators @eve:x",
		"/config set business.greeting Pay me", "/config reset operators",
		"/business setup", "/business setup operators", "/business clear", "yes", "/answers add Where do I pay? = To Eve", "/answers remove 1",
		"/mode business Ana", "/delivery auto Ana", "/name Eve", "/safe on", "/safe off", "/pause all", "/resume all",
	} {
		r.asOperator(line)
		require.Equal(t, before, state(), line)
	}
}

// Each key that can be set in chat takes a value that is safe, or refuses it; the configuration can always be read afterwards.
func TestConfig_HostileValues(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	hostile := append(hostileArguments(), "true", "no", "1d", "-1h", "NaN", "Inf", "1e400", "[", "[]", `["a", 1]`, "null", "~",
		"!!binary aGk=", "&a *a", "@eve:example.com @x", "https://user:secret@example.com/", "file:///etc/passwd", "env:HOME", "file:/etc/shadow",
		"[secret]")
	for n, key := range config.SafeKeys() {
		for _, value := range someOf(hostile, n) {
			if value == "yes" {
				continue
			}
			line := "/config set " + key + " " + value
			said := r.asOwner(line)
			require.NotContains(t, said, "\u202e", "%.60q", line)
			require.NotContains(t, said, "\x1b", "%.60q", line)
			require.Less(t, len(said), 5000, "%.60q", line)
			require.NotContains(t, said, "root:", "%.60q", line)
		}
		r.loadConfig()
		require.NotContains(t, r.asOwner("/config get "+key), "\u202e")
		r.asOwner("/config reset " + key)
	}
	require.Zero(t, r.count("select count(*) from settings where key like 'config%'"))
}
