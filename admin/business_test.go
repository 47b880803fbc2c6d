package admin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/business"
	"multis/business/hours"
	"multis/config"
	"multis/policy"
	"multis/store"
)

// configFile is a real configuration file, as cmd/multis passes it to the admin room.
type configFile string

func (f configFile) Values(settings map[string]string) ([]config.Entry, error) {
	return config.Values(string(f), settings)
}

func (f configFile) Holidays(settings map[string]string) ([]hours.Days, error) {
	return config.Holidays(string(f), settings)
}

func (f configFile) Check(settings map[string]string, key, value string) error {
	return config.CheckSetting(string(f), settings, key, value)
}

// previewer answers each question with itself, and escalates those about refunds.
type previewer struct{}

func (previewer) Preview(_ context.Context, _ store.Chat, _ store.Message, question string) (admin.Preview, error) {
	if strings.Contains(question, "refund") {
		return admin.Preview{Text: "A person will answer.", Why: "The word \"refund\" escalates to a person.", Escalates: true}, nil
	}
	return admin.Preview{
		Text:      "You asked: " + question,
		Citations: []store.Citation{{Source: "[prices.md › Delivery]", Quote: "Delivery costs 5 euro."}},
		Why:       "It is quoted.",
	}, nil
}

// newShop returns an admin room with a configuration file.
func newShop(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.config, r.previewer = newConfigFile(t), previewer{}
	r.restart()
	return r
}

// newConfigFile writes a configuration without anything about the business.
func newConfigFile(t *testing.T) configFile {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`homeserver: {address: "https://matrix.piano.org", domain: piano.org}
appservice: {sender_localpart: as_multis_7hq2c9xk, as_token: as-secret, hs_token: hs-secret}
owner: "@you:piano.org"
time_zone: Europe/Berlin
`), 0o600))
	return configFile(file)
}

// setupAnswers answer the questions of the setup, in their order.
var setupAnswers = []string{
	"Piano House", "none", "prices, delivery, !refund", "Never promise a date; Prices include tax, always", "https://piano.example/help",
	"mon-fri 9-12:30, 13:30-18; sat 10-14",
	"friendly, brief", "@eva:piano.org",
}

// loadConfig loads the configuration with what was set in the room.
func (r *rig) loadConfig() *config.Config {
	r.t.Helper()
	settings, err := store.ConfigSettings(r.ctx, r.st.DB())
	require.NoError(r.t, err)
	file, ok := r.config.(configFile)
	require.True(r.t, ok)
	cfg, err := config.LoadWith(string(file), settings)
	require.NoError(r.t, err)
	return cfg
}

func TestBusinessSetup_UnderFifteenMessages(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.chat("Ana", "whatsapp")
	messages := 0
	say := func(line string) string { messages++; return r.asOwner(line) }
	require.Contains(t, say("/business setup"), "1 of 9 · name")
	for i, answer := range setupAnswers {
		require.Contains(t, say(answer), fmt.Sprintf("✅ Noted.\n**%d of 9", i+2), answer)
	}
	messages++
	require.Contains(t, bodies(r.sendFile("prices.md", "# Delivery\n\nDelivery costs 5 euro.", "/index public")), "👀")
	require.Contains(t, say("What does delivery cost?"),
		"A customer would read:**\n\n> You asked: What does delivery cost?\n\nfrom [prices.md › Delivery]: “Delivery costs 5 euro.”")
	require.Equal(t, policy.ModeSilent, r.reload(r.chat("Ben", "whatsapp")).ModeIn(r.settings.Defaults), "nobody is answered yet")
	require.Contains(t, say("I want a refund"),
		"I would escalate** because: The word \"refund\" escalates to a person.\nThe customer would read:\n\n> A person will answer.")
	require.Contains(t, say("done"), "The setup is done.** No customer gets anything yet")
	require.Contains(t, say("/mode business Ana"), "business")
	require.Less(t, messages, 15)

	b := r.loadConfig().Business
	require.Equal(t, "Piano House", b.Name)
	require.Equal(t, []string{"prices", "delivery"}, b.Topics)
	require.Equal(t, []string{"refund"}, b.Escalation.Keywords)
	require.Equal(t, []string{"Never promise a date", "Prices include tax, always"}, b.Rules)
	require.Equal(t, []string{"https://piano.example/help/"}, b.Pages)
	require.Equal(t, []string{"mon-fri 9-12:30, 13:30-18", "sat 10-14"}, b.Hours)
	require.Equal(t, "friendly, brief", b.Tone)
	require.Equal(t, "@eva:piano.org", r.loadConfig().Operators[0].String())
	require.Contains(t, r.asOwner("/business show"), "* rules: Never promise a date, Prices include tax, always")
	require.Contains(t, r.asOwner("/business show"), "* holidays: — (`business.holidays`")
	file := string(r.config.(configFile)) //nolint:forcetypeassert // newShop set it
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(written,
		"business: {holidays: [2027-01-01, 2026-12-24..2026-12-26, 2020-05-01], holiday_calendar: days.ics}\n"...), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "days.ics"),
		[]byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20270201\r\nSUMMARY:Closed\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"), 0o600))
	require.Contains(t, r.asOwner("/business show"), "* holidays: Thu 24 Dec 2026 to Sat 26 Dec 2026, Fri 1 Jan 2027, Mon 1 Feb 2027")
	require.Contains(t, r.asOwner("/business setup"), "1 of 9", "it begins anew, with what is set")
}

