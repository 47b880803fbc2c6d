package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"multis/store/row"
)

const addOutboxFileSQL = "insert into outbox_files (outbox_id, data) values ($1, $2)"

// AddOutboxFile stores the file of an outbox message until it is sent.
func AddOutboxFile(ctx context.Context, tx Tx, out uuid.UUID, data []byte) error {
	return row.Exec(ctx, tx, "keep a file to send", addOutboxFileSQL, out, data)
}

const outboxFileSQL = "select data from outbox_files where outbox_id = $1"

// OutboxFile returns the file of an outbox message, or ErrNotFound.
func OutboxFile(ctx context.Context, db DB, out uuid.UUID) ([]byte, error) {
	var data []byte
	if err := db.QueryRow(ctx, outboxFileSQL, out).Scan(&data); err != nil {
		return nil, fmt.Errorf("read a file to send: %w", row.NotFound(err))
	}
	return data, nil
}

const maskOutboxMessageSQL = `with file as (update outbox_files set data = $3 where outbox_id = $1 and $3::bytea is not null)
	update outbox set content = $2 where id = $1`

// MaskOutboxMessage replaces the content of an outbox message, and its file unless file is nil, by ones without secrets.
func MaskOutboxMessage(ctx context.Context, tx Tx, out uuid.UUID, content json.RawMessage, file []byte) error {
	return row.Exec(ctx, tx, "mask an outbox message", maskOutboxMessageSQL, out, content, file)
}

const deleteOutboxFileSQL = "delete from outbox_files where outbox_id = $1"

const hasBrokenPartSQL = "select exists (select from outbox where part_of = $1 and seq < $2 and state in ('dropped', 'failed'))"

// HasBrokenPart reports whether an earlier part of the same message was not sent.
func HasBrokenPart(ctx context.Context, db DB, o OutboxMessage) (bool, error) {
	if o.PartOf == nil {
		return false, nil
	}
	var yes bool
	if err := db.QueryRow(ctx, hasBrokenPartSQL, *o.PartOf, o.Seq).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for earlier parts: %w", err)
	}
	return yes, nil
}

const partsSQL = "select " + outboxColumns + " from outbox o where o.part_of = $1 order by o.seq"

// Parts returns the rows of a message in parts, in order; none for a message in one row.
func Parts(ctx context.Context, db DB, first uuid.UUID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "parts", partsSQL, first)
}

// partText is the text of a row of a message, with its file if that is the text of a message too long for its network.
type partText struct {
	First uuid.UUID
	Body  string
	File  []byte
}

const wholeTextsSQL = `select coalesce(o.part_of, o.id) as first, coalesce(o.content->>'body', '') as body, f.data as file
	from outbox o left join outbox_files f on f.outbox_id = o.id and o.content->'info'->>'mimetype' = 'text/plain'
	where o.id = any ($1) or o.part_of = any ($1) order by o.seq`

// wholeTexts returns what messages say, by their first rows: the texts of all their parts, also where a text is sent as a file.
func wholeTexts(ctx context.Context, db DB, messages []OutboxMessage) (map[uuid.UUID]string, error) {
	ids := make([]uuid.UUID, len(messages))
	for i, o := range messages {
		ids[i] = o.ID
	}
	parts, err := row.All[partText](ctx, db, "texts of messages", wholeTextsSQL, ids)
	said := make(map[uuid.UUID]string, len(messages))
	for _, p := range parts {
		said[p.First] += p.Body + "\n" + string(p.File) + "\n"
	}
	return said, err
}

// WholeText returns what a message says, by its first row: the texts of all its parts.
func WholeText(ctx context.Context, db DB, first OutboxMessage) (string, error) {
	said, err := wholeTexts(ctx, db, []OutboxMessage{first})
	return strings.TrimSpace(said[first.ID]), err
}
