package store

// RefKind is what a Ref refers to.
type RefKind string

// The kinds of references.
const (
	RefChunk   RefKind = "chunk"   // a passage of a document or note
	RefMessage RefKind = "message" // a message of a chat
)

// Valid reports whether k is one of the kinds.
func (k RefKind) Valid() bool { return k == RefChunk || k == RefMessage }

// Ref refers to something that a search found and that can be quoted: a chunk or a message. The zero Ref refers to nothing.
type Ref struct {
	Kind RefKind `json:"kind"`
	ID   int64   `json:"id"`
}

// ChunkRef returns a Ref to a chunk.
func ChunkRef(chunk ChunkID) Ref { return Ref{RefChunk, int64(chunk)} }

// MessageRef returns a Ref to a message.
func MessageRef(message MessageID) Ref { return Ref{RefMessage, int64(message)} }

// Chunk returns the chunk that r refers to; false if it refers to something else.
func (r Ref) Chunk() (ChunkID, bool) {
	if r.Kind != RefChunk {
		return 0, false
	}
	return ChunkID(r.ID), true
}

// Message returns the message that r refers to; false if it refers to something else.
func (r Ref) Message() (MessageID, bool) {
	if r.Kind != RefMessage {
		return 0, false
	}
	return MessageID(r.ID), true
}
