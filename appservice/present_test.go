package appservice

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// TestForClient_PlainBodyAndSign: room lists and notifications show the body, and some clients keep "/" for themselves.
func TestForClient_PlainBodyAndSign(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hs, err := NewHomeserver(b.store, Access{URL: "http://localhost:1", Owner: owner, Bot: bot})
	require.NoError(t, err)
	hs.SetCommands([]Command{{Name: "mode"}, {Name: "cancel-task"}})
	notice := outbox.NewNotice(store.Chat{},
		"**Ana** is paused. `/mode business Ana` or `/cancel-task 2`, see `/etc` and [there](https://matrix.to/#/!a:x).\n\n- _one_\n- two",
		outbox.Answer)
	content := map[string]any{"msgtype": "m.text", "body": notice.Text, "formatted_body": notice.HTML}
	show := func(o store.OutboxMessage) (shown struct {
		Body string `json:"body"`
		HTML string `json:"formatted_body"`
		New  struct {
			Body string `json:"body"`
		} `json:"m.new_content"`
	},
	) {
		written, err := hs.forClient(t.Context(), o)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &shown))
		return shown
	}
	row := func(content map[string]any) store.OutboxMessage {
		raw, err := json.Marshal(content)
		require.NoError(t, err)
		return store.OutboxMessage{Purpose: policy.PurposeNotice, EventType: "m.room.message", Content: raw}
	}

	shown := show(row(content))
	require.Equal(t, "Ana is paused. !mode business Ana or !cancel-task 2, see /etc and there.\n\n• one\n• two", shown.Body)
	require.Contains(t, shown.HTML, "<strong>Ana</strong> is paused. <code>!mode business Ana</code>")
	require.Contains(t, shown.HTML, "<code>/etc</code>", "a path is no command")

	edit := row(map[string]any{
		"body": "* " + notice.Text, "formatted_body": "* " + notice.HTML, "m.new_content": content,
	})
	require.Equal(t, "* "+shown.Body, show(edit).Body)
	require.Equal(t, shown.Body, show(edit).New.Body)

	contact := row(content)
	contact.Purpose = policy.PurposeReply
	require.Equal(t, notice.Text, show(contact).Body, "only the admin room is changed")

	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		return store.PutSetting(t.Context(), tx, store.SettingSlash, true)
	}))
	require.Contains(t, show(row(content)).Body, "/mode business Ana or /cancel-task 2")
}
