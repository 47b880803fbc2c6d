package run

import (
	"errors"
	"slices"
	"time"

	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Limits are the size of a model's context, in tokens, and how much of it a conversation may take.
type Limits struct {
	// Context is the size of a request and its answer together. Defaults to 32,000.
	Context int
	// Reserve is kept free for the results of tools and for the answer. Defaults to a quarter of Context.
	Reserve int
	// Summarise is the size from which the older part of a conversation is summarised. Defaults to a quarter of Context.
	Summarise int
	// Window is how many messages of a conversation are read word for word. Defaults to 20.
	Window int
	// MaxTokens is the limit of an answer. Defaults to llm.DefaultMaxTokens.
	MaxTokens int
	// Rounds is how many calls of the model a task of the owner's may take. Defaults to 12.
	Rounds int
	// Small is true for a small model: it gets few tools and passages.
	Small bool
	// Timeout bounds one attempt at a task. Defaults to 5 minutes.
	Timeout time.Duration
}

const (
	defaultContextSize = 32_000
	defaultWindow      = 20
	defaultRounds      = 12
	defaultTimeout     = 5 * time.Minute
)

// WithDefaults returns l with its defaults filled in.
func (l Limits) WithDefaults() Limits {
	fill := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	fill(&l.Context, defaultContextSize)
	fill(&l.Reserve, l.Context/4)
	fill(&l.Summarise, l.Context/4)
	fill(&l.Window, defaultWindow)
	fill(&l.MaxTokens, llm.DefaultMaxTokens)
	fill(&l.Rounds, defaultRounds)
	if l.Timeout <= 0 {
		l.Timeout = defaultTimeout
	}
	return l
}

// errTooLarge is returned for a request that exceeds the model's context, even without the results of tools.
var errTooLarge = errors.New("the request does not fit the model")

// Tokens estimates the number of tokens of texts. For most languages the estimate is too high, so that the texts fit.
func Tokens(texts ...string) int {
	n := 0
	for _, t := range texts {
		n += len(t)/3 + 4
	}
	return n
}

// trim shortens passages and a conversation so that they fit beside fixed tokens. It drops the last passages, and whole
// turns at the beginning of the conversation. Passages may take two thirds of the space.
func (l Limits) trim(fixed int, hits []search.Hit, window []store.Message) ([]search.Hit, []store.Message) {
	room := max(l.Context-l.Reserve-fixed, 0)
	taken, kept := 0, 0
	for kept < len(hits) && taken+Tokens(hits[kept].Text, hits[kept].Title, hits[kept].Section) <= room*2/3 {
		taken += Tokens(hits[kept].Text, hits[kept].Title, hits[kept].Section)
		kept++
	}
	from := len(window)
	for from > 0 && taken+Tokens(window[from-1].Body) <= room {
		taken += Tokens(window[from-1].Body)
		from--
	}
	return hits[:kept], window[skipAssistantMessages(window, from):]
}

// SummariseCount returns how many of the first messages of a conversation to summarise: none while the next question and
// its answer fit into the window, else all but the last ones. The rest never begins with the assistant's own message.
func (l Limits) SummariseCount(said []store.Message, answering int) int {
	size := 0
	for _, m := range said {
		size += Tokens(m.Body)
	}
	if len(said)+answering+2 <= l.Window && size <= l.Summarise {
		return 0
	}
	n := 0
	for n < len(said)-2 && (len(said)-n > l.Window/2 || size > l.Summarise/2) {
		size -= Tokens(said[n].Body)
		n++
	}
	return skipAssistantMessages(said, n)
}

// skipAssistantMessages returns the first index from n on whose message is not the assistant's own.
func skipAssistantMessages(said []store.Message, n int) int {
	for n < len(said) && n > 0 && (said[n].Author == policy.AuthorMultisOwner || said[n].Author == policy.AuthorMultisBot) {
		n++
	}
	return n
}

// leftOutText replaces an old result of a tool to make room for newer ones.
const leftOutText = "[left out to make room; call the tool again if you need it]"

// fit replaces the oldest results of tools by leftOutText until the request fits the model. It returns errTooLarge if that is not enough.
func (l Limits) fit(r *llm.Request) error {
	size := func() int {
		n := Tokens(r.System)
		for _, t := range r.Tools {
			n += Tokens(t.Description, string(t.Schema))
		}
		for _, m := range r.Messages {
			n += Tokens(m.Text)
			for _, c := range m.Calls {
				n += Tokens(c.Name, string(c.Args))
			}
		}
		return n + max(r.MaxTokens, l.MaxTokens, llm.DefaultMaxTokens)
	}
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		if size() <= l.Context {
			return nil
		}
		if m := &r.Messages[i]; m.Role == llm.RoleTool && len(m.Text) > len(leftOutText) {
			m.Text = leftOutText
		}
	}
	if size() > l.Context {
		return errTooLarge
	}
	return nil
}
