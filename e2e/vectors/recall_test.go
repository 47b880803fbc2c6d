//go:build e2e

package vectors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// TestVectors_RecallMatchesExhaustive holds the index against comparing one by one, on clustered vectors over many scopes.
func TestVectors_RecallMatchesExhaustive(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	const (
		dimensions, model = 48, "openai/made-up"
		public, admin     = 4000, 1500
		chats, perChat    = 100, 30
		queries, top      = 120, 10
	)
	r := rand.New(rand.NewPCG(7, 8))
	centres := make([][]float32, 60)
	for i := range centres {
		centres[i] = around(r, nil, dimensions)
	}
	vectors := map[store.ChunkID][]float32{}
	roleOf := map[store.ChunkID]policy.Role{}
	fillRole := func(role policy.Role, n int) {
		chunks := make([]index.Chunk, n)
		for i := range chunks {
			chunks[i] = index.Chunk{Key: fmt.Sprintf("%s/%d", role, i), Ord: i, Content: "x", SearchText: "x"}
		}
		scope := policy.OwnerScope()
		var chat store.ChatID
		if _, err := fmt.Sscanf(string(role), "user:%d", &chat); err == nil {
			scope = policy.OwnerScope(chat)
		}
		require.NoError(t, st.AsOwner(t.Context(), scope, func(tx store.Tx) error {
			_, err := index.ReplaceDocument(t.Context(), tx, index.Document{
				Origin: string(role),
				Name:   "x",
				Role:   role,
				Kind:   index.KindKnowledge,
				Hash:   "x",
			}, chunks)
			return err
		}))
	}
	fillRole(policy.RolePublic, public)
	fillRole(policy.RoleAdmin, admin)
	for chat := range int64(chats) {
		fillRole(policy.UserRole(store.ChatID(chat+1)), perChat)
	}
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		_, err := index.UseVectorModel(t.Context(), tx, model, dimensions)
		return err
	}))
	for after := store.ChunkID(0); ; {
		var bare []index.UnembeddedChunk
		err := st.ReadAll(t.Context(), func(tx store.Tx) (err error) {
			bare, err = index.UnembeddedChunks(t.Context(), tx, model, after, 1000)
			return err
		})
		require.NoError(t, err)
		if len(bare) == 0 {
			break
		}
		list := make([][]float32, len(bare))
		for i, b := range bare {
			list[i] = around(r, centres[r.IntN(len(centres))], dimensions)
			vectors[b.ID], roleOf[b.ID] = list[i], b.Role
			after = b.ID
		}
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error { return index.PutVectors(t.Context(), tx, model, bare, list) }))
	}
	require.Len(t, vectors, public+admin+chats*perChat)
	_, err := st.Pool().Exec(t.Context(), "analyze chunk_vectors")
	require.NoError(t, err)

	for who, scopeOf := range map[string]func() policy.Scope{
		"a contact":                  func() policy.Scope { return policy.ContactScope(store.ChatID(1 + r.Int64N(chats))) },
		"the owner":                  func() policy.Scope { return policy.OwnerScope() },
		"the owner, naming one chat": func() policy.Scope { return policy.OwnerScope(store.ChatID(1 + r.Int64N(chats))) },
	} {
		found, wanted := 0, 0
		for range queries {
			scope, q := scopeOf(), around(r, centres[r.IntN(len(centres))], dimensions)
			as := st.AsContact
			if scope.Allows(policy.RoleAdmin) {
				as = st.AsOwner
			}
			var near []index.NearestChunk
			require.NoError(t, as(t.Context(), scope, func(tx store.Tx) (err error) {
				near, err = index.SearchVectors(t.Context(), tx, model, q, []index.Kind{index.KindKnowledge}, top)
				return err
			}))
			require.Len(t, near, top)
			for _, id := range nearest(vectors, roleOf, scope, q, top) {
				wanted++
				if slices.ContainsFunc(near, func(n index.NearestChunk) bool { return n.ID == id }) {
					found++
				}
			}
		}
		recall := float64(found) / float64(wanted)
		t.Logf("%s: recall@%d %.3f over %d queries", who, top, recall, queries)
		require.GreaterOrEqual(t, recall, 0.95, who)
	}
}

// around is a random vector of length one, near a centre unless that is nil.
func around(r *rand.Rand, centre []float32, dimensions int) []float32 {
	v := make([]float32, dimensions)
	sum := float32(0)
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if centre != nil {
			v[i] = centre[i]*6 + v[i]*0.6
		}
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(float64(sum)))
	}
	return v
}

// nearest compares all that a scope may see.
func nearest(vectors map[store.ChunkID][]float32, roleOf map[store.ChunkID]policy.Role, scope policy.Scope, q []float32,
	n int,
) []store.ChunkID {
	var ids []store.ChunkID
	for id := range vectors {
		if scope.Allows(roleOf[id]) {
			ids = append(ids, id)
		}
	}
	like := func(id store.ChunkID) float32 {
		sum := float32(0)
		for i, x := range vectors[id] {
			sum += x * q[i]
		}
		return sum
	}
	slices.SortFunc(ids, func(a, b store.ChunkID) int {
		switch x, y := like(a), like(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
	return ids[:n]
}
