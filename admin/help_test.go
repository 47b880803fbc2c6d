package admin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/clock"
	"multis/policy"
)

// The examples of multis' specification, typed as they are there: each works, or the answer says exactly what to write.
func TestHelp_ExamplesWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Agents = []persona.Persona{{ID: "shop", Name: "Shop", Mentions: []string{"desk"}}}
	r.restart()
	r.chat("Alice", "whatsapp")
	r.addDocument("prices.md", "# Delivery\n\nDeliveries run Monday to Saturday.", policy.RolePublic)
	require.NoError(t, os.WriteFile(filepath.Join(r.documents, "handbook.md"), []byte("# Handbook\n\nBe kind."), 0o600))
	for _, c := range []struct{ typed, want string }{
		// Times.
		{"/remind 2h Follow up with Alice about the proposal", "⏰ **Fri 20 Nov, 20:00** — Follow up with Alice about the proposal. Set."},
		{"/remind tomorrow 9am Check order status for client #472", "⏰ **Sat 21 Nov, 09:00** — Check order status for client \\#472. Set."},
		{"/remind tomorrow 9am weekly review", "⏰ **Sat 21 Nov, 09:00** — weekly review. Set."},
		{"/remind 2h check inbox", "⏰ **Fri 20 Nov, 20:00** — check inbox. Set."},
		{"/remind 2h summarize today's messages --agent", "I'll work on it and tell you here. Set."},
		{"/remind 2h to Alice: hello", "Send this to **Alice · WhatsApp**? Then type `/remind 2h hello --to \"Alice\"`."},
		{
			"/cron 0 7 * * 1-5 Morning brief: summarize overnight messages across business chats",
			"I repeat these words each time. With `--agent` I work on them instead.",
		},
		{"/cron 0 9 * * 1 Weekly digest of all customer conversations", "🔁 `0 9 * * 1` — Weekly digest of all customer conversations. Set."},
		{"/cron 0 9 * * 1-5 morning briefing", "With `--agent` I work on them instead."},
		{"/cron 0 9 * * 1-5 morning briefing --agent", "I'll work on it and tell you here. Set."},
		{"/jobs", "`/jobs 1` shows one, `/cancel 1` ends it."},
		{"/cancel job-abc123", "No reminder is about “job-abc123”. `/jobs` lists them."},
		{"/cancel", "Which job? `/jobs` lists them. `/cancel 1` ends one."},
		{"/cancel 1", "Cancelled: Follow up with Alice about the proposal."},
		{"cancel 2", "`/cancel 2`? 👍 or `yes` does it."},
		// Documents and memory.
		{"/index handbook.md public", "👀"},
		{"/index handbook.md admin", "👀"},
		{"/index handbook.md kb", "👀"},
		{"/index handbook.md", "who may see it?"},
		{"/docs", "prices.md"},
		{"/search delivery", "prices.md"},
		{"/ask when do we deliver?", "You asked **when do we deliver?**"},
		{"/remember the plumber is called Otto", "Noted: “the plumber is called Otto”. Undo: `/forget 1`."},
		{"/memory", "the plumber is called Otto"},
		{"/forget", "What should I forget?"},
		// Chats.
		{"/mode", "Alice · WhatsApp — silent"},
		{"/mode business", "Which chat becomes business?"},
		{"/mode business Alice", "Alice · WhatsApp is now business."},
		{"/mode bussiness Alice", "Did you mean `/mode business Alice`?"},
		{"mode silent Alice", "Did you mean `/mode silent Alice`?"},
		{"/delivery", "Alice · WhatsApp — **business**, answers on · no message yet · `auto`"},
		// Agents and the rest.
		{"/plan compare the configured", "👀"},
		{"/agents", "`@shop`"},
		{"agents list", "Did you mean `/agents`?"},
		{"@shop what is open?", "You asked **@shop what is open?**"},
		{"@desk what is open?", "You asked **@desk what is open?**"},
		{"@billing hello, refund please", "There is no agent `@billing`, only `@shop`."},
		{"/ask @billing hello", "There is no agent `@billing`, only `@shop`."},
		{"/remind 2h @billing sum up --agent", "There is no agent `@billing`, only `@shop`."},
		{"/agent", "`@shop`"},
		{"/status", "**"},
		{"/help", "**Ask me anything**"},
		{"/budget 5", "the caps are in config.yaml, such as `budget.per_day: 5`"},
		{"config get llm.model", "Settings are in config.yaml"},
		{"/config set llm.model x", "There's no `/config`. Settings are in config.yaml"},
		{"/settings", "There's no `/settings`. Settings are in config.yaml"},
		{"monitors status", "Did you mean `/monitors`?"},
		{"audit 12", "Did you mean `/audit 12`?"},
		{"/exec ls", "That is off: I run no commands on this machine"},
		{"/read /etc/hosts", "That is off: I run no commands"},
		{"pin 804639", "Did you mean `/pin`?"},
		{"/pin", "There is a PIN in the admin room in Matrix only"},
		{"/business setup", "There's no `/business`. What I tell customers is in config.yaml under `business:`"},
		{"/reminder 2h tea", "Did you mean `/remind`?"},
		{"/document", "Did you mean `/docs`?"},
		// Questions stay questions.
		{"agents of which bank?", "You asked"},
		{"what did we agree on with Alice", "You asked"},
		{"delivery", "You asked"},
		{"plan of the house", "You asked"},
		{"remind me on doomsday to call Alice", "You asked"}, // a model may know when that is
	} {
		require.Contains(t, r.asOwner(c.typed), strings.ReplaceAll(c.want, "\\#", "#"), c.typed)
	}
}

func TestHelp_WithoutModelSetsReminder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "none"
	r.restart()
	require.Contains(t, r.asOwner("remind me in 2 hours to call Ana"), "⏰ **Fri 20 Nov, 20:00** — call Ana. Set.")
	require.Contains(t, r.asOwner("remind me sometime"), "`tomorrow 9am`")
	refused := "`--agent` needs a model to work with: set `llm.model` in config.yaml."
	require.Contains(t, r.asOwner("/remind 2h sum up the day --agent"), refused)
	require.Contains(t, r.asOwner("/cron every day 18:00 sum up the day --agent"), refused)
	require.Equal(t, 1, r.count("select count(*) from schedules"))
}

func TestUpkeep_IsNotPausedByNumber(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.upkeep = []clock.Upkeep{{Name: "history", Cron: "0 3 * * *"}}
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.Contains(t, r.asOwner("/jobs 1 pause"),
		"Job 1 is upkeep of mine, not one of yours. `/jobs upkeep` lists it, `/jobs upkeep run history` does it now.")
	require.Zero(t, r.count("select count(*) from schedules where paused_at is not null"))
}

// TestHelp_UnknownCommandByMeaning: a command of another language or program is answered by the one that it means.
func TestHelp_UnknownCommandByMeaning(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	for typed, want := range map[string]string{
		"/hilfe":     "**Ask me anything**",
		"!ayuda":     "**Ask me anything**",
		"//aide":     "**Ask me anything**",
		"aidez-moi":  "**Ask me anything**",
		"/notes":     "Did you mean `/memory`?",
		"/todo":      "Did you mean `/jobs`?",
		"/stumm ana": "There's no `/stumm`.",
		"/hlep":      "Did you mean `/help`?",
		"/whoami":    "I know you by your Matrix id",
		"/remove":    "`/docs remove NAME` deletes a document",
		"/quit":      "`/pause all` stops what I send.",
	} {
		require.Contains(t, r.asOwner(typed), want, typed)
	}
}
