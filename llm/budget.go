package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"multis/policy"
)

// ErrOverBudget matches every *OverBudgetError with errors.Is. No call was made, so the caller answers without a model.
var ErrOverBudget = errors.New("the budget is used up")

// ErrNoPrice is returned by Budgeted and Models for a paid model without a known price.
var ErrNoPrice = errors.New("the model has no price, and only a local one may go without")

// OverBudgetError is returned by a model whose next call could exceed a cap.
type OverBudgetError struct {
	Model      string
	Cap        policy.Cap
	FirstToday bool // the first refusal by this cap today
}

// Error names the cap.
func (e *OverBudgetError) Error() string {
	switch e.Cap {
	case policy.CapChat:
		return e.Model + ": today's budget of this chat is used up"
	case policy.CapAgent:
		return e.Model + ": today's budget of this agent is used up"
	case policy.CapRun:
		return e.Model + ": the budget of this task is used up"
	default:
		return e.Model + ": today's budget is used up"
	}
}

// Unwrap makes it an ErrOverBudget.
func (e *OverBudgetError) Unwrap() error { return ErrOverBudget }

// Ledger records spending. Reserve must be durable before it returns: a reservation that is never settled, because the
// process died, counts in full for its day.
type Ledger interface {
	Reserve(ctx context.Context, s policy.SpendRequest) (policy.Reservation, error)
	Settle(ctx context.Context, id int64, s policy.Settlement) error
}

// Budget holds the price and the caps of a model's calls. Caps of zero allow only free calls.
type Budget struct {
	Ledger        Ledger
	Price         Price         // required, unless Local is set
	Local         bool          // whether the model may have no price
	FromPriceList bool          // whether Price is from the built-in list, which may be out of date
	DayCap        int64         // for all calls of a day, in millionths of the currency
	ChatCap       int64         // for the calls of a day in one chat
	AgentCap      int64         // for the calls of a day of one agent
	RunCap        int64         // for the calls of one run
	MaxTokens     int           // the limit on answers of requests without one; defaults to DefaultMaxTokens
	Today         func() string // returns the day that calls are booked on, "2006-01-02" in the owner's time zone
}

// settleTimeout bounds the settling of a call, which goes on when the caller has given up.
const settleTimeout = 10 * time.Second

// Budgeted wraps a model so that the worst-case cost of each call is reserved before it and settled after it. It returns
// ErrNoPrice if the input or the output price is unknown.
func Budgeted(m Model, b Budget) (Model, error) {
	if least := min(b.Price.In, b.Price.Out); least < 0 || (least == 0 && !b.Local) {
		return nil, fmt.Errorf("%s: %w", m.Name(), ErrNoPrice)
	}
	return budgetedModel{Model: m, Budget: b}, nil
}

type budgetedModel struct {
	Model
	Budget
}

// Stream calls the model, or yields an *OverBudgetError without a call.
func (m budgetedModel) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if r.MaxTokens <= 0 {
			r.MaxTokens = cmp.Or(m.MaxTokens, DefaultMaxTokens)
		}
		if r.Longer {
			r.MaxTokens *= lengthFactor
		}
		ctx, span := startCall(ctx, m.Name(), r)
		defer span.end()
		yield = span.watch(yield)
		worst := m.worstCase(r)
		res, err := m.Ledger.Reserve(ctx, policy.SpendRequest{
			Day:      m.Today(),
			Chat:     r.Chat,
			Agent:    r.Agent,
			Run:      r.Run,
			Purpose:  r.Purpose,
			Model:    m.Name(),
			Amount:   worst,
			DayCap:   m.DayCap,
			ChatCap:  m.ChatCap,
			AgentCap: m.AgentCap,
			RunCap:   m.RunCap,
		})
		if err != nil {
			yield(Delta{}, fmt.Errorf("reserve the cost of a call of %s: %w", m.Name(), err))
			return
		}
		if res.Refused != "" {
			yield(Delta{}, &OverBudgetError{Model: m.Name(), Cap: res.Refused, FirstToday: res.FirstRefusal})
			return
		}
		// If the call ends early, because the reader stops or panics, it is charged in full.
		bill := policy.Settlement{Amount: worst}
		defer func() { m.settle(ctx, res.ID, bill) }()
		bill = m.call(ctx, r, bill, yield)
	}
}

// listedMarginDivisor is the divisor of the safety margin on built-in prices: 1/4 is added to the worst case.
const listedMarginDivisor = 4

// worstCase returns the maximum cost of a call. Built-in prices get a margin, because they may have risen.
func (m budgetedModel) worstCase(r Request) int64 {
	cost := m.Price.worstCase().Cost(maxUsage(r))
	if m.FromPriceList {
		cost += (cost + listedMarginDivisor - 1) / listedMarginDivisor
	}
	return cost
}

