package outbox

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestLeak_TextWithSecretIsStopped(t *testing.T) { //nolint:paralleltest // what the configuration holds is the same for all
	b := setup(t)
	const secret = "canary-4f1c9d27b6e05a38"
	policy.SetSecrets([]string{secret})
	t.Cleanup(func() { policy.SetSecrets(nil) })
	for name, said := range map[string]string{
		"plain": secret, "split": strings.Join(strings.Split(secret, ""), " "), "invisible": strings.Join(strings.Split(secret, ""), "\u200b"),
		"base64": base64.StdEncoding.EncodeToString([]byte("the key is " + secret)),
		// What is checked is what is sent: cleaning the text would put the secret together again.
		"U+3164": "canary-4f1c\u31649d27b6e05a38", "U+115F": "canary-4f1c\u115f9d27b6e05a38", "U+FFA0": "canary-4f1c\uffa09d27b6e05a38",
		"a tag":     "canary-<b>4f1c9d27b6e05a38</b>",
		"an entity": "canary-4f1c9d&#50;7b6e05a38", "a link": "[canary-4f1c](http://x.y)9d27b6e05a38", "for a URL": "canary%2D4f1c9d27b6e05%6138",
	} {
		for _, purpose := range []policy.Purpose{
			policy.PurposeReply, policy.PurposeClarify, policy.PurposeGreeting, policy.PurposeEscalation,
			policy.PurposeOperator, policy.PurposeDraft,
		} {
			m := b.reply("Here it is.")
			m.Purpose, m.Text = purpose, "Here it is: "+said
			out, d := b.queue(m)
			require.Equal(t, policy.CodeSecret, d.Code, name+" as "+string(purpose))
			row := b.row(out)
			require.Equal(t, store.OutboxDropped, row.State)
			require.Equal(t, policy.CodeSecret, row.Code, "/why tells it")
			require.True(t, d.Code.IsAboutText(), "so a turn tells the owner")
			require.NoError(t, b.send(out))
		}
		m := b.reply("Here it is.")
		m.Purpose, m.HTML = policy.PurposeDraft, "<p>Here it is: "+said+"</p>"
		out, d := b.queue(m)
		require.Equal(t, policy.CodeSecret, d.Code, name+" in the HTML alone")
		require.NoError(t, b.send(out))
		for part, file := range map[string]File{
			"data": {Name: "key.txt", MIME: "text/plain", Data: []byte(said)}, "name": {Name: said, MIME: "text/plain", Data: []byte("x")},
			"type": {Name: "key.txt", MIME: "text/" + said, Data: []byte("x")},
		} {
			out, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeOperator, Text: "See the file.", File: &file})
			require.Equal(t, policy.CodeSecret, d.Code, name+" in the "+part+" of a file")
			require.NoError(t, b.send(out))
		}
		require.Empty(t, storetest.ColumnsContaining(t, b.store, said), "no row has it")
		require.Empty(t, storetest.ColumnsContaining(t, b.store, secret), "nor when it is cleaned")
	}
	require.Empty(t, b.sender.sent)
	_, d := b.queue(b.reply("We deliver on Mondays."))
	require.True(t, d.Allow, d.Why)
	_, d = b.queue(NewNotice(b.admin, "The key is "+secret, Quiet))
	require.True(t, d.Allow, "in the admin room it is masked")
	require.Empty(t, storetest.ColumnsContaining(t, b.store, secret))
}

func TestLeak_LaterSecretStopsMessage(t *testing.T) { //nolint:paralleltest // as above
	b := setup(t)
	t.Cleanup(func() { policy.SetSecrets(nil) })
	out, d := b.queue(b.reply("The house is at Mondaystreet."))
	require.True(t, d.Allow, d.Why)
	policy.SetSecrets([]string{"Mondaystreet"})
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
	require.Equal(t, policy.CodeSecret, b.row(out).Code)
	notices := storetest.Count(t, b.store, "select count(*) from outbox where chat_id = $1 and content->>'body' like '%Not sent to Ana%'",
		b.admin.ID)
	require.Equal(t, 1, notices, "the owner is told once")
}

func TestLeak_FileIsScannedTwice(t *testing.T) { //nolint:paralleltest // as above
	b := setup(t)
	t.Cleanup(func() { policy.SetSecrets(nil) })
	policy.SetSecrets([]string{"Mondaystreet"})
	leaking := File{Name: "key.txt", MIME: plainText, Data: []byte("The house is at Monday street.")}.Scanned()
	policy.SetSecrets(nil)
	_, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeOperator, Text: "See the file.", File: leaking})
	require.Equal(t, policy.CodeSecret, d.Code, "the transaction that queues it takes what was found before")
	harmless := File{Name: "key.txt", MIME: plainText, Data: []byte("The house is at Monday street.")}.Scanned()
	policy.SetSecrets([]string{"Mondaystreet"})
	out, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeOperator, Text: "See the file.", File: harmless})
	require.True(t, d.Allow, d.Why)
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
	require.Equal(t, policy.CodeSecret, b.row(out).Code)
}

