package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// closedFixture is a shop that is open from Monday to Friday, 9 to 17 UTC, at a time that the test sets.
func closedFixture(t *testing.T) (*fixture, *time.Time) {
	t.Helper()
	b := setup(t, llm.None{})
	shop := hours.Hours{Zone: time.UTC}
	require.NoError(t, shop.Set("mon-fri 9-17"))
	b.agent.Turns.standard.hours, b.agent.Turns.standard.texts = shop, catalog.Texts{}
	now := time.Now()
	b.agent.now = func() time.Time { return now }
	return b, &now
}

// nextAt returns the next time at which clocks show an hour of a weekday in UTC.
func nextAt(day time.Weekday, hour int) time.Time {
	t := time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(hour) * time.Hour)
	for t.Weekday() != day || t.Before(time.Now()) {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

func TestHours_ClosedNotifiesOnCall(t *testing.T) {
	t.Parallel()
	for day, called := range map[time.Weekday]int{time.Saturday: 1, time.Monday: 0} {
		b, now := closedFixture(t)
		b.agent.Turns.desk.OnCall = []id.UserID{"@eva:x"}
		*now = nextAt(day, 12)
		b.escalate("I want to talk to a person, my parcel is broken.")
		require.Equal(t, called, b.count("select count(*) from outbox where content->'m.mentions'->'user_ids' = '[\"@eva:x\"]'"), day)
	}
}

func TestHours_NextOpeningSaidOnce(t *testing.T) {
	t.Parallel()
	b, now := closedFixture(t)
	*now = nextAt(time.Saturday, 12)
	b.escalate("I want to talk to a person, my parcel is broken and I want my money back.")
	b.setOutboxTime(*now)
	want := "[Nora] Thank you for your message. We are closed at the moment and will get back to you when we open again (Monday, 09:00)."
	require.Equal(t, []string{want}, b.queuedTexts(b.chat))

	*now = now.Add(20 * time.Hour)
	b.escalate("Hello? Is anybody there? I have been waiting for an answer.")
	require.Len(t, b.queuedTexts(b.chat), 1, "once in a closed period")

	*now = nextAt(time.Monday, 10)
	for now.Before(nextAt(time.Saturday, 12)) {
		*now = now.AddDate(0, 0, 7)
	}
	b.escalate("Now you are open, so please tell me about the parcel.")
	require.Len(t, b.queuedTexts(b.chat), 1, "the contact knows that a person will answer")

	*now = now.Add(10 * time.Hour)
	b.escalate("It is evening, and there is still no answer to my question.")
	require.Len(t, b.queuedTexts(b.chat), 2)
	require.Contains(t, b.queuedTexts(b.chat)[1], "(Tuesday, 09:00)", "another closed period")
}

// In danger, a contact learns first what to do, and then when somebody is there.
func TestHours_DangerSaysOpening(t *testing.T) {
	t.Parallel()
	b, now := closedFixture(t)
	*now = nextAt(time.Saturday, 12)
	gas := b.storeContactMessage("There is a smell of gas in the hall.", policy.ActionEscalate)
	b.exec("update messages set code = 'danger', received_at = received_at - interval '1 minute' where id = $1", gas)
	b.runTurn()
	want := "[Nora] " + catalog.Texts{}.Text(catalog.Danger, catalog.English) +
		"\nThank you for your message. We are closed at the moment and will get back to you when we open again (Monday, 09:00)."
	require.Equal(t, []string{want}, b.queuedTexts(b.chat))
}

func TestContactTexts_InLanguageOfConversation(t *testing.T) {
	t.Parallel()
	b, now := closedFixture(t)
	*now = nextAt(time.Tuesday, 10)
	b.storeContactMessage("Guten Tag, ich habe gestern bei Ihnen bestellt und das Paket ist nicht angekommen.", policy.ActionArchive)
	b.escalate("ok refund")
	require.Equal(t, []string{"[Nora] Ich frage im Team nach und melde mich wieder."}, b.queuedTexts(b.chat), "not that of the last message")
}

func TestHours_ClosedSendsOnlyAwayText(t *testing.T) {
	t.Parallel()
	b, now := closedFixture(t)
	b.agent.Turns.awayOutsideHours = true
	*now = nextAt(time.Saturday, 12)
	b.storeContactMessage("How much is the delivery?", policy.ActionAnswer)
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", false))
	sent := b.queuedTexts(b.chat)
	require.Len(t, sent, 1)
	require.True(t, strings.HasPrefix(sent[0], "[Nora] Thank you for your message. We are closed"), sent)
	var decided store.Message
	list, err := store.DecidedMessages(context.Background(), b.store.DB(), b.chat.ID, "", 1)
	require.NoError(t, err)
	decided = list[0]
	require.Contains(t, decided.Reason, "business.outside_hours")

	*now = now.AddDate(0, 0, 3) // Tuesday
	b.storeContactMessage("How much is the delivery?", policy.ActionAnswer)
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job-2", false))
	require.Len(t, b.queuedTexts(b.chat), 2)
	require.NotContains(t, b.queuedTexts(b.chat)[1], "closed")
}

func TestHours_PerLabel(t *testing.T) {
	t.Parallel()
	b, now := closedFixture(t)
	night := hours.Hours{Zone: time.UTC}
	require.NoError(t, night.Set("sat 8-20"))
	b.agent.Turns.standard.defaults.Labels = []policy.Label{{Name: "plain"}, {Name: "night"}}
	b.agent.Turns.standard.labelHours = map[string]hours.Hours{"night": night}
	_, err := b.store.Pool().Exec(t.Context(), "update chats set labels = '{night,plain}' where id = $1", b.chat.ID)
	require.NoError(t, err)
	*now = nextAt(time.Saturday, 12)
	b.escalate("I want to talk to a person, my parcel is broken and I want my money back.")
	require.Len(t, b.queuedTexts(b.chat), 1)
	require.NotContains(t, b.queuedTexts(b.chat)[0], "closed")
	*now = now.AddDate(0, 0, 2) // Monday
	b.escalate("Hello? Is anybody there? I have been waiting for an answer.")
	require.Len(t, b.queuedTexts(b.chat), 2)
	require.Contains(t, b.queuedTexts(b.chat)[1], "(Saturday, 08:00)")
}
