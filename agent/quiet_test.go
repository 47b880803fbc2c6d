package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

const day = 24 * time.Hour

// quiet is a fixture with settings for quiet chats.
func quiet(t *testing.T, set policy.Defaults) *fixture {
	t.Helper()
	b := setup(t, llm.None{})
	set.Profile = policy.ProfilePersonal
	b.agent.defaults, b.agent.Quiet.standard.defaults = set, set
	return b
}

func TestFollowUp_OneDraftPerSilence(t *testing.T) {
	t.Parallel()
	for _, delivery := range []policy.Delivery{policy.DeliveryAuto, policy.DeliveryDraft} {
		b := quiet(t, policy.Defaults{FollowUpDays: 3})
		b.storeMessage(b.chat, policy.AuthorContact, "Guten Tag, ich möchte gerne bei Ihnen bestellen und habe dazu noch eine Frage.",
			time.Now().Add(-time.Minute))
		b.answeredLongAgo("How much is the delivery?", 2*day)
		b.exec("update chats set delivery = $1 where id = $2", delivery, b.chat.ID)
		require.Zero(t, b.checkQuiet(policy.PurposeFollowUp), "after two days")

		b.passes(day)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp))
		require.Equal(t, 1, b.count("select count(*) from outbox where purpose = 'follow_up' and state = 'draft' and content->>'body' = $1",
			"[Nora] Wir haben länger nichts von Ihnen gehört. Können wir noch etwas für Sie tun?"))
		require.Zero(t,
			b.count("select count(*) from river.river_job j join outbox o on j.args->>'outbox' = o.id::text where j.kind = 'send' and o.purpose = 'follow_up'"), "nothing sends it")
		b.exec("update outbox set state = 'dropped', code = 'draft_expired' where state = 'draft'")
		b.passes(day)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp), "one in a silence")
		b.storeMessage(b.chat, policy.AuthorOwnerPhone, "Is it still interesting for you?", time.Now())
		b.passes(4 * day)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp), "what we write does not end the silence")

		b.exec("update chats set delivery = 'auto' where id = $1", b.chat.ID)
		b.answeredLongAgo("And how much is the delivery?", 3*day)
		require.Equal(t, 2, b.checkQuiet(policy.PurposeFollowUp), "another silence")
	}
}

func TestFollowUp_WithdrawnByAnyMessage(t *testing.T) {
	t.Parallel()
	for author, code := range map[policy.Author]policy.Code{
		policy.AuthorContact:    policy.CodeDraftOutdated,
		policy.AuthorOwnerPhone: policy.CodeDraftAnswered,
	} {
		b := quiet(t, policy.Defaults{FollowUpDays: 3})
		b.answeredLongAgo("How much is the delivery?", 3*day)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp))
		b.storeMessage(b.chat, author, "I am back", time.Now())
		require.Equal(t, 1, b.count("select count(*) from outbox where purpose = 'follow_up' and state = 'dropped' and code = $1", code))
	}
}

func TestFollowUp_AfterQuestionOrAnswer(t *testing.T) {
	t.Parallel()
	b := quiet(t, policy.Defaults{FollowUpDays: 1})
	b.learn("boats.md", twoBoats)
	b.answeredLongAgo("How much is the deposit?", day)
	require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp))

	b = quiet(t, policy.Defaults{})
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		days := 1
		return store.SetFollowUpDays(context.Background(), tx, b.chat.ID, &days)
	}))
	b.storeMessage(b.chat, policy.AuthorContact, "Is it there?", time.Now().Add(-time.Minute))
	b.storeMessage(b.chat, policy.AuthorOwnerClient, "It is, when do you come?", time.Now())
	b.passes(day)
	require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp), "set for this chat")
}

