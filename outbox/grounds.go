package outbox

import (
	"context"
	"slices"

	"multis/policy"
	"multis/store"
)

// grounds are what a reply to a contact rests on, as the database has it, whatever the caller says.
type grounds struct {
	reply   bool
	public  bool     // all of its spans are of public documents
	sources []string // the documents' words, and what we write around an answer ourselves
}

// groundsOf reads the passages that a reply cites: of public documents only, with a contact's rights.
func (b *Box) groundsOf(ctx context.Context, tx store.Tx, l Letter, name string) (grounds, error) {
	if l.Purpose != policy.PurposeReply || len(l.Spans) == 0 {
		return grounds{}, nil
	}
	g := grounds{reply: true, public: true, sources: []string{b.mark(l, name), longName}}
	var ids []store.ChunkID
	for _, s := range l.Spans {
		chunk, ok := s.Ref.Chunk()
		if !ok {
			g.public = false
			continue
		}
		ids = append(ids, chunk)
	}
	passages, err := store.PublicChunks(ctx, tx, ids)
	if err != nil {
		return grounds{}, err
	}
	for _, p := range passages {
		g.sources = append(g.sources, p.Title+"\n"+p.Section+"\n"+p.Content)
	}
	for _, id := range ids {
		g.public = g.public && slices.ContainsFunc(passages, func(p store.ChunkText) bool { return p.ID == id })
	}
	return g, nil
}

// under completes what the gate looks at: whether the very bytes of an event say nothing but what its sources say.
func (g grounds) under(in policy.GateInput, r row) policy.GateInput {
	if !g.reply {
		return in
	}
	in.HasSpan = in.HasSpan && g.public
	in.Unsupported = policy.Unsupported(in.Body, g.sources...)
	if in.Unsupported == "" && r.data != nil {
		in.Unsupported = policy.Unsupported(string(r.data), g.sources...)
	}
	return in
}
