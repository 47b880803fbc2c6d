package outbox

import (
	"context"
	"slices"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// citation is what a reply cites, read from the database and not taken from the caller.
type citation struct {
	reply   bool
	public  bool     // all of its spans are of public documents
	sources []string // the documents' words, and what we write around an answer ourselves
}

// citationOf reads the cited passages: those of public documents only, with a contact's rights.
func (b *Box) citationOf(ctx context.Context, tx store.Tx, l Message, name string) (citation, error) {
	if l.Purpose != policy.PurposeReply || len(l.Spans) == 0 {
		return citation{}, nil
	}
	g := citation{reply: true, public: true, sources: []string{b.disclosure(l, name), textFileName}}
	var ids []store.ChunkID
	for _, s := range l.Spans {
		chunk, ok := s.Ref.Chunk()
		if !ok {
			g.public = false
			continue
		}
		ids = append(ids, chunk)
	}
	passages, err := index.PublicChunks(ctx, tx, ids)
	if err != nil {
		return citation{}, err
	}
	for _, p := range passages {
		g.sources = append(g.sources, p.Title+"\n"+p.Section+"\n"+p.Content)
	}
	for _, id := range ids {
		g.public = g.public && slices.ContainsFunc(passages, func(p index.ChunkText) bool { return store.ChunkID(p.ID) == id })
	}
	return g, nil
}

// apply adds to the gate's input whether the event's content is supported by the cited passages.
func (g citation) apply(in policy.GateInput, r row) policy.GateInput {
	if !g.reply {
		return in
	}
	in.HasSpan = in.HasSpan && g.public
	in.Unsupported = policy.FindUnsupported(in.Body, g.sources...)
	if in.Unsupported == "" && r.data != nil {
		in.Unsupported = policy.FindUnsupported(string(r.data), g.sources...)
	}
	return in
}
