package agent

import (
	"errors"
	"slices"

	"multis/llm"
	"multis/search"
	"multis/store"
)

// Limits are what a model can hold, in tokens.
type Limits struct {
	// Context is all of a request with its answer. Defaults to 32,000.
	Context int
	// Reserve is kept free for what tools bring and for the answer. Defaults to a quarter of Context.
	Reserve int
	// Summarise is how long a conversation grows before its older part is summarised. Defaults to a quarter of Context.
	Summarise int
	// Window is how many messages of a conversation are read word for word. Defaults to 20.
	Window int
}

// errNoRoom is returned for a request that does not fit, however much of what tools brought is left out.
var errNoRoom = errors.New("the request does not fit the model")

const defaultContext = 32_000

func (l Limits) context() int {
	if l.Context > 0 {
		return l.Context
	}
	return defaultContext
}

func (l Limits) reserve() int {
	if l.Reserve > 0 {
		return l.Reserve
	}
	return l.context() / 4
}

func (l Limits) summarise() int {
	if l.Summarise > 0 {
		return l.Summarise
	}
	return l.context() / 4
}

const defaultWindow = 20

func (l Limits) window() int {
	if l.Window > 0 {
		return l.Window
	}
	return defaultWindow
}

// tokens is about how many tokens a text has: somewhat too many for most languages, so that it fits.
func tokens(texts ...string) int {
	n := 0
	for _, t := range texts {
		n += len(t)/3 + 4
	}
	return n
}

// choose cuts passages and a conversation to what fits beside the fixed texts: passages from the end, of the conversation whole
// turns from the beginning. Passages may take two thirds of the room.
func (l Limits) choose(fixed int, hits []search.Hit, window []store.Message) ([]search.Hit, []store.Message) {
	room := max(l.context()-l.reserve()-fixed, 0)
	taken, kept := 0, 0
	for kept < len(hits) && taken+tokens(hits[kept].Text, hits[kept].Title, hits[kept].Section) <= room*2/3 {
		taken += tokens(hits[kept].Text, hits[kept].Title, hits[kept].Section)
		kept++
	}
	from := len(window)
	for from > 0 && taken+tokens(window[from-1].Body) <= room {
		taken += tokens(window[from-1].Body)
		from--
	}
	return hits[:kept], window[beginTurn(window, from):]
}

// leftOut stands where a tool's result made room for newer ones.
const leftOut = "[left out to make room; call the tool again if you need it]"

// fit makes a request that grew with its tools' results fit, by leaving out the oldest of them.
func (l Limits) fit(r *llm.Request) error {
	size := func() int {
		n := tokens(r.System)
		for _, t := range r.Tools {
			n += tokens(t.Description, string(t.Schema))
		}
		for _, m := range r.Messages {
			n += tokens(m.Text)
			for _, c := range m.Calls {
				n += tokens(c.Name, string(c.Args))
			}
		}
		return n + max(r.MaxTokens, llm.DefaultMaxTokens)
	}
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		if size() <= l.context() {
			return nil
		}
		if m := &r.Messages[i]; m.Role == llm.RoleTool && len(m.Text) > len(leftOut) {
			m.Text = leftOut
		}
	}
	if size() > l.context() {
		return errNoRoom
	}
	return nil
}