// call forwards the model's answer and returns its cost. It returns the worst case unless the provider reported a
// plausible usage or certainly did not charge.
func (m budgetedModel) call(ctx context.Context, r Request, worst policy.Settlement, yield func(Delta, error) bool) policy.Settlement {
	var used Usage
	begun := false
	for d, err := range m.Model.Stream(ctx, r) {
		if err != nil {
			var e *Error
			if !begun && errors.As(err, &e) && e.isUnbilled() {
				worst = policy.Settlement{}
			}
			yield(Delta{}, err)
			return worst
		}
		begun = begun || d.Text != "" || d.Call != nil
		if d.Usage != (Usage{}) {
			used = d.Usage
		}
		if !yield(d, nil) {
			return worst
		}
	}
	if !isPlausible(used, begun) {
		return worst
	}
	if isCut(r, used) {
		yield(Delta{}, &Error{Model: m.Name(), Reason: ReasonPromptCut})
	}
	return policy.Settlement{Amount: m.Price.Cost(used), In: used.In, Out: used.Out, Cached: used.CacheRead}
}

const (
	// minCutBytes is the size of a prompt from which isCut can tell.
	minCutBytes = 12_000
	// maxTokenBytes is more bytes than a token has on average, in a prompt in any language.
	maxTokenBytes = 8
	// usualTokenBytes is a usual size of a token; see isCut.
	usualTokenBytes = 3.5
)

// isCut reports whether the server read only a part of the prompt, as some do without a word when it is larger than the
// context window that they are set to: it counted far fewer tokens than the text has, or a power of two that is too small.
func isCut(r Request, used Usage) bool {
	bytes := textBytes(r.System) // without calls and tools, of which servers count what they like
	for _, m := range r.Messages {
		if len(m.Images) > 0 {
			return false
		}
		bytes += textBytes(m.Text)
	}
	isWindow := used.In >= 2048 && used.In&(used.In-1) == 0
	switch {
	case bytes < minCutBytes:
		return false
	case used.In*maxTokenBytes < bytes:
		return true
	default:
		return isWindow && float64(used.In)*usualTokenBytes < float64(bytes)
	}
}

// isPlausible reports whether a usage can be right: some providers omit it or send zeros. hasText is true if the answer was not
// empty.
func isPlausible(u Usage, hasText bool) bool {
	const maxTokens = 1_000_000_000
	return u.In > 0 && u.In < maxTokens && u.Out >= 0 && u.Out < maxTokens && (u.Out > 0 || !hasText) &&
		u.CacheRead >= 0 && u.CacheWrite >= 0 && u.CacheRead <= u.In && u.CacheWrite <= u.In-u.CacheRead
}

// settle books the actual cost of a call. If that fails, the reservation counts in full, which only reduces what is left of
// today's budget.
func (m budgetedModel) settle(ctx context.Context, id int64, s policy.Settlement) {
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := m.Ledger.Settle(done, id, s); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("reservation_id", id).Msg("Model call left unsettled, it counts in full")
	}
}

// Upper bounds of the tokens that a provider adds to our text: for each message, call and tool, for a request, and for a request
// with tools.
const (
	messageOverhead = 16
	requestOverhead = 256
	toolsOverhead   = 1024
)

// imageTokens is the maximum number of tokens of one image, with the most expensive tiling of a large one.
const imageTokens = 50_000

// maxUsage returns an upper bound of the tokens of a request. A token has at least one byte, so the bytes of a text are an
// upper bound. English text has three to four times fewer tokens, but names, numbers and other scripts come close.
func maxUsage(r Request) Usage {
	in := requestOverhead + messageOverhead + textBytes(r.System)
	for _, m := range r.Messages {
		in += messageOverhead + textBytes(m.Text) + textBytes(m.CallID) + imageTokens*int64(len(m.Images))
		for _, c := range m.Calls {
			in += messageOverhead + textBytes(c.ID) + textBytes(c.Name) + int64(len(c.Args)) + int64(len(c.Signature))
		}
	}
	if len(r.Tools) > 0 {
		in += toolsOverhead
	}
	for _, t := range r.Tools {
		in += messageOverhead + textBytes(t.Name) + textBytes(t.Description) + int64(len(t.Schema))
	}
	return Usage{In: in, Out: int64(r.MaxTokens)}
}

// textBytes returns the maximum size of s after JSON encoding, which replaces each invalid byte with three bytes.
func textBytes(s string) int64 {
	if utf8.ValidString(s) {
		return int64(len(s))
	}
	return 3 * int64(len(s))
}
