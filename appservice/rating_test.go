package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// asksRating is a chat in which Ana was asked whether a conversation helped, in the event $asked.
func asksRating(t *testing.T) (*fixture, store.Chat) {
	t.Helper()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	out := b.insertOutboxRow(chat)
	b.exec("update outbox set purpose = 'rating', state = 'sent', event_id = '$asked' where id = $1", out)
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		if _, err := store.InsertMessage(context.Background(), tx, store.Message{
			ChatID:  chat.ID,
			EventID: "$asked",
			Author:  policy.AuthorMultisOwner,
			Sender:  owner,
			Kind:    "text",
			Body:    "Did we help?",
			At:      b.inbox.now().Truncate(time.Millisecond),
		}); err != nil {
			return err
		}
		return store.MarkRatingAsked(context.Background(), tx, out, chat.ID, ana, b.inbox.now())
	}))
	return b, chat
}

func (b *fixture) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.store.Pool().Exec(context.Background(), sql, args...)
	require.NoError(b.t, err)
}

// reaction is a reaction of somebody to an event in Ana's room.
func (b *fixture) reaction(who id.UserID, to, key string) *event.Event {
	return b.event("m.reaction", "!a:x", who, fmt.Sprintf(`{"m.relates_to":{"rel_type":"m.annotation","event_id":%q,"key":%q}}`, to, key))
}

// rating returns what Ana said.
func (b *fixture) rating() (value policy.Rating) {
	b.t.Helper()
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), "select value from ratings").Scan(&value))
	return value
}

func TestRating_FromReaction(t *testing.T) {
	t.Parallel()
	b, _ := asksRating(t)
	for key, want := range map[string]policy.Rating{
		"👍🏽": policy.RatingGood, "👎": policy.RatingBad, "😀": policy.RatingGood,
		"☹️": policy.RatingBad,
	} {
		b.exec("update ratings set value = ''")
		b.receive(b.reaction(ana, "$asked", key))
		require.Equal(t, want, b.rating(), key)
	}
	before := b.rating()
	b.receive(b.reaction(ana, "$asked", "🤷"))
	require.Equal(t, before, b.rating(), "that says nothing")
	require.Zero(t, b.count("messages where kind = 'reaction'"))
	require.Zero(t, b.jobs("turn"), "and nobody answers it")
}

func TestRating_OnlyContactsReaction(t *testing.T) {
	t.Parallel()
	b, chat := asksRating(t)
	other := b.text("!a:x", ana, "What does delivery cost?")
	b.receive(other)
	for _, who := range []id.UserID{owner, bot, bridgeBot, "@demo_ben:x", "@eve:x"} {
		b.receive(b.reaction(who, "$asked", "👎"))
	}
	b.receive(b.reaction(ana, other.ID.String(), "👎"), b.reaction(ana, "$other", "👎"), b.reaction(ana, "", "👎"))
	b.chat("!b:x", policy.ModeBusiness)
	elsewhere := b.reaction(ana, "$asked", "👎")
	elsewhere.RoomID = "!b:x"
	b.receive(elsewhere)
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		_, err := b.inbox.receiveHistory(context.Background(), tx, []bridgebridge.Event{parseEvent(t, b.reaction(ana, "$asked", "👎"))})
		return err
	}))
	require.Empty(t, b.rating())
	b.exec("update chats set mode = 'off' where id = $1", chat.ID)
	b.receive(b.reaction(ana, "$asked", "👎"))
	require.Empty(t, b.rating(), "of a chat that is off nothing is stored")
}

func TestRating_DeletionTakesBack(t *testing.T) {
	t.Parallel()
	b, _ := asksRating(t)
	redaction := func(of *event.Event) *event.Event {
		e := b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, of.ID))
		e.Redacts = of.ID
		return e
	}
	bad, good := b.reaction(ana, "$asked", "👎"), b.reaction(ana, "$asked", "👍")
	b.receive(bad)
	b.receive(good)
	b.receive(redaction(bad))
	require.Equal(t, policy.RatingGood, b.rating(), "the earlier one")
	b.receive(bad)
	require.Equal(t, policy.RatingGood, b.rating(), "a replay")
	b.receive(redaction(good))
	require.Empty(t, b.rating())
	b.receive(good)
	require.Empty(t, b.rating(), "a replay of what was taken back")
	first, second := b.reaction(ana, "$asked", "👍"), b.reaction(ana, "$asked", "👎")
	second.Timestamp = first.Timestamp + 1000
	b.receive(second)
	b.receive(first)
	require.Equal(t, policy.RatingBad, b.rating(), "the last one counts, in whatever order they come")
	b.receive(redaction(second))
	require.Empty(t, b.rating())
	late := b.reaction(ana, "$asked", "👍")
	b.receive(redaction(late))
	b.receive(late)
	require.Empty(t, b.rating(), "its deletion came first")
}

