package admin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestLabel_AddRemoveList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Defaults.Labels = []policy.Label{
		{Name: "wholesale", Networks: []string{"signal"}, Mode: policy.ModeBusiness, Delivery: policy.DeliveryShadow},
		{Name: "friend", Delivery: policy.DeliveryDraft},
	}
	r.restart()
	require.Equal(t, text("**2 labels**, the first counts where several of a chat differ.",
		"`wholesale`: 0 chats · mode business, delivery shadow, also given by a rule", "`friend`: 0 chats · delivery draft"), r.asOwner("/label"))
	ana, signal, _ := r.addChats()
	require.Contains(t, r.asOwner("/label Ana"), "Ana · Signal", "it asks which one")
	require.Equal(t, "**Ana · Signal** has `wholesale`. The chat is `business`, on `shadow`.", r.asOwner("/label Ana signal"))
	require.Equal(t, "**Ana · Signal** has `friend` now. The chat is `business`, on `shadow`.", r.asOwner("/label Ana signal Friend"))
	require.Equal(t, "**Ana · Signal** has `wholesale` no longer. The chat is `silent`.", r.asOwner("/label remove Ana signal wholesale"))
	require.Equal(t, []string{"wholesale"}, r.reload(signal).Unlabelled, "so that the rule does not give it again")
	require.Equal(t, "**Ana · Signal** does not have `wholesale`.", r.asOwner("/label remove Ana signal wholesale"))
	require.Equal(t, "**Ana · WhatsApp** has `new-word` now. The chat is `business`, on `auto`.", r.asOwner("/label Ana whatsapp new-word"))
	require.Equal(t, []string{"new-word"}, r.reload(ana).Labels)
	require.Contains(t, r.asOwner("/label"), "`new-word`: 1 chat · no settings")
	require.Contains(t, r.asOwner("/label Ana whatsapp what?!"), "is no name of a label")
	require.Equal(t, "I know no chat called “Ana whatsapp two”. A label is one word, such as `two-words`.",
		r.asOwner("/label Ana whatsapp two words"))
	require.Contains(t, r.asOwner("/label Nobody at all"), "I know no chat called “Nobody at”. `/chats`")
	require.Equal(t, "**Ana · Signal** has `wholesale` now. The chat is `business`, on `shadow`.", r.asOwner("/label Ana signal wholesale"))
	require.Empty(t, r.reload(signal).Unlabelled)
	require.Equal(t, 3, r.count("select count(*) from audit_entries where kind = 'mode' and action = 'labels'"))
	require.Equal(t, 2, r.count("select count(*) from audit_entries where kind = 'mode' and action = 'unlabelled'"), "taken, and given again")
	require.Contains(t, r.asOperator("/label Ana signal wholesale"), "Only the owner can use")
}

func TestLabel_ChangeWithdrawsDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Defaults.Labels = []policy.Label{{Name: "careful", Delivery: policy.DeliveryShadow}}
	r.restart()
	ana := r.customer("Ana")
	question := r.say(ana, policy.AuthorContact, "@ana:x", "What does it cost?")
	r.exec("insert into outbox (id, chat_id, purpose, send_as, event_type, content, state, seen_id, code, reason) values (gen_random_uuid(), $1, 'reply', 'owner', 'm.room.message', '{}', 'draft', $2, '', '')", ana.ID, question)
	r.exec("update messages set answered_at = now(), outbox_id = (select id from outbox where chat_id = $1) where id = $2", ana.ID, question)
	require.True(t, strings.HasSuffix(r.asOwner("/label Ana careful"), "on `shadow`."))
	require.Equal(t, 1, r.count("select count(*) from outbox where state = 'dropped' and code = 'draft_mode'"))
	require.Equal(t, 1, r.count("select count(*) from messages where id = $1 and answered_at is null", question),
		"it waits for another answer")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'turn' and args->>'chat' = $1::text",
		formatInt(int64(ana.ID))))
}
