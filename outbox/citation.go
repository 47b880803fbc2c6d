package outbox

import (
	"context"
	"slices"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// citation has what a reply cites, as it is in the database. The caller's quotes are not trusted.
type citation struct {
	reply   bool
	public  bool     // all cited passages are of public documents
	sources []string // the texts of the passages, and what multis itself adds to a reply
}

// citationOf reads the passages that a reply cites, with a contact's rights: only those of public documents are found.
func (b *Box) citationOf(ctx context.Context, tx store.Tx, m Message, name string) (citation, error) {
	if !m.Purpose.NeedsSource() || len(m.Citations) == 0 {
		return citation{}, nil
	}
	cited := citation{reply: true, public: true, sources: []string{b.disclosure(m, name), textFileName}}
	var ids []store.ChunkID
	for _, s := range m.Citations {
		chunk, ok := s.Ref.Chunk()
		if !ok {
			cited.public = false
			continue
		}
		ids = append(ids, chunk)
	}
	passages, err := index.PublicChunks(ctx, tx, ids)
	if err != nil {
		return citation{}, err
	}
	asked, err := store.WaitingMessages(ctx, tx, m.Chat.ID)
	if err != nil {
		return citation{}, err
	}
	for _, q := range asked {
		cited.sources = append(cited.sources, policy.OwnNumbers(q.Body))
	}
	for _, p := range passages {
		cited.sources = append(cited.sources, p.Title+"\n"+p.ShownTitle+"\n"+p.Section+"\n"+p.Content)
	}
	for _, id := range ids {
		cited.public = cited.public && slices.ContainsFunc(passages, func(p index.ChunkText) bool { return store.ChunkID(p.ID) == id })
	}
	return cited, nil
}

// apply adds to the gate's input whether the message leaks a secret, and whether the cited passages support the event's content.
func (c citation) apply(in policy.GateInput, r row, leaks bool) policy.GateInput {
	in.Leaks = leaks
	if !c.reply {
		return in
	}
	in.HasCitation = in.HasCitation && c.public
	in.Unsupported = policy.FindUnsupported(in.Body, c.sources...)
	if in.Unsupported == "" && r.data != nil {
		in.Unsupported = policy.FindUnsupported(string(r.data), c.sources...)
	}
	return in
}
