package sandbox

import (
	"fmt"
	"strings"
	"sync"

	"multis/policy"
)

// headTailBuffer is a writer that keeps the beginning and the end of its input, at most limit bytes together. It is safe
// for concurrent use.
type headTailBuffer struct {
	limit int
	live  func([]byte)

	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int64
}

// Write keeps p as part of the beginning or the end, and drops what was in the middle. It never fails.
func (c *headTailBuffer) Write(p []byte) (int, error) {
	if c.live != nil {
		c.live(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n, half := len(p), c.limit/2
	if room := half - len(c.head); room > 0 {
		room = min(room, len(p))
		c.head, p = append(c.head, p[:room]...), p[room:]
	}
	c.tail = append(c.tail, p...)
	if excess := len(c.tail) - half; excess > 0 {
		c.dropped += int64(excess)
		c.tail = append(c.tail[:0], c.tail[excess:]...)
	}
	return n, nil
}

// String returns the kept bytes, with a line in place of those that were dropped. It masks a secret that is cut there,
// because later masking would not recognize its parts.
func (c *headTailBuffer) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, tail := string(c.head), string(c.tail)
	if c.dropped > 0 {
		head, tail = policy.HideBeforeCut(head)+fmt.Sprintf("\n[%d bytes left out]\n", c.dropped), policy.HideAfterCut(tail)
	}
	return strings.ToValidUTF8(head+tail, "�")
}