// Whether the owner stops, a command comes between, the process restarts or the question expires: the setup goes on at the same question.
func TestBusinessSetup_ResumesAfterAbort(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.asOwner("/business setup")
	for i, answer := range append(setupAnswers, "") {
		at := fmt.Sprintf("Going on where we stopped.\n**%d of 9 · %s", i+1, business.Steps()[i])
		require.Contains(t, r.asOwner("cancel"), "`/business setup` continues")
		require.Contains(t, r.asOwner("Piano House?"), "You asked", "the room is free again")
		require.Contains(t, r.asOwner("/business setup"), at)
		r.restart()
		require.Contains(t, r.asOwner("/pause all"), "paused")
		require.Contains(t, r.asOwner("/business setup"), at)
		r.now = r.now.Add(2 * time.Hour)
		require.NotContains(t, r.asOwner("Piano House?"), "of 9", "the question has expired")
		require.Contains(t, r.asOwner("/business setup"), at)
		if answer != "" {
			require.Contains(t, r.asOwner(answer), "Noted")
		}
	}
	require.Equal(t, []string{"prices", "delivery"}, r.loadConfig().Business.Topics)
}

func TestBusinessSetup_SkipRedoRefuse(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.asOwner("/business setup")
	require.Contains(t, r.asOwner("skip"), "Kept as it was.\n**2 of 9")
	require.Contains(t, r.asOwner("back"), "1 of 9")
	require.Contains(t, r.asOwner("P"), "⚠️ Not taken: it is 1 character long; write 2 to 100 characters. Try again.")
	r.asOwner("Piano House")
	require.Contains(t, r.asOwner("/business setup hours"), "6 of 9 · hours")
	require.Contains(t, r.asOwner("mon-fri 25-30"), "⚠️ Not taken: it cannot be read: there is no time 25:00. Try again.")
	require.Contains(t, r.asOwner("mon-fri 9-17"), "✅ Noted.\n**7 of 9")
	require.Contains(t, r.asOwner("back"), "Now: “mon-fri 9-17”")
	require.Contains(t, r.asOwner("/business setup operators"), "8 of 9")
	require.Contains(t, r.asOwner("eva"), "is not a Matrix id")
	require.Equal(t, `Not set: operators: "eva" is not a Matrix id; write it like "@you:example.com".`,
		r.asOwner("/config set operators eva, bob"), "one mistake at a time")
	require.Contains(t, r.asOwner("2"), "is not a Matrix id", "a number is an answer like any other")
	require.NotContains(t, r.asOperator("@mallory:example.com"), "of 9", "only the owner answers")
	require.Contains(t, r.asOwner("/business setup nonsense"), "There is no such question")
	require.Contains(t, r.asOwner("/business preview Do you deliver?"), "You asked: Do you deliver?")
	require.Contains(t, r.asOperator("/business clear"), "Only the owner can use")

	require.Contains(t, r.asOwner("/business clear"), "Take back everything")
	require.Contains(t, r.asOwner("yes"), "Undone")
	require.Empty(t, r.loadConfig().Business.Name)
	require.Empty(t, r.loadConfig().Business.Hours)
	require.Contains(t, r.asOwner("/business setup"), "1 of 9")
}

// What is typed after the end of the setup is no answer to it, however often the setup was begun.
func TestBusinessSetup_EndClosesQuestion(t *testing.T) {
	t.Parallel()
	for name, end := range map[string][]string{
		"stopped": {"cancel"}, "cleared": {"/business clear", "yes"},
		"done": {"/business setup preview", "done"},
	} {
		r := newShop(t)
		r.asOwner("/business setup rules")
		require.Contains(t, r.asOwner("/business setup"), "Going on where we stopped.\n**4 of 9 · rules", name)
		r.asOwner("/business setup tone")
		for _, typed := range end {
			r.asOwner(typed)
		}
		require.Contains(t, r.asOwner("Do you deliver?"), "You asked", name)
		require.Empty(t, r.loadConfig().Business.Rules, name)
		require.Empty(t, r.loadConfig().Business.Tone, name)
	}
}

// The question shows "!refund" itself, and what begins with "!" is a command elsewhere.
func TestBusinessSetup_TopicMayBeginWithMark(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	require.Contains(t, r.asOwner("!refund, !warranty"), "There's no `/refund,`")
	require.Contains(t, r.asOwner("/business setup topics"), "What do customers ask about?")
	require.Contains(t, r.asOwner("/refnd"), "There's no `/refnd`")
	require.Contains(t, r.asOwner("!refund, !warranty"), "✅ Noted.")
	require.Equal(t, []string{"refund", "warranty"}, r.loadConfig().Business.Escalation.Keywords)
}

func TestBusinessSetup_NoneEmptiesSetting(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	require.Contains(t, r.asOwner("/config set business.hours mon-fri 9-17"), "from now on")
	require.Equal(t, "`business.hours` is **empty** from now on. Undo: `/config reset business.hours`.",
		r.asOwner("/config set business.hours none"))
	require.Empty(t, r.loadConfig().Business.Hours)
	require.Contains(t, r.asOwner("/config set budget.per_day none"), "Not set:")
}
