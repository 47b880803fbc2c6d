package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"

	"multis/policy"
)

// Embedder converts texts to vectors, which are close together for texts with a similar meaning.
type Embedder interface {
	// Name returns "provider/model", with "@DIMENSIONS" if they are configured. Vectors of different names are not comparable.
	Name() string
	// Embed returns one vector per text, in order. All have length one and the same dimensions.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrNoEmbedder is returned by every call of NoEmbedder.
var ErrNoEmbedder = errors.New("no model for embeddings is configured")

// MaxDimensions is the maximum number of dimensions of a vector, which is what pgvector can index.
const MaxDimensions = 4000

// embedBatchSize is the maximum number of texts in one request.
const embedBatchSize = 64

// providerOllama is the prefix of Ollama's model names. Ollama serves the same protocol at DefaultOllamaURL.
const (
	providerOllama   = "ollama/"
	DefaultOllamaURL = "http://127.0.0.1:11434/v1"
)

// EmbedConfig configures the embedding model.
type EmbedConfig struct {
	Model      string        // "openai/NAME" or "ollama/NAME"; "none" or empty means no model
	BaseURL    string        // of a server that speaks the embeddings protocol. Defaults to OpenAI's or Ollama's own.
	APIKey     string        // may be empty where the server asks for none
	Dimensions int           // of the vectors, for models that support a choice. Zero means the model's default.
	Timeout    time.Duration // how long one call may take. Defaults to a minute.
	Purpose    string        // label for the usage statistics: "index", "search"
}

// NoEmbedder is the Embedder of an installation that has no embedding model.
type NoEmbedder struct{}

// Name is "none".
func (NoEmbedder) Name() string { return None{}.Name() }

// Embed returns ErrNoEmbedder.
func (NoEmbedder) Embed(context.Context, []string) ([][]float32, error) { return nil, ErrNoEmbedder }

// OpenEmbedder returns an embedder whose calls are paid from the budget. Failed calls are not retried: a search works
// without vectors, and the index job runs again later. It returns ErrConfig or ErrNoPrice.
func OpenEmbedder(c EmbedConfig, b Budget) (Embedder, error) {
	if c.Model == "" || c.Model == (None{}).Name() {
		return NoEmbedder{}, nil
	}
	base := DefaultBaseURL
	name, ok := strings.CutPrefix(c.Model, openAIPrefix)
	if !ok {
		name, ok = strings.CutPrefix(c.Model, providerOllama)
		base = DefaultOllamaURL
	}
	switch {
	case !ok || name == "":
		return nil, fmt.Errorf("%w: embeddings.model must be none, %sNAME or %sNAME, not %q", ErrConfig, openAIPrefix, providerOllama, c.Model)
	case c.Dimensions < 0 || c.Dimensions > MaxDimensions:
		return nil, fmt.Errorf("%w: embeddings.dimensions must be 0 to %d", ErrConfig, MaxDimensions)
	case b.Price.In < 0 || (b.Price.In == 0 && !b.Local):
		return nil, fmt.Errorf("%s: %w", c.Model, ErrNoPrice)
	}
	if c.BaseURL == "" {
		c.BaseURL = base
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultCallTimeout
	}
	return &paidEmbedder{openAIEmbedder: newOpenAIEmbedder(c, name), Budget: b, purpose: c.Purpose}, nil
}

// openAIEmbedder speaks the embeddings protocol, as OpenAI, Ollama and most others serve it.
type openAIEmbedder struct {
	name              string
	model             string
	dimensions        int // as requested; zero means the model's default
	timeout           time.Duration
	service           openai.EmbeddingService
	learnedDimensions atomic.Int64 // dimensions of the first answer, which all others must have
}

func newOpenAIEmbedder(c EmbedConfig, model string) *openAIEmbedder {
	name := c.Model
	if c.Dimensions > 0 {
		name += fmt.Sprintf("@%d", c.Dimensions)
	}
	return &openAIEmbedder{
		name: name, model: model, dimensions: c.Dimensions, timeout: c.Timeout,
		service: openai.NewEmbeddingService(openAIOptions(c.BaseURL, c.APIKey, newJSONClient(name))...),
	}
}

// Name returns "provider/model", with "@DIMENSIONS" if they are configured.
func (m *openAIEmbedder) Name() string { return m.name }

// call makes one request for at most embedBatchSize texts. It returns the vectors and the tokens used.
func (m *openAIEmbedder) call(ctx context.Context, texts []string) ([][]float32, int64, error) {
	call, cancel := context.WithTimeoutCause(ctx, m.timeout, errTimeout)
	defer cancel()
	params := openai.EmbeddingNewParams{
		Model:          m.model,
		Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: maskAll(texts)},
		EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
	}
	if m.dimensions > 0 {
		params.Dimensions = openai.Int(int64(m.dimensions))
	}
	answer, err := m.service.New(call, params)
	if err != nil {
		return nil, 0, m.classifyError(ctx, call, err)
	}
	vectors, ok := m.orderVectors(answer.Data, len(texts))
	if !ok {
		return nil, 0, &Error{Model: m.name, Reason: ReasonMalformedReply}
	}
	return vectors, answer.Usage.PromptTokens, nil
}

