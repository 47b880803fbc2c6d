package storetest

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// Cite stores a document of one passage and returns a citation that quotes it.
func Cite(t testing.TB, st *store.Store, role policy.Role, kind index.Kind, text string) (citation store.Citation) {
	t.Helper()
	ctx := context.Background()
	scope := policy.PublicScope()
	if role == policy.RoleAdmin {
		scope = policy.OwnerScope()
	} else if chat, of := role.Chat(); of {
		scope = policy.ContactScope(chat)
	}
	origin := uuid.NewString()
	require.NoError(t, st.AsOwner(ctx, scope, func(tx store.Tx) error {
		doc := index.Document{
			Origin: origin,
			Name:   "faq.md",
			Role:   role,
			Kind:   kind,
			Format: "md",
			Size:   int64(len(text)),
			Hash:   origin,
		}
		if _, err := index.ReplaceDocument(ctx, tx, doc, []index.Chunk{{Key: origin, Content: text, SearchText: text}}); err != nil {
			return err
		}
		citation = store.Citation{Source: "[faq.md]", Quote: text}
		var chunk store.ChunkID
		err := tx.QueryRow(ctx, "select c.id from chunks c join documents d on d.id = c.doc_id where d.origin = $1", origin).Scan(&chunk)
		citation.Ref = store.ChunkRef(chunk)
		return err
	}))
	return citation
}