func TestRating_BareEmoji(t *testing.T) {
	t.Parallel()
	b, _ := asksRating(t)
	said := b.text("!a:x", ana, "👎")
	b.receive(said)
	require.Equal(t, policy.RatingBad, b.rating())
	require.Zero(t, b.jobs("turn"))
	b.receive(b.text("!a:x", ana, "👍"))
	require.Equal(t, policy.RatingBad, b.rating(), "the question is no longer the last word")

	b, _ = asksRating(t)
	b.receive(b.text("!a:x", ana, "👍 but it was late"))
	require.Empty(t, b.rating(), "more than an emoji")
	b.receive(b.event("m.room.message", "!a:x", ana, `{"msgtype":"m.text","body":"👍","m.relates_to":{"m.in_reply_to":{"event_id":"$asked"}}}`))
	require.Equal(t, policy.RatingGood, b.rating(), "a reply to it")
}

func TestClarify_BareYesIsAnswered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	before := b.text("!a:x", ana, "ok")
	b.receive(before)
	require.Equal(t, policy.CodeAcknowledged, b.message(before).Code)

	question := b.text("!a:x", ana, "How much is the deposit?")
	b.receive(question)
	out := b.insertOutboxRow(chat)
	b.exec(`update outbox set purpose = 'clarify', state = 'sent', citations = '[{"ref":"chunk:1"}]' where id = $1`, out)
	b.exec("update messages set code = 'clarified', answered_at = now(), outbox_id = $1 where event_id = $2", out, question.ID)
	yes := b.text("!a:x", ana, "Yes")
	b.receive(yes)
	require.Equal(t, policy.ActionAnswer, b.message(yes).Action)

	b.receive(b.text("!a:x", owner, "the red one"))
	b.exec("update chats set owner_last_at = null")
	after := b.text("!a:x", ana, "ok")
	b.receive(after)
	require.Equal(t, policy.CodeAcknowledged, b.message(after).Code, "the owner answered, so that it is no reply to the question")
}

// A reaction is a rating by its emoji alone, in whatever form it comes: nothing of it is stored, and no other text or event is one.
func TestRating_HostileReactions(t *testing.T) {
	t.Parallel()
	b, chat := asksRating(t)
	for _, key := range []string{
		"", " ", "\u200b", "\u202e", "\ufe0f", "🏽", "👍👎", "👍x", "x👍", "👍 👎", "good", "bad", "1", "yes", strings.Repeat("👍", 3000),
		strings.Repeat("a", 10_000), "👍\x00👎", "👍'; drop table ratings; --", "mxc://x/👍", "\xf0\x9f\x91", "🖕", "👍\u20e3x",
	} {
		content, err := json.Marshal(map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": "$asked", "key": key}})
		require.NoError(t, err)
		b.receive(b.event("m.reaction", "!a:x", ana, string(content)))
		require.Empty(t, b.rating(), "%.40q", key)
	}
	for _, content := range []string{
		`{}`, `{"m.relates_to":null}`, `{"m.relates_to":"$asked"}`,
		`{"m.relates_to":{"rel_type":"m.annotation","event_id":["$asked"],"key":"👎"}}`,
		`{"m.relates_to":{"rel_type":"m.annotation","event_id":"$asked","key":7}}`,
		`{"m.relates_to":{"rel_type":"m.annotation","event_id":"$ASKED","key":"👎"}}`,
		`{"m.relates_to":{"rel_type":"m.annotation","event_id":"$asked\u0000","key":"👎"}}`,
		`{"m.relates_to":{"rel_type":"m.annotation","event_id":"` + strings.Repeat("$", 10_000) + `","key":"👎"}}`,
	} {
		b.receive(b.event("m.reaction", "!a:x", ana, content))
		require.Empty(t, b.rating(), "%.60s", content)
	}
	b.receive(b.reaction(ana, "$asked", "\u202e👎\ufe0f\u2066"))
	require.Equal(t, policy.RatingBad, b.rating(), "what is invisible does not count")
	require.Equal(t, 1, b.count("ratings"))
	require.Zero(t, b.count("messages where kind = 'reaction'"))
	require.Zero(t, b.jobs("turn"))
	require.Equal(t, 1, b.count("chats where id = $1 and mode = 'business'", chat.ID))
}

// Whoever deletes another event than the reaction, or before it came, takes no rating back.
func TestRating_ForeignDeletionIsIgnored(t *testing.T) {
	t.Parallel()
	b, _ := asksRating(t)
	good := b.reaction(ana, "$asked", "👍")
	b.receive(good)
	b.chat("!b:x", policy.ModeBusiness)
	for _, target := range []string{"", "$asked", "$other", good.ID.String() + " ", strings.Repeat("$", 10_000)} {
		e := b.event("m.room.redaction", "!a:x", ana, fmt.Sprintf(`{"redacts":%q}`, target))
		e.Redacts = id.EventID(target)
		b.receive(e)
	}
	elsewhere := b.event("m.room.redaction", "!b:x", ana, fmt.Sprintf(`{"redacts":%q}`, good.ID))
	elsewhere.Redacts = good.ID
	b.receive(elsewhere)
	require.Equal(t, policy.RatingGood, b.rating())
}
