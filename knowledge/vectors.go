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
	"multis/store/index"
)

const (
	// vectorBatch is how many passages are embedded in one request.
	vectorBatch = 64
	// budgetWait and serviceWait are the delays until the next attempt if the budget is used up, or if the provider is not available.
	budgetWait  = time.Hour
	serviceWait = 5 * time.Minute
)

// Vectors computes the vectors of passages, by which search finds them by meaning. Search works without them.
type Vectors struct {
	st       *store.Store
	embedder llm.Embedder
}

// NewVectors returns Vectors for the passages in st. embedder is nil when embeddings are not configured.
func NewVectors(st *store.Store, embedder llm.Embedder) *Vectors {
	return &Vectors{st: st, embedder: embedder}
}

// Embed computes vectors until every passage has one of the current model. again also tries passages whose text the
// provider refused before. If the provider is not available or the budget is used up, Embed returns jobs.Snooze.
func (v *Vectors) Embed(ctx context.Context, again bool) error {
	if v.embedder == nil {
		return nil
	}
	after := store.ChunkID(index.AfterLast)
	if again {
		after = 0
	}
	for {
		var chunks []index.UnembeddedChunk
		err := v.st.ReadAll(ctx, func(tx store.Tx) (err error) {
			chunks, err = index.UnembeddedChunks(ctx, tx, v.embedder.Name(), after, vectorBatch)
			return err
		})
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			return nil
		}
		vectors, err := v.vectorsOf(ctx, chunks)
		if err != nil {
			return v.retryLater(ctx, err)
		}
		changed := false
		err = v.st.InTx(ctx, func(tx store.Tx) (err error) {
			if i := slices.IndexFunc(vectors, func(v []float32) bool { return v != nil }); i >= 0 {
				if changed, err = index.UseVectorModel(ctx, tx, v.embedder.Name(), len(vectors[i])); err != nil {
					return err
				}
			}
			return index.PutVectors(ctx, tx, v.embedder.Name(), chunks, vectors)
		})
		if err != nil {
			return err
		}
		if after = chunks[len(chunks)-1].ID; changed {
			after = 0 // the model has changed: start again with the first passage
		}
	}
}

// vectorsOf returns the vectors of passages. The vector of a passage whose text the provider refuses is nil.
func (v *Vectors) vectorsOf(ctx context.Context, chunks []index.UnembeddedChunk) ([][]float32, error) {
	texts := make([]string, len(chunks))
	for i, b := range chunks {
		texts[i] = embeddingText(b)
	}
	vectors, err := v.embedder.Embed(ctx, texts)
	var refused *llm.Error
	if err == nil || !errors.As(err, &refused) || refused.Reason != llm.ReasonRequest {
		return vectors, err
	}
	if len(chunks) == 1 {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("chunk_id", int64(chunks[0].ID)).Msg("A passage gets no vector")
		return [][]float32{nil}, nil
	}
	half := len(chunks) / 2
	first, err := v.vectorsOf(ctx, chunks[:half])
	if err != nil {
		return nil, err
	}
	rest, err := v.vectorsOf(ctx, chunks[half:])
	return append(first, rest...), err
}

// embeddingText returns the text from which the vector of a passage is computed: title, headings and content.
func embeddingText(b index.UnembeddedChunk) string {
	return strings.Join([]string{b.Title, b.Section, b.Content}, "\n")
}

// retryLater returns the error by which the job runs again, after a delay that depends on the cause.
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
	return jobs.Snooze(wait)
}
