package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/policy"
	"multis/store/row"
)

// WatchedFolder is a folder whose files are indexed as they are added, changed and removed.
type WatchedFolder struct {
	Path      string // below the documents folder
	Role      policy.Role
	RoleSetAt time.Time // when the role was set
	ChatID    ChatID    // the room for notices about it
	Error     string    // why it cannot be read, as the owner was told
}

// WatchedFile is a file in a watched folder, as it was when it was last read.
type WatchedFile struct {
	Path     string
	Size     int64
	Modified time.Time
	Reader   string // the version of the document reader
}

const watchFolderSQL = `insert into watched_folders (path, role, role_set_at, chat_id) values ($1, $2, $3, $4)
	on conflict (path) do update set role = excluded.role, role_set_at = excluded.role_set_at, chat_id = excluded.chat_id, error = ''`

// forgetFilesSQL makes the files of a folder be read again, because its role may have changed.
const forgetFilesSQL = "delete from watched_files where folder = $1"

// WatchFolder starts to watch a folder, or changes the role of its files.
func WatchFolder(ctx context.Context, tx Tx, f WatchedFolder) error {
	if err := row.Exec(ctx, tx, "watch folder", watchFolderSQL, f.Path, f.Role, f.RoleSetAt, f.ChatID); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "forget files of folder", forgetFilesSQL, f.Path)
}

const unwatchFolderSQL = "delete from watched_folders where path = $1"

// UnwatchFolder stops to watch a folder. It returns false if the folder was not watched.
func UnwatchFolder(ctx context.Context, tx Tx, path string) (bool, error) {
	tag, err := tx.Exec(ctx, unwatchFolderSQL, path)
	if err != nil {
		return false, fmt.Errorf("watch folder no more: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

const watchedFoldersSQL = "select path, role, role_set_at, chat_id, error from watched_folders order by path"

// WatchedFolders returns the watched folders by path.
func WatchedFolders(ctx context.Context, db DB) ([]WatchedFolder, error) {
	return row.All[WatchedFolder](ctx, db, "watched folders", watchedFoldersSQL)
}

const hasWatchedFoldersSQL = "select exists (select from watched_folders)"

// HasWatchedFolders reports whether there are watched folders.
func HasWatchedFolders(ctx context.Context, db DB) (bool, error) {
	return row.Value[bool](ctx, db, "watched folders", hasWatchedFoldersSQL)
}

const watchedFilesSQL = "select path, size, modified, reader from watched_files where folder = $1"

// WatchedFiles returns the files of a folder as they were last read, by path.
func WatchedFiles(ctx context.Context, db DB, folder string) (map[string]WatchedFile, error) {
	rows, err := db.Query(ctx, watchedFilesSQL, folder)
	if err != nil {
		return nil, fmt.Errorf("read watched files: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[WatchedFile])
	if err != nil {
		return nil, fmt.Errorf("read watched files: %w", err)
	}
	files := make(map[string]WatchedFile, len(list))
	for _, f := range list {
		files[f.Path] = f
	}
	return files, nil
}

const setFolderErrorSQL = "update watched_folders set error = $2 where path = $1"

// SetFolderError stores why a folder cannot be read; empty means that it can be read.
func SetFolderError(ctx context.Context, tx Tx, folder, reason string) error {
	return row.Exec(ctx, tx, "store the error of a folder", setFolderErrorSQL, folder, reason)
}

// putWatchedFileSQL writes nothing for a folder that is no longer watched, or whose role has changed: such a folder is read again.
const putWatchedFileSQL = `insert into watched_files (folder, path, size, modified, reader)
	select $1, * from unnest($3::text[], $4::bigint[], $5::timestamptz[], $6::text[]) where exists (select from watched_folders where path = $1 and role = $2)
	on conflict (folder, path) do update set size = excluded.size, modified = excluded.modified, reader = excluded.reader`

const deleteWatchedFilesSQL = "delete from watched_files where folder = $1 and path = any ($2)"

// RecordWatchedFiles stores the files of a folder that were read for a role, and removes those that are gone. It does nothing if the
// folder is not watched any more or its role has changed.
func RecordWatchedFiles(ctx context.Context, tx Tx, f WatchedFolder, looked []WatchedFile, gone []string) error {
	err := row.Exec(ctx, tx, "note watched files", putWatchedFileSQL, f.Path, f.Role, row.Column(looked, func(f WatchedFile) string {
		return f.Path
	}),
		row.Column(looked, func(f WatchedFile) int64 {
			return f.Size
		}), row.Column(looked, func(f WatchedFile) time.Time {
			return f.Modified
		}), row.Column(looked, func(f WatchedFile) string { return f.Reader }))
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return nil
	}
	return row.Exec(ctx, tx, "forget watched files", deleteWatchedFilesSQL, f.Path, gone)
}
