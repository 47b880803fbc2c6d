package admin_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// addShadow adds a business chat with shadow answers.
func (r *rig) addShadow(name string) store.Chat {
	r.t.Helper()
	c := r.chat(name, "whatsapp")
	require.Contains(r.t, r.asOwner("/mode business "+name), "business")
	require.Equal(r.t, "**"+name+
		" · WhatsApp**: I show you here what I would say there, and never send it. You answer, and `/shadow` compares.",
		r.asOwner("/delivery shadow "+name))
	return c
}

// answerInShadow makes a contact ask, and multis answer with a text that needs no source.
func (r *rig) answerInShadow(c store.Chat, asked, said string, ago time.Duration) uuid.UUID {
	r.t.Helper()
	m := r.addMessage(c, asked, ago, policy.ActionAnswer, policy.CodeAnswer, "A question.")
	out := r.addAnswer(c, m, policy.PurposeGreeting, said, "It was a greeting.")
	r.exec("update outbox set created_at = now() - $2::interval where id = $1", out, ago) // so that the caps allow the next one
	return out
}

// storeOwnerMessage stores what the owner wrote in a chat.
func (r *rig) storeOwnerMessage(c store.Chat, body string, ago time.Duration) {
	r.t.Helper()
	r.tx(func(tx store.Tx) error {
		_, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  c.ID,
			EventID: r.event(),
			Author:  policy.AuthorOwnerPhone,
			Sender:  owner,
			Kind:    "text",
			Body:    body,
			At:      r.now.Add(-ago),
			Action:  policy.ActionArchive,
			Code:    policy.CodeOwnerWrote,
		})
		return err
	})
}

func TestShadow_IsNeverSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	out := r.answerInShadow(ana, "How much is the delivery?", "The delivery costs 5 EUR.", 3*time.Hour)
	shown := r.presentDrafts()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "👥 **Shadow answer for Ana · WhatsApp**")
	require.Contains(t, shown[0].Body, "“How much is the delivery?”")
	require.Contains(t, shown[0].Body, "> [Nora] The delivery costs 5 EUR.")
	require.Contains(t, shown[0].Body, "This was not sent and cannot be.")
	require.Empty(t, shown[0].Mentions, "it does not ring")
	require.Contains(t, r.asOwner("/drafts"), "No drafts.", "it is none")

	require.Equal(t, "Noted. It was not sent.", r.react(shown[0].Event, "👎"))
	require.Contains(t, r.asOwner("/shadow ana"), "0 % close to yours: 0 the same, 0 near, 1 different", "the mark counts")
	require.Equal(t, "Noted. It was not sent.", r.react(shown[0].Event, "👍"), "he may change his mind")
	require.Contains(t, r.asOwner("/shadow"), "1 shadow answer, 100 % close to yours: 0 the same, 1 near, 0 different")
	require.Contains(t, r.asOwner("/why ana"), "was not sent and cannot be")

	require.Empty(t, r.sentTo(ana))
	for _, change := range []string{"queued", "draft", "sent", "dropped"} {
		_, err := r.st.Pool().Exec(r.ctx, "update outbox set state = $2 where id = $1", out, change)
		require.ErrorContains(t, err, "a shadow answer stays one", change)
	}
	require.NoError(t, r.box.Send(r.ctx, out, true))
	require.Empty(t, r.sentTo(ana))
}

func TestShadow_ExcludesApproved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	r.asOwner("/remind 1h --to Ana see you at seven")
	r.runUntil(2 * time.Hour)
	shown := r.presentDrafts()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "✏️ **Draft for Ana · WhatsApp**", "the owner's own words wait for his yes")
	r.react(shown[0].Event, "👍")
	require.Equal(t, []string{"see you at seven"}, r.sentTo(ana))
}

func TestShadow_MatchesOwnersAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, ben := r.addShadow("Ana"), r.addShadow("Ben")
	r.answerInShadow(ana, "How much is the delivery?", "The delivery costs 5 EUR.", 50*time.Hour)
	r.storeOwnerMessage(ana, "delivery costs 5 EUR", 49*time.Hour)
	r.answerInShadow(ana, "And on Sundays?", "We deliver Monday to Saturday.", 48*time.Hour)
	r.storeOwnerMessage(ana, "sorry, nobody works on that day", 47*time.Hour)
	r.answerInShadow(ana, "Thank you!", "You are welcome.", 46*time.Hour)
	r.answerInShadow(ben, "Are you open?", "We are open.", time.Hour)
	got := r.asOwner("/shadow")
	require.Contains(t, got,
		"**Ana · WhatsApp** — 3 shadow answers, 50 % close to yours: 1 the same, 0 near, 1 different, 1 you did not answer")
	require.Contains(t, got, "**Ben · WhatsApp** — 1 shadow answer, 1 open")
	require.Contains(t, r.asOwner("/shadow ana"), "I: “[Nora] We deliver Monday to Saturday.”\nYou: “sorry, nobody works on that day”")
	require.Equal(t, 2,
		r.count("select cardinality(quotes) from outbox where content->>'body' like '%nobody works on that day%' order by seq desc limit 1"),
		"what it quotes takes it along when it is deleted")
}

