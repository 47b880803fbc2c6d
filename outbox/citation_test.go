package outbox

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestCitation_PublicDocumentsOnly(t *testing.T) {
	t.Parallel()
	const text = "Grand piano tuning costs 1 euro, as agreed."
	for name, c := range map[string]struct {
		role policy.Role
		kind index.Kind
		want policy.Code
	}{
		"a public document":           {policy.RolePublic, index.KindKnowledge, policy.CodeAllowed},
		"a document of the owner's":   {policy.RoleAdmin, index.KindKnowledge, policy.CodeNoSource},
		"what is noted of the chat":   {"", index.KindConversation, policy.CodeNoSource},
		"a document of the chat":      {"", index.KindKnowledge, policy.CodeNoSource},
		"a public note, if one comes": {policy.RolePublic, index.KindConversation, policy.CodeNoSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			role := c.role
			if role == "" {
				role = policy.UserRole(b.chat.ID)
			}
			l := Message{
				Chat:      b.chat,
				Purpose:   policy.PurposeReply,
				Text:      text,
				Citations: []store.Citation{storetest.Cite(t, b.store, role, c.kind, text)},
			}
			_, d := b.queue(l)
			require.Equal(t, c.want, d.Code, d.Why)
			l.Citations = append(l.Citations, storetest.Cite(t, b.store, policy.RolePublic, index.KindKnowledge, text))
			_, d = b.queue(l)
			require.Equal(t, c.want, d.Code, "one span that counts does not make up for one that does not")
		})
	}
	b := setup(t)
	_, d := b.queue(Message{
		Chat:      b.chat,
		Purpose:   policy.PurposeReply,
		Text:      text,
		Citations: []store.Citation{{Ref: store.ChunkRef(99), Quote: text}},
	})
	require.Equal(t, policy.CodeNoSource, d.Code)
}

func TestCitation_ChecksSentBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	source := storetest.Cite(t, b.store, policy.RolePublic, index.KindKnowledge, "Delivery costs 5 euro. See shop.de.")
	for text, want := range map[string]policy.Code{
		"It is 5 euro, see shop.de.": policy.CodeAllowed,
		"It is five\u2069 euro.":     policy.CodeAllowed,
		"It is 4\u200b9 euro.":       policy.CodeUnsupported,
		"It is 4**9 euro.":           policy.CodeUnsupported,
		"It is ⁴⁹ euro.":             policy.CodeUnsupported,
		"It is forty-nine euro.":     policy.CodeUnsupported,
		"It is free.":                policy.CodeUnsupported,
		"See evil.c**om.":            policy.CodeUnsupported,
		paragraphs(3, 700) + " 49":   policy.CodeUnsupported,
		paragraphs(9, 700) + " 49":   policy.CodeUnsupported,
	} {
		_, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeReply, Text: text, Citations: []store.Citation{source}})
		require.Equal(t, want, d.Code, text)
	}
	// What the assistant is called is no claim.
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.PutSetting(ctx, tx, store.SettingName, "Agent 47")
	})
	_, d := b.queue(Message{Chat: b.chat, Purpose: policy.PurposeReply, Text: "It is 5 euro.", Citations: []store.Citation{source}})
	require.True(t, d.Allow, d.Why)
}
