package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// vocabulary has the words of all documents, so that every query would match documents of every role.
var vocabulary = strings.Fields(`apple bridge candle doctor engine forest garden harbour island jacket kitchen ladder mirror needle
	orange pencil quartz ribbon saddle ticket umbrella violin window yellow zebra`)

func randomText(r *rand.Rand, words int) string {
	picked := make([]string, words)
	for i := range picked {
		picked[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(picked, " ") + "."
}

func indexRoles(t testing.TB, st *store.Store, roles ...policy.Role) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for _, role := range roles {
		var text strings.Builder
		for i := range 12 {
			fmt.Fprintf(&text, "# Part %d\n\nThis belongs to %s. %s\n\n", i, role, randomText(r, 60))
		}
		_, err := knowledge.New(st).Index(t.Context(), knowledge.File{Name: string(role) + ".md", Role: role, Data: []byte(text.String())})
		require.NoError(t, err)
	}
}

// unfilteredSQL returns the roles whose texts a transaction can read without a condition: from the table of texts, and from the
// search function.
const unfilteredSQL = `select role from chunks union select c.role from
	search_passages(array[$1::text]::tsquery[], '{1}', $1::text::tsquery, array[$1::text]::tsquery[], '{1}', 50, '{kb,conv}', 8000, 8000) p join chunks c using (id)`

func unfilteredRoles(ctx context.Context, tx store.Tx, word string) (map[policy.Role]bool, error) {
	rows, err := tx.Query(ctx, unfilteredSQL, word)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	seen := map[policy.Role]bool{}
	for rows.Next() {
		var role policy.Role
		if err := rows.Scan(&role); err != nil {
			return nil, err
		}
		seen[role] = true
	}
	return seen, rows.Err()
}

func TestScope_HidesOtherContacts(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.RolePublic, policy.RoleAdmin, policy.UserRole(1), policy.UserRole(2))
	st = withConnections(t, st, 2) // so that both contacts and the owner use the same connections over and over
	s := search.New(st)
	const queries = 2000

	var group errgroup.Group
	for worker := range uint64(2) {
		group.Go(func() error {
			r := rand.New(rand.NewPCG(worker, 7))
			for range queries / 2 {
				chat := store.ChatID(1 + r.IntN(2))
				scope := policy.ContactScope(chat)
				text := randomText(r, 1+r.IntN(4))
				found, err := s.AsContact(t.Context(), scope, search.Query{Text: text, Limit: 50})
				if err != nil {
					return err
				}
				own := 0
				for _, h := range found.Hits {
					if !scope.Allows(h.Role) || !strings.Contains(h.Text, "belongs to "+string(h.Role)) {
						return fmt.Errorf("chat %d was shown %s", chat, h.Role)
					}
					if h.Role == policy.UserRole(chat) {
						own++
					}
				}
				if own == 0 {
					return fmt.Errorf("chat %d did not find its own passages for %q", chat, text)
				}
				if r.IntN(20) == 0 { // the owner in between, on the same connections
					if _, err := s.AsOwner(t.Context(), policy.OwnerScope(1, 2), search.Query{Text: text}); err != nil {
						return err
					}
				}
				if r.IntN(5) > 0 {
					continue
				}
				word := strings.Fields(text)[0]
				err = st.AsContact(t.Context(), scope, func(tx store.Tx) error {
					seen, err := unfilteredRoles(t.Context(), tx, strings.TrimSuffix(word, ".")+":*")
					if err != nil {
						return err
					}
					if len(seen) != 2 || !seen[policy.RolePublic] || !seen[policy.UserRole(chat)] {
						return fmt.Errorf("without a WHERE chat %d sees %v", chat, seen)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// withConnections returns a store on the database of another one, whose pool has at most so many connections.
func withConnections(t *testing.T, st *store.Store, connections int32) *store.Store {
	t.Helper()
	cfg := st.Pool().Config()
	cfg.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	limited, err := store.New(t.Context(), pool)
	require.NoError(t, err)
	return limited
}

func TestScope_WordCountsStayPrivate(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	lib := knowledge.New(st)
	for role, text := range map[policy.Role]string{
		policy.RolePublic: "Opening hours.", policy.UserRole(1): "The first has a canary.", policy.UserRole(2): "The second has a parrot.",
		policy.RoleAdmin: "The owner has a parrot.",
	} {
		_, err := lib.Index(t.Context(), knowledge.File{Name: string(role) + ".md", Role: role, Data: []byte(text)})
		require.NoError(t, err)
	}
	s := search.New(st)
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "parrot canary"})
	require.NoError(t, err)
	require.Len(t, found.Terms, 2)
	require.Equal(t, "canari", found.Terms[0].Lexeme)
	require.EqualValues(t, 1, found.Terms[0].Chunks)
	require.Zero(t, found.Terms[1].Chunks, "a word of another chat is unknown")

	found, err = s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "parrot canary"})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1, "the owner does not see chats that were not named")
	require.Equal(t, policy.RoleAdmin, found.Hits[0].Role)
}

func TestScope_IsRequired(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.RolePublic)
	s := search.New(st)
	for name, search := range map[string]func() (search.Result, error){
		"contact": func() (search.Result, error) {
			return s.AsContact(t.Context(), policy.Scope{}, search.Query{Text: "apple"})
		},
		"owner": func() (search.Result, error) {
			return s.AsOwner(t.Context(), policy.Scope{}, search.Query{Text: "apple"})
		},
		"a contact with all words": func() (search.Result, error) {
			return s.AsContact(t.Context(), policy.ContactScope(), search.Query{Text: "the"})
		},
		"the owner's scope": func() (search.Result, error) {
			return s.AsContact(t.Context(), policy.OwnerScope(), search.Query{Text: "apple"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := search()
			require.Error(t, err)
			require.Empty(t, found.Hits)
		})
	}
}
