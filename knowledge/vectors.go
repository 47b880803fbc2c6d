package knowledge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/store"
)

const (
	// vectorBatch is how many passages get their vectors at once.
	vectorBatch = 64
	// budgetWait, serviceWait: how long the work rests when there is no money left for it, or no service.
	budgetWait  = time.Hour
	serviceWait = 5 * time.Minute
)

// Vectors gives every passage a vector, so that it is found by what it means. A search needs none of them.
type Vectors struct {
	st       *store.Store
	embedder llm.Embedder
}

// NewVectors makes vectors in st. embedder is nil where there are none.
func NewVectors(st *store.Store, embedder llm.Embedder) *Vectors {
	return &Vectors{st: st, embedder: embedder}
}

// Embed works until every passage has a vector of the model, those included that have one of another. again looks at passages
// that could have none before. When it cannot go on for now, it asks to come back.
func (v *Vectors) Embed(ctx context.Context, again bool) error {
	if v.embedder == nil {
		return nil
	}
	after := int64(store.NotYet)
	if again {
		after = 0
	}
	for {
		bare, err := v.st.BareChunks(ctx, v.embedder.Name(), after, vectorBatch)
		if err != nil || len(bare) == 0 {
			return err
		}
		vectors, err := v.vectorsOf(ctx, bare)
		if err != nil {
			return v.retryLater(ctx, err)
		}
		changed := false
		err = v.st.InTx(ctx, func(tx store.Tx) (err error) {
			if i := slices.IndexFunc(vectors, func(v []float32) bool { return v != nil }); i >= 0 {
				if changed, err = store.UseVectorModel(ctx, tx, v.embedder.Name(), len(vectors[i])); err != nil {
					return err
				}
			}
			return store.PutVectors(ctx, tx, v.embedder.Name(), bare, vectors)
		})
		if err != nil {
			return err
		}
		if after = bare[len(bare)-1].ID; changed {
			after = 0 // those before have no vector of it either
		}
	}
}

// vectorsOf gives the passages' vectors. When the provider refuses to look at one text, it is alone in having none.
func (v *Vectors) vectorsOf(ctx context.Context, bare []store.Bare) ([][]float32, error) {
	texts := make([]string, len(bare))
	for i, b := range bare {
		texts[i] = embeddingText(b)
	}
	vectors, err := v.embedder.Embed(ctx, texts)
	var refused *llm.Error
	if err == nil || !errors.As(err, &refused) || refused.Reason != llm.ReasonRequest {
		return vectors, err
	}
	if len(bare) == 1 {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("chunk_id", bare[0].ID).Msg("A passage gets no vector")
		return [][]float32{nil}, nil
	}
	half := len(bare) / 2
	first, err := v.vectorsOf(ctx, bare[:half])
	if err != nil {
		return nil, err
	}
	rest, err := v.vectorsOf(ctx, bare[half:])
	return append(first, rest...), err
}

// embeddingText is what of a passage tells what it is about.
func embeddingText(b store.Bare) string {
	return strings.Join([]string{b.Title, b.Section, b.Content}, "\n")
}

// retryLater says when to try again what went wrong.
func (v *Vectors) retryLater(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var failed *llm.Error
	var wait time.Duration
	switch {
	case errors.Is(err, llm.ErrOverBudget):
		wait = budgetWait
	case errors.As(err, &failed):
		wait = max(failed.RetryAfter, time.Minute)
	default:
		return err
	}
	zerolog.Ctx(ctx).Warn().Err(err).Stringer("again_in", wait).Msg("Making vectors rests")
	return jobs.Later(wait)
}
