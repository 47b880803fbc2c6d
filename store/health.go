package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Vitals is what the database shows about the work of multis at the moment.
type Vitals struct {
	DueSince *time.Time // when the job that waits longest for a worker was due; nil if none waits
	SyncedAt *time.Time // when a sync was last stored; nil before the first one
	Running  int        // jobs that run
	// Unreadable is the number of messages of the last hour that have waited for their key for two minutes.
	Unreadable int
	// FailingModels are the models whose last calls of the last quarter of an hour all failed.
	FailingModels []string
}

// vitalsSQL takes a call for failed if it brought no tokens, and either was not billed or is of a model that else reports tokens.
const vitalsSQL = `with calls as (select model, tokens_in + tokens_out as tokens, cost, reserved, row_number() over (partition by model order by id desc) as nth
		from usage where day >= current_date - 1 and settled_at > now() - interval '15 minutes'),
	failing as (select c.model from calls c where c.nth <= 3 group by c.model having count(*) = 3 and bool_and(c.tokens = 0
		and (c.cost = 0 and c.reserved > 0 or exists (select from usage u where u.day >= current_date - 7 and u.model = c.model and u.tokens_in > 0))))
	select (select min(scheduled_at) from river.river_job where state = 'available' and scheduled_at <= now()) as due_since,
		(select updated_at from settings where key = '` + string(SettingSyncToken) + `') as synced_at,
		(select count(*)::int from river.river_job where state = 'running') as running,
		(select count(*)::int from messages where parked is not null and received_at between now() - interval '1 hour' and now() - interval '2 minutes') as unreadable,
		array(select model from failing order by model) as failing_models`

// ReadVitals reads Vitals.
func ReadVitals(ctx context.Context, db DB) (Vitals, error) {
	return row.One[Vitals](ctx, db, "the state of the work", vitalsSQL)
}
