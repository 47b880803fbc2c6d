-- +goose Up

-- Folders below the documents folder whose files are indexed as they come, change and go.
create table watched_folders (
    path    text primary key, -- below the documents folder
    role    text not null check (role in ('public', 'admin')),
    chat_id bigint not null references chats on delete cascade, -- where what is done is told
    trouble text not null default '' -- why it could not be looked at, as it was told; empty: it could
);

-- The files of a watched folder as they were when they were indexed, or could not be.
create table watched_files (
    folder   text not null references watched_folders on delete cascade,
    path     text not null, -- below the documents folder
    size     bigint not null,
    modified timestamptz not null,
    primary key (folder, path)
);

-- +goose Down
drop table watched_files, watched_folders;