func TestShadow_ModelVerdictPrevails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	out := r.answerInShadow(ana, "How much is the delivery?", "The delivery costs 5 EUR.", 50*time.Hour)
	r.storeOwnerMessage(ana, "we bring it for a fiver", 49*time.Hour)
	require.Contains(t, r.asOwner("/shadow"), "0 % close to yours")
	pairs, err := store.ShadowPairs(r.ctx, r.st.DB(), ana.ID, r.now.Add(-100*time.Hour), 24*time.Hour)
	require.NoError(t, err)
	require.NoError(t, store.JudgeShadow(r.ctx, r.st.Writer(), pairs[0], "same"))
	require.Contains(t, r.asOwner("/shadow"), "100 % close to yours: 1 the same")
	r.exec("update outbox set mark = 'bad' where id = $1", out)
	require.Contains(t, r.asOwner("/shadow"), "0 % close to yours", "the owner's mark counts most")
	r.exec("update outbox set mark = '' where id = $1", out)
	r.exec("update messages set redacted_at = now(), body = '' where author = 'owner_phone'")
	require.Contains(t, r.asOwner("/shadow"), "1 you did not answer", "deleted since")
}

func TestShadow_SameAsDocumentIsNear(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	out := r.answerInShadow(ana, "Can I come after work?", "Yes, that is possible.", 50*time.Hour)
	r.storeOwnerMessage(ana, "thursdays the counter is staffed in the evening", 49*time.Hour)
	require.Contains(t, r.asOwner("/shadow"), "1 different")
	r.exec(`update outbox set citations = '[{"quote": "The counter is staffed in the evening on Thursdays."}]' where id = $1`, out)
	require.Contains(t, r.asOwner("/shadow"), "1 near, 0 different")
}

func TestShadowReport_NamesThreeWorst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	for i, said := range []string{"first", "second", "third", "fourth"} {
		r.answerInShadow(ana, "Question "+said, "The "+said+" answer.", time.Duration(100-i)*time.Hour)
		r.storeOwnerMessage(ana, "sorry, nobody knows", time.Duration(100-i)*time.Hour-time.Minute)
	}
	_, err := r.admin.Shadows.Report(r.ctx)
	require.NoError(t, err)
	posted := r.sendQueued()
	require.Len(t, posted, 1)
	body := posted[0].Body
	require.Contains(t, body, "**Ana · WhatsApp** — 4 shadow answers, 0 % close to yours: 0 the same, 0 near, 4 different")
	for _, worst := range []string{"second", "third", "fourth"} {
		require.Contains(t, body, "I: “[Nora] The "+worst+" answer.”\nYou: “sorry, nobody knows”")
	}
	require.NotContains(t, body, "The first answer")
	require.Equal(t, 6, r.count("select cardinality(quotes) from outbox where content->>'body' like '%what differed most%'"),
		"what it quotes takes it along when it is deleted")
}

func TestShadowReport_SortsByDifference(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	for i, said := range []string{
		"The price is 12 EUR for adults.", "Nothing alike here.", "Perhaps on the Wednesday, ask someone downtown.",
		"Perhaps on the Thursday, ask someone downtown.", "Perhaps on the Friday, ask someone downtown.",
	} {
		r.answerInShadow(ana, "When is the market?", said, time.Duration(100-i)*time.Hour)
		r.storeOwnerMessage(ana, "it takes place after the long holidays, price 15 EUR for Easter perhaps",
			time.Duration(100-i)*time.Hour-time.Minute)
	}
	r.exec("update outbox set mark = 'bad' where content->>'body' like '%Wednesday%'")
	_, err := r.admin.Shadows.Report(r.ctx)
	require.NoError(t, err)
	posted := r.sendQueued()
	require.Len(t, posted, 1)
	for _, worst := range []string{"12 EUR", "Nothing alike", "Wednesday"} {
		require.Contains(t, posted[0].Body, worst)
	}
	require.NotContains(t, posted[0].Body, "Friday")
}

func TestShadow_LabelOffersAuto(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Defaults.Labels = []policy.Label{{Name: "trial", Delivery: policy.DeliveryShadow}}
	r.restart()
	ana := r.addShadow("Ana")
	for i := range 20 { // one a day: too few for a week
		ago := 21*24*time.Hour - time.Duration(i)*24*time.Hour
		r.answerInShadow(ana, "What does number 1 cost?", "It costs 5 EUR.", ago)
		r.storeOwnerMessage(ana, "It costs 5 EUR", ago-time.Minute)
	}
	r.presentDrafts()
	offers := func() []sentEvent {
		_, err := r.admin.Shadows.Report(r.ctx)
		require.NoError(t, err)
		return r.sendQueued()[1:]
	}
	r.exec("update chats set delivery = null where id = $1", ana.ID)
	require.Empty(t, offers(), "it is on auto")
	r.exec("update chats set labels = '{trial}' where id = $1", ana.ID)
	got := offers()
	require.Len(t, got, 1)
	require.Contains(t, r.react(got[0].Event, "👍"), "is sent at once")
	require.Contains(t, r.asOwner("/delivery ana"), "`auto`")
}

func TestShadow_OffersAutoOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.addShadow("Ana")
	for i := range 20 {
		r.answerInShadow(ana, "What does number 1 cost?", "It costs 5 EUR.", time.Duration(100-i)*time.Hour)
		r.storeOwnerMessage(ana, "It costs 5 EUR", time.Duration(100-i)*time.Hour-time.Minute)
	}
	r.presentDrafts()
	for range 2 {
		chats, err := r.admin.Shadows.Report(r.ctx)
		require.NoError(t, err)
		require.Equal(t, 1, chats)
	}
	posted := r.sendQueued()
	require.Len(t, posted, 3, "two reports, one offer")
	offer := posted[1]
	require.Contains(t, offer.Body, "20 of 20 shadow answers were close to yours. Should I send my answers there automatically?")
	require.Contains(t, r.react(offer.Event, "👍"), "is sent at once")
	require.Contains(t, r.asOwner("/delivery ana"), "`auto`")
	require.Empty(t, r.sentTo(ana), "what was said before stays unsent")
}
