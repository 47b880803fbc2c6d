package rules

import (
	"sync"
	"time"
)

// Counter counts the calls that limited rules allowed, for each agent and tool. It counts in memory: a limit stops an agent that repeats itself,
// which happens within one process; what a run may cost is limited in the database. Several processes count by themselves, and a restart begins
// anew. It is safe for concurrent use. The zero value is ready.
type Counter struct {
	mu    sync.Mutex
	calls map[counterKey][]countedCall
}

// counterKey is what has one count.
type counterKey struct {
	rule        string // its place
	agent, tool string
}

type countedCall struct {
	call string
	at   time.Time
}

// Count counts a call and reports whether the rule's limit is exceeded by it. A call that was counted before is not counted again. With an empty
// call id it only checks the limit.
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
		if call != "" && one.call == call {
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
