package admin

import (
	"fmt"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/knowledge"
	"multis/outbox"
	"multis/store"
)

// progressDelay is how long indexing must take before its progress is shown.
const progressDelay = time.Second

// indexProgress shows the progress of indexing in one message, which the result replaces.
type indexProgress struct {
	live  *outbox.LiveMessage
	key   store.Setting
	since time.Time
	now   func() time.Time
	next  chan string // the text to show; a newer text replaces one that was not shown yet

	// end stops the progress message and returns its event, which the result replaces; empty if nothing was shown. It may be called again.
	end func() id.EventID
}

// show shows a text, unless the indexing began less than progressDelay ago.
func (p *indexProgress) show(text string) {
	if p.now().Sub(p.since) < progressDelay {
		return
	}
	select {
	case <-p.next:
	default:
	}
	p.next <- text
}

// batch returns the callbacks that show the progress of IndexAll. path is the path that matched the sources.
func (p *indexProgress) batch(path string, sources []knowledge.Source) knowledge.Batch {
	if len(sources) == 1 {
		sources[0].Progress = p.pages("", sources[0].Name)
		return knowledge.Batch{}
	}
	return knowledge.Batch{Started: func(i int) {
		sources[i].Progress = p.file(path, sources[i].Name, i+1, len(sources))
	}}
}

// pages returns a callback that shows how many pages of a document are read. The text begins with prefix.
func (p *indexProgress) pages(prefix, name string) func(done, all int) {
	return func(done, all int) {
		p.show(fmt.Sprintf("📄 %s%s ▸ reading %d of %s", prefix, esc(name), done, text.Count(all, "page")))
	}
}

// file shows that the next file is read, and returns the callback for its pages. number is the file's number, beginning
// with 1, of total files.
func (p *indexProgress) file(path, name string, number, total int) func(done, pages int) {
	prefix := fmt.Sprintf("%s ▸ %d of %d ▸ ", code(path), number, total)
	p.show("📄 " + prefix + esc(name))
	return p.pages(prefix, name)
}
