package store

import (
	"context"

	"github.com/google/uuid"

	"multis/store/row"
)

const incidentMessageSQL = "select " + outboxColumns + " from outbox o join incidents i on i.outbox_id = o.id where i.watch_id = $1 and i.key = $2"

// IncidentMessage returns the message about an open incident of a monitor, or ErrNotFound.
func IncidentMessage(ctx context.Context, tx Tx, watch WatchID, key string) (OutboxMessage, error) {
	return row.One[OutboxMessage](ctx, tx, "message about an incident", incidentMessageSQL, watch, key)
}

const putIncidentSQL = `insert into incidents (watch_id, key, outbox_id) values ($1, $2, $3)
	on conflict (watch_id, key) do update set outbox_id = excluded.outbox_id`

// PutIncident stores the message about an incident that has begun.
func PutIncident(ctx context.Context, tx Tx, watch WatchID, key string, message uuid.UUID) error {
	return row.Exec(ctx, tx, "store an incident", putIncidentSQL, watch, key, message)
}

const endIncidentSQL = "delete from incidents where watch_id = $1 and key = $2"

// EndIncident deletes an incident that has ended. It does nothing if there is none.
func EndIncident(ctx context.Context, tx Tx, watch WatchID, key string) error {
	return row.Exec(ctx, tx, "end an incident", endIncidentSQL, watch, key)
}