// orderVectors returns the vectors of an answer in the order of the texts. It returns false if the answer is not exactly one
// vector per text, all with the right dimensions.
func (m *openAIEmbedder) orderVectors(data []openai.Embedding, texts int) ([][]float32, bool) {
	if len(data) != texts || texts == 0 {
		return nil, false
	}
	want := m.dimensions
	if want == 0 {
		m.learnedDimensions.CompareAndSwap(0, int64(len(data[0].Embedding)))
		want = int(m.learnedDimensions.Load())
	}
	if want < 1 || want > MaxDimensions {
		m.learnedDimensions.Store(0)
		return nil, false
	}
	vectors := make([][]float32, texts)
	for _, d := range data {
		if d.Index < 0 || d.Index >= int64(texts) || vectors[d.Index] != nil || len(d.Embedding) != want {
			return nil, false
		}
		unit, ok := normalize(d.Embedding)
		if !ok {
			return nil, false
		}
		vectors[d.Index] = unit
	}
	return vectors, true
}

// normalize scales a vector to length one. It returns false if its length is zero or not finite.
func normalize(v []float64) ([]float32, bool) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, false
	}
	scaled := make([]float32, len(v))
	for i, x := range v {
		scaled[i] = float32(x / length)
	}
	return scaled, true
}

// classifyError converts an error of a call to an *Error. If the caller's context ended, it returns the context's error.
func (m *openAIEmbedder) classifyError(caller, call context.Context, err error) error {
	var known *Error
	e := &Error{Model: m.name, Reason: ReasonMalformedReply}
	switch {
	case caller.Err() != nil:
		return fmt.Errorf("%s: %w", m.name, caller.Err())
	case errors.Is(context.Cause(call), errTimeout):
		e.Reason = ReasonTimeout
	case errors.As(err, &known):
		return known
	case isTLSError(err):
		e.Reason = ReasonTLS
	case isUnreachable(err):
		e.Reason = ReasonUnreachable
	case isDisconnected(err):
		e.Reason = ReasonDisconnected
	}
	return e
}

// isDisconnected reports whether the connection ended before the answer was complete.
func isDisconnected(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// paidEmbedder reserves the worst-case cost of each call before it and settles it afterwards.
type paidEmbedder struct {
	*openAIEmbedder
	Budget

	purpose string
}

// Embed embeds texts in batches. It returns an *OverBudgetError without a call if a batch exceeds the budget.
func (m *paidEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for from := 0; from < len(texts); from += embedBatchSize {
		batch, err := m.paidCall(ctx, texts[from:min(from+embedBatchSize, len(texts))])
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, batch...)
	}
	return vectors, nil
}

func (m *paidEmbedder) paidCall(ctx context.Context, texts []string) ([][]float32, error) {
	most := int64(requestOverhead)
	for _, t := range texts {
		most += messageOverhead + textBytes(t)
	}
	worst := m.Price.Cost(Usage{In: most})
	res, err := m.Ledger.Reserve(ctx, policy.SpendRequest{
		Day:     m.Today(),
		Purpose: m.purpose,
		Model:   m.name,
		Amount:  worst,
		DayCap:  m.DayCap,
		ChatCap: m.ChatCap,
	})
	if err != nil {
		return nil, fmt.Errorf("reserve the cost of a call of %s: %w", m.name, err)
	}
	if res.Refused != "" {
		return nil, &OverBudgetError{Model: m.name, Cap: res.Refused, FirstToday: res.FirstRefusal}
	}
	// If the call ends early, it is charged in full.
	bill := policy.Settlement{Amount: worst}
	defer func() { budgetedModel{Budget: m.Budget}.settle(ctx, res.ID, bill) }()
	vectors, used, err := m.call(ctx, texts)
	var e *Error
	switch {
	case errors.As(err, &e) && e.isUnbilled():
		bill = policy.Settlement{}
	case err == nil && used > 0 && used <= most:
		bill = policy.Settlement{Amount: m.Price.Cost(Usage{In: used}), In: used}
	}
	return vectors, err
}