func TestFollowUp_Exclusions(t *testing.T) {
	t.Parallel()
	never := 0
	closed := hours.Hours{Zone: time.UTC}
	require.NoError(t, closed.Set([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}[(time.Now().UTC().Weekday()+3)%7]+" 9-10"))
	for name, then := range map[string]func(b *fixture){
		"off":              func(b *fixture) { b.agent.defaults.FollowUpDays = 0 },
		"off for the chat": func(b *fixture) { b.exec("update chats set follow_up_days = 0 where id = $1", b.chat.ID) },
		"off for its label": func(b *fixture) {
			b.agent.defaults.Labels = []policy.Label{{Name: "vip", FollowUpDays: &never}}
			b.exec("update chats set labels = '{vip}'")
		},
		"shadow":   func(b *fixture) { b.exec("update chats set delivery = 'shadow' where id = $1", b.chat.ID) },
		"silent":   func(b *fixture) { b.exec("update chats set mode = 'silent' where id = $1", b.chat.ID) },
		"personal": func(b *fixture) { b.exec("update chats set mode = 'personal' where id = $1", b.chat.ID) },
		"off chat": func(b *fixture) { b.exec("update chats set mode = 'off' where id = $1", b.chat.ID) },
		"a group":  func(b *fixture) { b.exec("update chats set kind = 'group' where id = $1", b.chat.ID) },
		"a closed chat": func(b *fixture) {
			b.exec("update chats set closed_reason = 'you left the room' where id = $1", b.chat.ID)
		},
		"paused": func(b *fixture) {
			b.exec("update chats set paused_until = now() + interval '1 day' where id = $1", b.chat.ID)
		},
		"the owner was just there": func(b *fixture) { b.exec("update chats set owner_last_at = now() where id = $1", b.chat.ID) },
		"the owner reads": func(b *fixture) {
			b.exec("update chats set owner_active_until = now() + interval '1 minute' where id = $1", b.chat.ID)
		},
		"the contact types": func(b *fixture) {
			b.exec("update chats set typing_until = now() + interval '1 minute' where id = $1", b.chat.ID)
		},
		"closed hours": func(b *fixture) { b.agent.Quiet.standard.hours = closed },
		"a person has to answer": func(b *fixture) {
			b.exec("insert into escalations (chat_id, message_id, reason) select $1, min(id), 'x' from messages where chat_id = $1", b.chat.ID)
		},
		"another draft waits": func(b *fixture) {
			b.exec("insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state) values (gen_random_uuid(), $1, 'owner', 'reply', 'm.room.message', '{}', '', '', 'draft')", b.chat.ID)
		},
		"the contact wrote last": func(b *fixture) {
			b.storeMessage(b.chat, policy.AuthorContact, "Thanks!", time.Now().Add(-3*day-time.Hour))
		},
		"we thanked last": func(b *fixture) {
			b.storeMessage(b.chat, policy.AuthorOwnerPhone, "Thank you!", time.Now().Add(-3*day-time.Hour))
		},
		"it was a greeting":         func(b *fixture) { b.exec("update outbox set purpose = 'greeting'") },
		"it was a reminder":         func(b *fixture) { b.exec("update outbox set purpose = 'operator'") },
		"it was an approved notice": func(b *fixture) { b.exec("update outbox set purpose = 'draft', drafted_as = 'escalation'") },
		"it is too long ago":        func(b *fixture) { b.passes(8 * day) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := quiet(t, policy.Defaults{FollowUpDays: 3})
			b.answeredLongAgo("How much is the delivery?", 3*day+2*time.Hour)
			then(b)
			before := b.count("select count(*) from outbox")
			require.Zero(t, b.checkQuiet(policy.PurposeFollowUp))
			require.Equal(t, before, b.count("select count(*) from outbox"))
		})
	}
}

func TestRating_AsksOnce(t *testing.T) {
	t.Parallel()
	b := quiet(t, policy.Defaults{AskRating: true})
	b.answeredLongAgo("How much is the delivery?", 5*time.Minute)
	require.Zero(t, b.checkQuiet(policy.PurposeRating), "it is not over")
	b.passes(5 * time.Minute)
	require.Equal(t, 1, b.checkQuiet(policy.PurposeRating))
	require.Equal(t, []string{"[Nora] Did we help you? Please react to this message with 👍 or 👎."}, b.queuedTexts(b.chat))
	b.goesOut()
	b.passes(2 * time.Hour)
	b.answeredLongAgo("And how much is the delivery?", time.Hour)
	require.Equal(t, 1, b.checkQuiet(policy.PurposeRating), "the same conversation")
	b.passes(policy.ConversationGap)
	b.answeredLongAgo("How much is the delivery now?", 10*time.Minute)
	require.Equal(t, 2, b.checkQuiet(policy.PurposeRating), "another one")
	require.Equal(t, 2, b.count("select count(*) from ratings where contact = '@demo_ana:x' and value = ''"))
}

