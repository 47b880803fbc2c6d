package rules

import (
	"sync"
	"time"
)

// Counter counts the calls that rules with a limit allowed, for each rule, agent and tool. It counts in memory, because a
// limit stops an agent that repeats itself, and that happens within one process; the costs of a task are limited in the
// database. Each process counts separately, and a restart resets the counts. It is safe for concurrent use. The zero
// value is ready.
type Counter struct {
	mu    sync.Mutex
	calls map[counterKey][]countedCall
}

// counterKey identifies what is counted separately.
type counterKey struct {
	rule        string // the result of Rule.Position
	agent, tool string
}

type countedCall struct {
	id string
	at time.Time
}

// Count counts a call and reports whether it exceeds the rule's limit. A call that was counted before, by its id, is not
// counted again. With an empty call id, Count only checks the limit.
func (c *Counter) Count(r *Rule, agent, tool, call string, now time.Time) (exceeded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[counterKey][]countedCall{}
	}
	key := counterKey{r.Position(), agent, tool}
	kept := c.calls[key][:0]
	for _, one := range c.calls[key] {
		if now.Sub(one.at) < r.Limit.Per {
			kept = append(kept, one)
		}
	}
	c.calls[key] = kept
	for _, one := range kept {
		if call != "" && one.id == call {
			return false
		}
	}
	if len(kept) >= r.Limit.Calls {
		return true
	}
	if call != "" {
		c.calls[key] = append(kept, countedCall{call, now})
	}
	return false
}
