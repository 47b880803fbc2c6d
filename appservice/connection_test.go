package appservice

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// bridgeNotice returns a bridge's notice about a login, a second after the one before.
func (b *fixture) bridgeNotice(room id.RoomID, sender id.UserID, state string) *event.Event {
	b.t.Helper()
	evt := b.event("m.room.message", room, sender,
		fmt.Sprintf(`{"msgtype":"m.notice","body":"State update","fi.mau.bridge_state":{"state_event":%q,"remote_id":"me"}}`, state))
	evt.Timestamp += int64(b.events)*1000 - 3_600_000
	return evt
}

func (b *fixture) countNotices(topic string) int {
	return b.count("river.river_job where kind = 'notice' and args->>'topic' = $1", topic)
}

func TestConnection_BrokenLoginNoticedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	const management = id.RoomID("!bridge:x")
	b.inbox.ignored.add(management)
	b.receive(b.bridgeNotice(management, "@eve:example.com", "BAD_CREDENTIALS"))
	require.Zero(t, b.countNotices("bridge_down"), "anybody could write it")

	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		return store.ReplaceHooks(t.Context(), tx, []store.Hook{{Name: "desk", Events: []string{string(policy.HookBridgeDown)}}})
	}))
	down := b.bridgeNotice(management, bridgeBot, "BAD_CREDENTIALS")
	b.receive(down)
	b.receive(down, b.bridgeNotice(management, bridgeBot, "LOGGED_OUT"), b.bridgeNotice("!new:x", bridgeBot, "UNKNOWN_ERROR"))
	require.Equal(t, 1, b.countNotices("bridge_down"))
	require.Equal(t, 1, b.count("hook_deliveries"), "and hooks, once")
	require.Zero(t, b.countNotices("bridge_up"))
	b.receive(b.bridgeNotice(management, bridgeBot, "CONNECTED"))
	b.receive(b.bridgeNotice(management, bridgeBot, "CONNECTED"), down)
	require.Equal(t, 1, b.countNotices("bridge_up"), "what comes late changes nothing back")
	require.Equal(t, 1, b.countNotices("bridge_down"))
	_, err := b.store.Pool().Exec(context.Background(), "update river.river_job set state = 'completed', finalized_at = now()")
	require.NoError(t, err)
	b.receive(b.bridgeNotice(management, bridgeBot, "BAD_CREDENTIALS"))
	require.Equal(t, 2, b.countNotices("bridge_down"))
	require.Zero(t, b.count("messages")+b.count("pending_events"), "nothing is kept of what bridges say")
}

func TestConnection_EndedLoginNoticedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	told := func() int {
		n := b.countNotices("bridge_down")
		_, err := b.store.Pool().Exec(t.Context(), "delete from river.river_job")
		require.NoError(t, err)
		return n
	}
	b.receive(b.bridgeNotice("!bridge:x", bridgeBot, "TRANSIENT_DISCONNECT"))
	require.Equal(t, 1, told())
	b.receive(b.bridgeNotice("!bridge:x", bridgeBot, "UNKNOWN_ERROR"))
	require.Zero(t, told(), "it comes back by itself or does not: nothing to do about it")
	b.receive(b.bridgeNotice("!bridge:x", bridgeBot, "BAD_CREDENTIALS"))
	require.Equal(t, 1, told(), "now the owner has to log in")
	require.Equal(t, 1, b.count("bridge_states where reason = 'logged out' and down_since < changed_at"))
	b.receive(b.bridgeNotice("!bridge:x", bridgeBot, "BAD_CREDENTIALS"), b.bridgeNotice("!bridge:x", bridgeBot, "TRANSIENT_DISCONNECT"))
	require.Zero(t, told())
}