func TestRating_FollowsDeliveryOfChat(t *testing.T) {
	t.Parallel()
	b := quiet(t, policy.Defaults{AskRating: true})
	b.answeredLongAgo("How much is the delivery?", 10*time.Minute)
	b.exec("update chats set delivery = 'draft' where id = $1", b.chat.ID)
	require.Equal(t, 1, b.checkQuiet(policy.PurposeRating))
	require.Equal(t, 1, b.count("select count(*) from outbox where purpose = 'rating' and state = 'draft'"))
	b.storeMessage(b.chat, policy.AuthorContact, "One more thing", time.Now())
	require.Equal(t, 1, b.count("select count(*) from outbox where purpose = 'rating' and state = 'dropped'"))
}

func TestRating_Exclusions(t *testing.T) {
	t.Parallel()
	no := false
	closed := hours.Hours{Zone: time.UTC}
	require.NoError(t, closed.Set([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}[(time.Now().UTC().Weekday()+3)%7]+" 9-10"))
	for name, then := range map[string]func(b *fixture){
		"off": func(b *fixture) { b.agent.defaults.AskRating = false },
		"off for its label": func(b *fixture) {
			b.agent.defaults.Labels = []policy.Label{{Name: "vip", AskRating: &no}}
			b.exec("update chats set labels = '{vip}'")
		},
		"shadow":                   func(b *fixture) { b.exec("update chats set delivery = 'shadow' where id = $1", b.chat.ID) },
		"silent":                   func(b *fixture) { b.exec("update chats set mode = 'silent' where id = $1", b.chat.ID) },
		"closed hours":             func(b *fixture) { b.agent.Quiet.standard.hours = closed },
		"the owner was just there": func(b *fixture) { b.exec("update chats set owner_last_at = now() where id = $1", b.chat.ID) },
		"the owner reads": func(b *fixture) {
			b.exec("update chats set owner_active_until = now() + interval '1 minute' where id = $1", b.chat.ID)
		},
		"a person has to answer": func(b *fixture) {
			b.exec("insert into escalations (chat_id, message_id, reason) select $1, min(id), 'x' from messages where chat_id = $1", b.chat.ID)
		},
		"the contact asked again": func(b *fixture) {
			b.storeMessage(b.chat, policy.AuthorContact, "And when?", time.Now().Add(-15*time.Minute))
		},
		"it was asked back":            func(b *fixture) { b.exec("update outbox set purpose = 'clarify'") },
		"only greeted":                 func(b *fixture) { b.exec("update outbox set purpose = 'greeting'") },
		"the contact asked nothing":    func(b *fixture) { b.exec("update messages set action = 'archive'") },
		"it ended more than a day ago": func(b *fixture) { b.passes(day) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := quiet(t, policy.Defaults{AskRating: true})
			b.answeredLongAgo("How much is the delivery?", 20*time.Minute)
			then(b)
			require.Zero(t, b.checkQuiet(policy.PurposeRating))
		})
	}
	for _, thanks := range []string{"Thanks!", "ok"} {
		b := quiet(t, policy.Defaults{AskRating: true})
		b.answeredLongAgo("How much is the delivery?", 20*time.Minute)
		b.storeMessage(b.chat, policy.AuthorContact, thanks, time.Now().Add(-15*time.Minute))
		require.Equal(t, 1, b.checkQuiet(policy.PurposeRating), thanks)
	}
}

func TestFollowUp_InEachLanguage(t *testing.T) {
	t.Parallel()
	for _, lang := range catalog.Langs() {
		b := quiet(t, policy.Defaults{FollowUpDays: 1, AskRating: true})
		b.agent.Quiet.standard.language = lang
		b.storeMessage(b.chat, policy.AuthorContact, "?", time.Now().Add(-time.Minute))
		b.storeMessage(b.chat, policy.AuthorOwnerPhone, "…", time.Now())
		b.exec("update messages set action = 'answer', answered_at = now() where author = 'contact'")
		b.passes(30 * time.Minute)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeRating), lang)
		b.exec("update outbox set state = 'dropped'")
		b.passes(day)
		require.Equal(t, 1, b.checkQuiet(policy.PurposeFollowUp), lang)
		for _, name := range []catalog.Name{catalog.FollowUp, catalog.Rating} {
			require.Equal(t, 1, b.count("select count(*) from outbox where content->>'body' = $1",
				fmt.Sprintf("[Nora] %s", catalog.Texts{}.Text(name, lang))), "%s %s", lang, name)
		}
	}
}
