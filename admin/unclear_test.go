package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// asksWithoutModel makes the fake agent one without a model that finds nothing.
func (r *rig) asksWithoutModel() {
	r.settings.Model = "none"
	r.agent.saysNote = true
	r.restart()
}

// TestUnclear_NamesNearestOrder: a line that is no order is never answered by "nothing found" alone, and changes nothing.
func TestUnclear_NamesNearestOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asksWithoutModel()
	ana := r.chat("Ana", "whatsapp")
	r.asOwner("/remind tomorrow 9am call the dentist")
	for typed, want := range map[string]string{
		"start answering the hotel people pls":           "Nearest: `/mode business`",
		"ana was so rude to the waiter":                  "Nearest: `/messages Ana`",
		"called the dentist, tick it off":                "Nearest: `/jobs 1`",
		"did Ana send the invoice?":                      "Nearest: `/messages Ana`",
		"Ana bis 18 Uhr im Büro":                         "understood no order",
		"die heizung ist schon wieder kaputt":            "`/help` what I can do",
		"translate the last message of ana":              "needs a language model, and none is configured. Set `llm.model`",
		"ana wrote twice and you said nothing, how come": "Nearest to that: `/why Ana`",
		"no more pings from you tonight at all ok":       "mute this room in your client",
		"move the laundry to 10":                         "No reminder is about that, and nothing changed.",
	} {
		require.Contains(t, r.asOwner(typed), want, typed)
	}
	require.Equal(t, policy.ModeSilent, r.reload(ana).ModeIn(r.settings.Defaults))
	require.Nil(t, r.reload(ana).PausedUntil)
	require.Equal(t, 1, r.count("select count(*) from schedules where body = 'call the dentist'"))
}

// TestUnclear_ChangesAfterYes: what was understood in part, or with a word misspelled, is carried out after a yes.
func TestUnclear_ChangesAfterYes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asksWithoutModel()
	require.Contains(t, r.asOwner("rmeind me tomorrow at 8 to call Otto"),
		"I am not sure that I understood: `/remind tomorrow at 8 to call Otto`? 👍")
	require.Zero(t, r.count("select count(*) from schedules where body like '%Otto'"))
	require.Contains(t, r.asOwner("yes"), "⏰ **Sat 21 Nov, 08:00** — call Otto. Set.")
}

// TestUnclear_MisspelledAskIsAsked: the question of an order to ask is asked, and not read as an order again.
func TestUnclear_MisspelledAskIsAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asksWithoutModel()
	r.addDocument("prices.md", "# Prices\n\nA haircut costs 35 euros.", policy.RoleAdmin)
	for _, typed := range []string{
		"chekc in my documents what a haircut costs",
		"bsuca en mis documentos que a haircut costs",
		"chrche dans mes documents quel a haircut costs",
	} {
		require.Regexp(t, `^You asked \*\*.*haircut costs\*\*`, r.asOwner(typed), typed)
	}
}

// TestMove_KeepsDayOrTime: a time of day is on the day of the reminder, and a day has the reminder's time of day.
func TestMove_KeepsDayOrTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asksWithoutModel()
	r.asOwner("/remind tomorrow 9am call the dentist")
	for typed, want := range map[string]string{
		"move the dentist to 10":                      "`/jobs 1 edit 2026-11-21 10:00`, “call the dentist”: to **Sat 21 Nov, 10:00**? 👍",
		"make the dentist one 11 instead of 9":        "`/jobs 1 edit 2026-11-21 11:00`",
		"verschieb den dentist auf freitag 11 uhr":    "`/jobs 1 edit 2026-11-27 11:00`",
		"lo del dentista pasalo al lunes a las 10":    "`/jobs 1 edit 2026-11-23 10:00`",
		"lo del dentista mejor el lunes":              "`/jobs 1 edit 2026-11-23 09:00`",
		"décale le dentiste à 8h":                     "`/jobs 1 edit 2026-11-21 08:00`",
		"postpone the dentist by a lot, at some time": "`/jobs 1 edit tomorrow 9am` moves it.",
	} {
		require.Contains(t, r.asOwner(typed), want, typed)
	}
	require.Contains(t, r.asOwner("move the dentist to 10"), "👍")
	require.Contains(t, r.asOwner("yes"), "Changed: **Sat 21 Nov, 10:00**")
}

// TestEscalations_NoneNamesLastWords: where nothing is escalated, who asks who waits is told who wrote last, too.
func TestEscalations_WithoutAnyNameLastWords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	group := r.chat("Family", "whatsapp", func(c *store.Chat) { c.Kind = policy.KindGroup })
	r.addMessageIn(ana, "Are you there?", 2*time.Hour)
	r.addMessageIn(group, "Dinner on Sunday", time.Hour)
	got := r.asOwner("who is waiting for me")
	require.Contains(t, got, "No open escalations. In these chats the contact wrote last:\n\n* Ana · WhatsApp, 2 h ago")
	require.NotContains(t, got, "Family")
	require.NotContains(t, r.asOperator("/escalations"), "Ana")
}
