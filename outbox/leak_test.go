package outbox

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestATextWithASecretIsStoppedAndNotStored(t *testing.T) { //nolint:paralleltest // what the configuration holds is the same for all
	b := setup(t)
	const secret = "canary-4f1c9d27b6e05a38"
	policy.HideSecrets([]string{secret})
	t.Cleanup(func() { policy.HideSecrets(nil) })
	for name, text := range map[string]string{
		"plain": secret, "split": strings.Join(strings.Split(secret, ""), " "), "invisible": strings.Join(strings.Split(secret, ""), "\u200b"),
		"base64": base64.StdEncoding.EncodeToString([]byte("the key is " + secret)),
	} {
		for _, purpose := range []policy.Purpose{policy.PurposeReply, policy.PurposeGreeting, policy.PurposeEscalation, policy.PurposeOperator, policy.PurposeDraft} {
			m := b.reply("Here it is.")
			m.Purpose, m.Text = purpose, "Here it is: "+text
			out, d := b.queue(m)
			require.Equal(t, policy.CodeSecret, d.Code, name+" as "+string(purpose))
			row := b.row(out)
			require.Equal(t, store.OutboxDropped, row.State)
			require.Equal(t, policy.CodeSecret, row.Code, "/why tells it")
			require.True(t, d.Code.AboutText(), "so a turn tells the owner")
			require.NoError(t, b.send(out))
		}
		out, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeOperator, Text: "See the file.", File: &File{Name: "key.txt", MIME: "application/octet-stream", Data: []byte(text)}})
		require.Equal(t, policy.CodeSecret, d.Code, name+" in a file")
		require.NoError(t, b.send(out))
		require.Empty(t, storetest.Anywhere(t, b.store, text), "no row has it")
	}
	require.Empty(t, b.wire.sent)
	_, d := b.queue(b.reply("We deliver on Mondays."))
	require.True(t, d.Allow, d.Why)
	_, d = b.queue(Notice(b.admin, "The key is "+secret, Quiet))
	require.True(t, d.Allow, "in the admin room it is masked")
	require.Empty(t, storetest.Anywhere(t, b.store, secret))
}

func TestASecretThatIsConfiguredLaterStopsWhatWaits(t *testing.T) { //nolint:paralleltest // as above
	b := setup(t)
	t.Cleanup(func() { policy.HideSecrets(nil) })
	out, d := b.queue(b.reply("The house is at Mondaystreet."))
	require.True(t, d.Allow, d.Why)
	policy.HideSecrets([]string{"Mondaystreet"})
	require.NoError(t, b.send(out))
	require.Empty(t, b.wire.sent)
	require.Equal(t, policy.CodeSecret, b.row(out).Code)
	notices := storetest.Count(t, b.store, "select count(*) from outbox where chat_id = $1 and content->>'body' like '%Not sent to Ana%'", b.admin.ID)
	require.Equal(t, 1, notices, "the owner is told once")
}
