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

// progressDelay is how long reading must take before it is shown how far it is.
const progressDelay = time.Second

// indexProgress shows how far the reading of documents is, in one message that the outcome replaces.
type indexProgress struct {
	live  *outbox.Live
	key   store.Setting
	since time.Time
	now   func() time.Time
	next  chan string // what is to be shown; what comes before it was shown replaces it

	// end ends it, once, and gives the message that the outcome replaces; empty if nothing was shown.
	end func() id.EventID
}

// show passes over what comes in the first second: what is done by then needs no progress.
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

// batch shows how IndexAll works through sources. where is the path that means them, if there are several.
func (p *indexProgress) batch(where string, sources []knowledge.Source) knowledge.Batch {
	if len(sources) == 1 {
		sources[0].Progress = p.pages("", sources[0].Name)
		return knowledge.Batch{}
	}
	return knowledge.Batch{Started: func(i int) {
		sources[i].Progress = p.file(where, sources[i].Name, i+1, len(sources))
	}}
}

// pages is told how many pages of a document are read. before stands in front of its name.
func (p *indexProgress) pages(before, name string) func(done, all int) {
	return func(done, all int) {
		p.show(fmt.Sprintf("📄 %s%s ▸ reading %d of %s", before, esc(name), done, text.Count(all, "page")))
	}
}

// file begins another of many files, and is told how many of its pages are read.
func (p *indexProgress) file(where, name string, at, all int) func(done, pages int) {
	before := fmt.Sprintf("%s ▸ %d of %d ▸ ", code(where), at, all)
	p.show("📄 " + before + esc(name))
	return p.pages(before, name)
}
