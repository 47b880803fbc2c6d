package audit_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

// listEntries lists what the log says, the oldest first: kind, actor, action, outcome and rule.
func listEntries(t *testing.T, st *store.Store) (list []string) {
	t.Helper()
	links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
	require.NoError(t, err)
	for _, l := range links {
		list = append([]string{fmt.Sprintf("%s %s %s %s %s", l.Kind, l.Actor, l.Action, l.Outcome, l.Rule)}, list...)
	}
	return list
}

func TestTrigger_EachChangeWritesEntry(t *testing.T) {
	t.Parallel()
	const chat = "insert into chats (protocol, channel_id, kind) values ('whatsapp', 'ana', 'dm')"
	const task = chat + "; insert into tasks (key, kind, chat_id, agent) values ('turn:1', 'turn', 1, 'nora')"
	const message = chat + `; insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state)
		values ('0199c0de-0000-7000-8000-000000000001', 1, 'owner', 'reply', 'm.room.message', '{"body": "We deliver."}', 'business', 'It is business.', 'queued')`
	for name, c := range map[string]struct {
		sql  string
		want []string
	}{
		"a message that is sent": {message +
			"; update outbox set state = 'sent'; update outbox set state = 'delivered'; update outbox set room_id = '!x'", []string{
			"send system reply queued business", "send system reply sent business", "send system reply delivered business",
		}},
		"a tool that is called": {task +
			`; insert into task_steps (task_id, seq, kind, name) values (1, 1, 'model', 'gpt'), (1, 2, 'tool', 'remember');
			update task_steps set ended_at = now(), is_error = true, code = 'refused'`, []string{
			"tool agent remember begun ", "tool agent remember failed refused",
		}},
		"an approval that is denied": {task + `; insert into approvals (task_id, call_id, tool, expires_at) values (1, 'c', 'send_file', now());
			select set_config('multis.actor', 'owner', true); update approvals set allowed = false`, []string{
			"approval system send_file asked ", "approval owner send_file denied ",
		}},
		"a chat that is switched": {chat +
			"; update chats set mode = 'business'; update chats set mode = 'business', name = 'Ana'; update chats set mode = null, delivery = 'draft'", []string{
			"mode system mode business ", "mode system mode default ", "mode system delivery draft ",
		}},
		"an escalation": {chat +
			"; insert into escalations (chat_id, message_id, reason) values (1, 2, 'refund'); update escalations set closed_at = now(); update escalations set contact_notified = true; update escalations set closed_at = null", []string{
			"escalation system  opened ", "escalation system  closed ", "escalation system  reopened ",
		}},
		"settings": {`insert into settings (key, value) values ('name', '"Nora"'), ('since', '"s1"'), ('login:files', '"x"'), ('config:budget.day', '2');
			update settings set value = '"Nina"' where key = 'name'; delete from settings where key in ('name', 'since')`, []string{
			"config system name set ", "login system login set ", "config system config set ", "config system name set ",
			"config system name removed ",
		}},
		"safe mode": {`insert into settings (key, value) values ('safe_mode', '{"why": "It crashed."}'); delete from settings where key = 'safe_mode'`, []string{
			"config system safe_mode set ", "config system safe_mode removed ",
		}},
		"something forgotten": {"insert into forgettings (kind, remaining, command) values ('erase', '{}', 5); update forgettings set done_at = now()", []string{
			"deletion system erase begun ", "deletion system erase done ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := storetest.New(t)
			_, err := st.Pool().Exec(t.Context(), c.sql) // one implicit transaction
			require.NoError(t, err)
			require.Equal(t, c.want, listEntries(t, st))
			_, err = newLog(t).Verify(t.Context(), st)
			require.NoError(t, err)
			links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
			require.NoError(t, err)
			require.NotContains(t, fmt.Sprint(links), "deliver.")
		})
	}
}

func TestActor_EndsWithTransaction(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	for _, actor := range []audit.Actor{audit.Owner, ""} {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
			if actor != "" {
				if err := audit.SetActor(t.Context(), tx, actor); err != nil {
					return err
				}
			}
			return store.PutSetting(t.Context(), tx, store.SettingPause, store.Pause{})
		}))
	}
	require.Equal(t, []string{"config owner pause set ", "config system pause set "}, listEntries(t, st))
}

func TestForgetting_KeepsChain(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	_, err := st.Pool().Exec(t.Context(),
		`insert into chats (protocol, channel_id, kind) values ('whatsapp', 'ana', 'dm'); update chats set mode = 'business';
		insert into escalations (chat_id, message_id, reason) values (1, 2, 'refund')`)
	require.NoError(t, err)
	_, err = st.Pool().Exec(t.Context(), "delete from chats")
	require.NoError(t, err)
	report, err := newLog(t).Verify(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, 2, report.Entries)
}
