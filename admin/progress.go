package admin

import (
	"fmt"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/outbox"
	"multis/store"
	"multis/text"
)

// progressDelay is how long indexing must take before its progress is shown.
const progressDelay = time.Second

// indexProgress shows the progress of indexing in one message, which the result replaces.
type indexProgress struct {
	live  *outbox.Live
	key   store.Setting
	since time.Time
	now   func() time.Time
	next  chan string // the text to show; a newer text replaces one that was not shown yet

	// end stops it and returns the message that the result replaces; empty if nothing was shown. It may be called again.
	end func() id.EventID
}

// show shows a text. In the first second nothing is shown: what is done by then needs no progress.
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

// batch returns the callbacks that show the progress of IndexAll. where is the path of the sources if there are several.
func (p *indexProgress) batch(where string, sources []knowledge.Source) knowledge.Batch {
	if len(sources) == 1 {
		sources[0].Progress = p.pages("", sources[0].Name)
		return knowledge.Batch{}
	}
	return knowledge.Batch{Started: func(i int) {
		sources[i].Progress = p.file(where, sources[i].Name, i+1, len(sources))
	}}
}

// pages returns a callback that shows how many pages of a document are read. before is put before its name.
func (p *indexProgress) pages(before, name string) func(done, all int) {
	return func(done, all int) {
		p.show(fmt.Sprintf("📄 %s%s ▸ reading %d of %s", before, esc(name), done, text.Count(all, "page")))
	}
}

// file begins the next of many files, and returns the callback for its pages.
func (p *indexProgress) file(where, name string, at, all int) func(done, pages int) {
	before := fmt.Sprintf("%s ▸ %d of %d ▸ ", code(where), at, all)
	p.show("📄 " + before + esc(name))
	return p.pages(before, name)
}
