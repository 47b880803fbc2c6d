package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestHooks_ShowDeliveries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/hooks"), "No hooks. Add them in config.yaml")
	r.tx(func(tx store.Tx) error {
		return store.ReplaceHooks(r.ctx, tx, []store.Hook{
			{Name: "desk", Target: "example.org", Events: []string{"escalation", "index"}},
			{Name: "log", Target: "10.0.0.2", Events: []string{"index"}},
		})
	})
	require.Contains(t, r.asOwner("/hooks"), "**desk** → example.org — escalation, index · nothing told yet")
	r.tx(func(tx store.Tx) error { return jobs.EmitHookEvent(r.ctx, tx, policy.HookIndex, "prices.md") })
	require.Equal(t, 2, r.count("select count(*) from river.river_job where kind = 'deliver_hook'"), "one for each hook that asked for it")
	r.exec("update hook_deliveries set at = $1", noon)
	require.Contains(t, r.asOwner("/hooks"), "**log** → 10.0.0.2 — index · 18:00 index: on its way")

	told, err := store.Deliveries(r.ctx, r.st.DB(), "desk", 1)
	require.NoError(t, err)
	for _, test := range []struct {
		change func(d *store.Delivery)
		want   string
	}{
		{func(d *store.Delivery) { d.Error = "the server says 500" }, "18:00 index: not yet after 1 try, the server says 500; I try again"},
		{func(d *store.Delivery) { d.State, d.Status = store.DeliveryDelivered, 204 }, "18:00 index: ✅ 204"},
		{func(d *store.Delivery) { d.State, d.Error = store.DeliveryFailed, "no" }, "18:00 index: ⚠️ given up after 3 tries, no"},
		{func(d *store.Delivery) { d.State, d.Error = store.DeliveryDropped, "it is gone" }, "18:00 index: not told, it is gone"},
	} {
		d := told[0]
		test.change(&d)
		r.tx(func(tx store.Tx) error { return store.RecordDelivery(r.ctx, tx, d, 1) })
		require.Contains(t, r.asOwner("/hooks desk"), test.want)
	}
	require.Contains(t, r.asOwner("/hooks test DESK"), "I tell **desk** of a test.")
	require.Equal(t, 1, r.count("select count(*) from hook_deliveries where hook = 'desk' and event = 'test'"))
	require.Contains(t, r.asOwner("/hooks kitchen"), "I have no hook `kitchen`, only desk and log.")
	require.Contains(t, r.asOwner("/hooks test kitchen"), "I have no hook `kitchen`, only desk and log.")
	require.Contains(t, r.asOperator("/hooks"), "Only the owner can use")
}

func TestHooks_ShowLastDecision(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.AskedHooks = []admin.AskedHook{
		{Name: "guard", Before: []string{"tool", "send"}, Tools: []string{"exec*", "fetch_url"}},
		{Name: "new", Before: []string{"send"}},
	}
	r.restart()
	r.exec("insert into audit_entries (at, kind, actor, action, outcome, rule) values ($1, 'tool', 'system', 'exec', 'allow', 'hook:guard'), ($1, 'tool', 'system', 'exec', 'deny', 'hook:guard')", noon)
	said := r.asOwner("/hooks")
	require.Contains(t, said, "**guard** is asked before calls of exec*, fetch_url and messages to contacts · last deny, 18:00")
	require.Contains(t, said, "**new** is asked before messages to contacts · not asked yet")
	r.exec("insert into audit_entries (at, kind, actor, action, task_id, outcome, rule) values ($1, 'tool', 'system', 'fetch_url', 12, 'failed', 'hook:guard')", noon)
	said = r.asOwner("/hooks GUARD")
	require.Contains(t, said,
		"**guard** is asked before calls of exec*, fetch_url and messages to contacts · last failed, 18:00\n18:00 fetch_url: failed · task 12\n18:00 exec: deny\n18:00 exec: allow")
	require.Contains(t, r.asOwner("/hooks test guard"), "is asked before something is done, and told of nothing")
	require.Contains(t, r.asOwner("/hooks kitchen"), "I have no hook `kitchen`, only guard and new.")
}