// TestConnection_IncomingMessageRestoresLogin: a bridge that was restarted says nothing of it.
func TestConnection_IncomingMessageRestoresLogin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	_, err := b.store.Pool().Exec(t.Context(), "update chats set receiver = 'me' where id = $1", chat.ID)
	require.NoError(t, err)
	check := func() { require.NoError(t, b.inbox.CheckBridges(t.Context())) }
	down := b.bridgeNotice("!bridge:x", bridgeBot, "BAD_CREDENTIALS") // an hour ago
	before := b.text("!a:x", ana, "hi")
	before.Timestamp = down.Timestamp + 1000
	b.receive(before, down)
	check()
	require.Zero(t, b.countNotices("bridge_up"), "it was on its way when the login broke")
	b.receive(b.text("!a:x", owner, "are you there?"))
	check()
	require.Zero(t, b.countNotices("bridge_up"), "what the owner writes says nothing of the network")
	b.receive(b.text("!a:x", ana, "yes"))
	check()
	check()
	require.Equal(t, 1, b.countNotices("bridge_up"))
	require.Zero(t, b.count("bridge_states where down_since is not null"))
}

func TestConnection_DeliveryTellsLoginState(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	status := func(of *event.Event, status, message string) {
		b.receive(b.event("com.beeper.message_send_status", "!a:x", bridgeBot, fmt.Sprintf(
			`{"m.relates_to":{"rel_type":"m.reference","event_id":%q},"status":%q,"message":%q}`, of.ID, status, message)))
	}
	ours := func() *event.Event {
		evt := b.event("m.room.message", "!a:x", owner, textWithOutboxKey("[Nora] hello", b.insertOutboxRow(chat)))
		b.receive(evt)
		return evt
	}
	first := ours()
	status(first, "FAIL_PERMANENT", "the file is too large")
	require.Zero(t, b.countNotices("bridge_down"))
	status(ours(), "FAIL_RETRIABLE", "You're not logged in")
	status(b.text("!a:x", owner, "typed by the owner"), "FAIL_RETRIABLE", "You're not logged in")
	require.Equal(t, 1, b.countNotices("bridge_down"))
	require.Equal(t, 2, b.jobs("undelivered"), "each message of ours that did not arrive is told")
	status(ours(), "SUCCESS", "")
	require.Equal(t, 1, b.countNotices("bridge_up"))
}

func TestConnection_SilentBridgeIsNoted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	ctx := context.Background()
	silent := func() (found []int64) {
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
			found, err = store.MarkSilentBridges(ctx, tx)
			return err
		}))
		return found
	}
	sent := func(ago string) {
		key := b.insertOutboxRow(chat)
		_, err := b.store.Pool().Exec(ctx,
			"update outbox set state = 'sent', event_id = '$x' || seq, sent_at = now() - $2::interval where id = $1", key, ago)
		require.NoError(t, err)
	}
	sent("10 minutes")
	require.Empty(t, silent(), "a bridge that never confirms is not silent")
	_, err := b.store.Pool().Exec(ctx, "update outbox set state = 'delivered', delivered_at = now() - interval '10 minutes'")
	require.NoError(t, err)
	sent("1 minute")
	require.Empty(t, silent(), "it is given time")
	sent("5 minutes")
	require.Len(t, silent(), 1)
	require.Empty(t, silent(), "once")
}

// TestConnection_LoginOfOthersIsIgnored: a bridge may serve other people, who may write in the owner's groups through it.
func TestConnection_LoginOfOthersIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	_, err := b.store.Pool().Exec(t.Context(), "update chats set receiver = 'mine' where id = $1", chat.ID)
	require.NoError(t, err)
	b.receive(b.bridgeNotice("!bridge:x", bridgeBot, "BAD_CREDENTIALS")) // of the login "me"
	require.Zero(t, b.countNotices("bridge_down"))
	relayed := b.text("!a:x", "@eve:example.com", "hello")
	b.receive(relayed, b.event("com.beeper.message_send_status", "!a:x", bridgeBot, fmt.Sprintf(
		`{"m.relates_to":{"rel_type":"m.reference","event_id":%q},"status":"FAIL_RETRIABLE","message":"You're not logged in"}`, relayed.ID)))
	require.Zero(t, b.countNotices("bridge_down"))
	own := b.text("!a:x", owner, "hello")
	b.receive(own, b.event("com.beeper.message_send_status", "!a:x", bridgeBot, fmt.Sprintf(
		`{"m.relates_to":{"rel_type":"m.reference","event_id":%q},"status":"FAIL_RETRIABLE","message":"You're not logged in"}`, own.ID)))
	require.Equal(t, 1, b.countNotices("bridge_down"))
}
