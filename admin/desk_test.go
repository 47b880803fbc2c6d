package admin_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestDesk_ShowsNumbersAndSources(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.settings.Zone = zoneAtNoon() // so that no day ends within the test
	r.restart()
	require.Contains(t, r.asOwner("/desk"), "nothing happened")
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ana, ben := r.customer("Ana"), r.customer("Ben")
	r.customerAsks(ana, "What does delivery cost?")
	r.customerAsks(ben, "Do you rent out tents?")
	r.say(ben, policy.AuthorOwnerPhone, owner, "No.")
	r.time = func() time.Time { return time.Now().Add(time.Minute) }
	said := r.asOperator("/desk")
	require.Contains(t, said, "* answered alone: **1** (`alone`)\n")
	require.Contains(t, said, "* escalated: **1** (`escalated`): no answer 1; 0 of them again within a week (`reopened`)\n")
	require.Contains(t, said, "* questions without an answer: **1** (`unanswered`)\n")
	require.Contains(t, r.asOwner("/desk unanswered"), "* Ben · WhatsApp, ")
	require.NotContains(t, r.asOwner("/desk unanswered"), "tents", "no words of contacts")
	for _, name := range regexp.MustCompile("\\(`(\\w+)`\\)").FindAllStringSubmatch(said, -1) {
		require.NotContains(t, r.asOwner("/desk "+name[1]), "Try `/desk`", "each number opens its list")
	}
	require.Contains(t, r.asOwner("/desk conversations"), "**conversations: 2**")
	require.Contains(t, r.asOwner("/desk week alone"), "* Ana · WhatsApp, ")
	require.Contains(t, r.asOwner("/desk reopened"), "none")
	require.Contains(t, r.asOwner("/desk nonsense"), "Try `/desk`")

	require.NotContains(t, r.asOwner("/desk"), "👍")
	r.exec("insert into ratings (outbox_id, chat_id, contact, asked_at, value, given_at) select id, chat_id, '@x:x', created_at, 'good', now() from outbox where chat_id = $1 limit 1", ana.ID)
	require.Contains(t, r.asOwner("/desk"), "* said by contacts: **1** 👍 (`good`), **0** 👎 (`bad`)\n")
	require.Contains(t, r.asOwner("/desk good"), "* Ana · WhatsApp, ")

	before := len(r.homeserver.sent)
	require.Contains(t, r.asOwner("/desk week"), "the last seven days")
	var picture sentEvent
	for _, e := range r.homeserver.sent[before:] {
		if e.Type == "m.image" {
			picture = e
		}
	}
	require.Equal(t, "desk.png", picture.Body)
	require.Equal(t, 1,
		r.count("select count(*) from outbox where content->'info'->>'w' = '720' and content->'info'->>'h' = '320' and chat_id = $1", r.room.ID))

	require.Contains(t, r.asOwner("/desk yesterday"), "**Desk, yesterday**: nothing happened")
	r.time = func() time.Time { return time.Now().AddDate(0, 0, 1) }
	require.Contains(t, r.asOwner("/desk yesterday"), "* answered alone: **1** (`alone`)\n")
	require.Contains(t, r.asOwner("/desk unanswered yesterday"), "* Ben · WhatsApp, ")
	r.time = func() time.Time { return time.Now().Add(time.Minute) }

	n, err := r.admin.Desk.Report(r.ctx)
	require.NoError(t, err)
	require.Positive(t, n)
	require.Contains(t, bodies(r.sendQueued()), "Desk, the last 24 hours")
}

// zoneAtNoon returns a time zone in which it is noon now.
func zoneAtNoon() *time.Location {
	now := time.Now().UTC()
	return time.FixedZone("noon", int((12*time.Hour - now.Sub(now.Truncate(24*time.Hour))).Seconds()))
}