func TestLeak_LaterSecretStopsFile(t *testing.T) { //nolint:paralleltest // as above
	for part, file := range map[string]File{
		"data": {Name: "key.txt", MIME: plainText, Data: []byte("The house is at Mondaystreet.")},
		"name": {Name: "Mondaystreet.txt", MIME: plainText, Data: []byte("x")},
		"type": {Name: "key.txt", MIME: "text/mondaystreet", Data: []byte("x")}, "none": {Name: "key.txt", MIME: plainText, Data: []byte("x")},
	} {
		t.Run(part, func(t *testing.T) {
			b := setup(t)
			t.Cleanup(func() { policy.SetSecrets(nil) })
			out, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeOperator, Text: "See the file.", File: &file})
			require.True(t, d.Allow, d.Why)
			policy.SetSecrets([]string{"Mondaystreet"})
			require.NoError(t, b.send(out))
			if part == "none" {
				require.Len(t, b.sender.sent, 1)
				return
			}
			require.Empty(t, b.sender.sent)
			require.Equal(t, policy.CodeSecret, b.row(out).Code)
		})
	}
}

func TestLeak_LaterSecretMasksNotice(t *testing.T) { //nolint:paralleltest // as above
	const secret = `canary_K9&x<7>"Qm2*v`
	edit := Message{Purpose: policy.PurposeNotice, Text: secret, Replaces: "$card"}
	for name, m := range map[string]Message{
		"a text": NewNotice(store.Chat{}, "The key is `"+secret+"`.", Quiet), "an edit": edit,
		"a file's name": {Purpose: policy.PurposeNotice, File: &File{Name: secret + ".txt", MIME: plainText, Data: []byte("x")}},
		"a file":        {Purpose: policy.PurposeNotice, File: &File{Name: "a.csv", MIME: "text/csv", Data: []byte("key," + secret + "\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			t.Cleanup(func() { policy.SetSecrets(nil) })
			m.Chat = b.admin
			out, d := b.queue(m)
			require.True(t, d.Allow, d.Why)
			require.NotEmpty(t, storetest.ColumnsContaining(t, b.store, "canary_K9"), "it is no secret yet")
			policy.SetSecrets([]string{secret})
			require.NoError(t, b.send(out))
			require.Len(t, b.sender.sent, 1)
			require.Empty(t, storetest.ColumnsContaining(t, b.store, "canary_K9"), "the row holds what is sent")
			require.NotContains(t, string(b.sender.content), "canary_K9")
		})
	}
}

func TestLeak_NoticeHidesSecret(t *testing.T) { //nolint:paralleltest // as above
	b := setup(t)
	const secret, short = `canary_K9&x<7>"Qm2*v`, "Xq7-vR"
	policy.SetSecrets([]string{secret, short})
	t.Cleanup(func() { policy.SetSecrets(nil) })
	long := strings.Repeat("word ", MaxNotice/5-2)
	for name, m := range map[string]Message{
		"Markdown":       NewNotice(b.admin, "The key is "+text.Escape(secret)+" and "+short+".", Quiet),
		"code":           NewNotice(b.admin, "`"+secret+"`", Quiet),
		"a block":        NewNotice(b.admin, "```\n"+secret+"\n```", Quiet),
		"cut":            NewNotice(b.admin, text.Clip(secret, 12), Quiet),
		"cut at the end": NewNotice(b.admin, long+secret, Quiet),
		"a file's name": {Chat: b.admin, Purpose: policy.PurposeNotice, File: &File{
			Name: short + " " + secret + ".txt",
			MIME: "text/plain",
			Data: []byte("x"),
		}},
		"a file": {Chat: b.admin, Purpose: policy.PurposeNotice, File: &File{
			Name: "a.csv",
			MIME: "text/csv",
			Data: []byte("key," + secret + "\n"),
		}},
	} {
		out, d := b.queue(m)
		require.True(t, d.Allow, name)
		require.NoError(t, b.send(out), name)
	}
	out, d := b.queue(Message{
		Chat:    b.chat,
		Purpose: policy.PurposeOperator,
		Text:    "See the file.",
		File:    &File{Name: short + ".txt", MIME: "text/plain", Data: []byte("x")},
	})
	require.True(t, d.Allow, "too short to be stopped")
	require.NoError(t, b.send(out))
	require.Len(t, b.sender.sent, 8, "the rows hold what is sent")
	for _, hidden := range []string{secret, secret[:10], text.Escape(secret)[:10], "K9&amp;x", short} {
		require.Empty(t, storetest.ColumnsContaining(t, b.store, hidden), hidden)
	}
}
