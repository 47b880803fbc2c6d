package store

import (
	"context"
	"fmt"
	"time"

	"multis/store/row"
)

const keepFileSQL = `insert into kept_files (message_id, data, size, expires_at)
	select id, $2::bytea, octet_length($2::bytea), $3 from messages where id = $1 and redacted_at is null for share
	on conflict do nothing`

// KeepFile stores the file of a message until a time, unless the message was deleted. A transaction that deletes the message meanwhile
// waits and deletes the file with it.
func KeepFile(ctx context.Context, tx Tx, message MessageID, data []byte, until time.Time) error {
	return row.Exec(ctx, tx, "keep a file", keepFileSQL, message, data, until)
}

const limitKeptFilesSQL = `with sums as (select message_id, sum(size) over (order by kept_at desc, message_id desc) as total from kept_files)
	delete from kept_files where expires_at < now() or message_id in (select message_id from sums where total > $1)`

// LimitKeptFiles deletes the files that have expired, and the oldest ones beyond a number of bytes.
func LimitKeptFiles(ctx context.Context, tx Tx, maxBytes int64) error {
	return row.Exec(ctx, tx, "drop old files", limitKeptFilesSQL, maxBytes)
}

const keptFileSQL = "select data from kept_files where message_id = $1"

// KeptFile returns the file of a message, or ErrNotFound.
func KeptFile(ctx context.Context, db DB, message MessageID) ([]byte, error) {
	var data []byte
	if err := db.QueryRow(ctx, keptFileSQL, message).Scan(&data); err != nil {
		return nil, fmt.Errorf("read a kept file: %w", row.NotFound(err))
	}
	return data, nil
}
