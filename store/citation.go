package store

import (
	"context"

	"multis/policy"
	"multis/store/row"
)

const chatNamesSQL = "select id, name, protocol as network, coalesce(person, 0) as person from chats where kind in ('dm', 'group') and name <> '' order by last_message_at desc nulls last, id"

// ChatNames returns the chats that have a name, those with the newest messages first.
func ChatNames(ctx context.Context, db DB) ([]policy.ChatName, error) {
	return row.All[policy.ChatName](ctx, db, "the names of chats", chatNamesSQL)
}

// settingInvented counts the citations that models invented and that were removed from their answers.
const settingInvented Setting = "invented_citations"

const addInventedCitationsSQL = `insert into settings (key, value) values ($1, to_jsonb($2::int))
	on conflict (key) do update set value = to_jsonb(settings.value::int + excluded.value::int), updated_at = now()`

// AddInventedCitations adds to the number of invented citations.
func AddInventedCitations(ctx context.Context, w Writer, n int) error {
	return row.Exec(ctx, w, "count citations that were made up", addInventedCitationsSQL, settingInvented, n)
}

// InventedCitations returns the number of invented citations so far.
func InventedCitations(ctx context.Context, db DB) (int, error) {
	n := 0
	_, err := GetSetting(ctx, db, settingInvented, &n)
	return n, err
}
