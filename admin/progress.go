package admin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/store"
	"multis/text"
)

// showAfter is how long reading must take before it is shown how far it is.
const showAfter = time.Second

// indexing shows how far the reading of documents is, in one message that the outcome replaces.
type indexing struct {
	live  *outbox.Live
	key   store.Setting
	since time.Time
	now   func() time.Time
	next  chan string // what is to be shown; what comes before it was shown replaces it

	// end ends it, once, and gives the message that the outcome replaces; empty if nothing was shown.
	end func() id.EventID
}

// beginProgress begins to show it, or goes on with the message of an attempt that was interrupted. The homeserver is not
// waited for: reading has a limit of its own. The caller must end it.
func (dc *Documents) beginProgress(ctx context.Context, args jobs.IndexArgs) (*indexing, error) {
	room, err := store.ChatByID(ctx, dc.store.DB(), args.ChatID)
	if err != nil {
		return nil, err
	}
	p := &indexing{
		key:   store.Setting(fmt.Sprintf("indexing:%d:%d:%s%s", args.ChatID, args.MessageID, args.Path, args.Address)),
		since: dc.room.now(), now: dc.room.now, next: make(chan string, 1),
	}
	var event id.EventID
	if _, err := store.GetSetting(ctx, dc.store.DB(), p.key, &event); err != nil {
		return nil, err
	}
	p.live = dc.room.box.Live(room, event)
	over := make(chan struct{})
	p.end = sync.OnceValue(func() id.EventID {
		close(p.next)
		<-over
		return p.live.Event()
	})
	go func() {
		defer close(over)
		for text := range p.next {
			if !p.live.Show(ctx, text) {
				continue
			}
			if err := store.PutSetting(ctx, dc.store.DB(), p.key, p.live.Event()); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows how far it is")
			}
		}
	}()
	return p, nil
}

// show passes over what comes in the first second: what is done by then needs no progress.
func (p *indexing) show(text string) {
	if p.now().Sub(p.since) < showAfter {
		return
	}
	select {
	case <-p.next:
	default:
	}
	p.next <- text
}

// follow shows how IndexAll works through sources. where is the path that means them, if there are several.
func (p *indexing) follow(where string, sources []knowledge.Source) knowledge.Batch {
	if len(sources) == 1 {
		sources[0].Progress = p.pages("", sources[0].Name)
		return knowledge.Batch{}
	}
	return knowledge.Batch{Started: func(i int) {
		sources[i].Progress = p.file(where, sources[i].Name, i+1, len(sources))
	}}
}

// pages is told how many pages of a document are read. before stands in front of its name.
func (p *indexing) pages(before, name string) func(done, all int) {
	return func(done, all int) {
		p.show(fmt.Sprintf("📄 %s%s ▸ reading %d of %s", before, esc(name), done, text.Count(all, "page")))
	}
}

// file begins another of many files, and is told how many of its pages are read.
func (p *indexing) file(where, name string, at, all int) func(done, pages int) {
	before := fmt.Sprintf("%s ▸ %d of %d ▸ ", code(where), at, all)
	p.show("📄 " + before + esc(name))
	return p.pages(before, name)
}
