-- +goose Up

create table documents (
    id           bigint generated always as identity primary key,
    origin       text not null unique,
    name         text not null,
    role         text not null check (role in ('public', 'admin') or role ~ '^user:.'),
    kind         text not null check (kind in ('kb', 'conv')),
    element      text not null,
    size         bigint not null,
    hash         text not null,
    chunks       int not null default 0,
    indexed_at   timestamptz not null default now(),
    validator    text not null default '',
    role_said_at timestamptz not null default now()
);
comment on table documents is 'A file, or the stream of conversation chunks of one chat. It belongs to one role as a whole.';
comment on column documents.origin is 'Where it came from: a path, an address, or its name.';
comment on column documents.name is 'As shown in citations.';
comment on column documents.element is 'md, txt, chat, ...';
comment on column documents.size is 'Bytes of the source.';
comment on column documents.hash is 'Of the source and of the way it was cut, so that the same file again is no work.';
comment on column documents.validator is 'How the server recognises the version of a page that was indexed, so that an unchanged page is not fetched again.';
comment on column documents.role_said_at is 'When somebody said who may read it. Of two who say it, the later one counts, whichever is processed first.';

create table chunks (
    id              bigint generated always as identity primary key,
    chunk_key       text not null unique,
    doc_id          bigint not null references documents on delete cascade,
    ord             int not null,
    role            text not null check (role in ('public', 'admin') or role ~ '^user:.'),
    kind            text not null check (kind in ('kb', 'conv')),
    title           text not null,
    section         text not null default '',
    line_from       int not null default 0,
    line_to         int not null default 0,
    page_from       int not null default 0,
    page_to         int not null default 0,
    content         text not null,
    indexed_at      timestamptz not null default now(),
    access_count    int not null default 0,
    first_accessed  timestamptz,
    last_accessed   timestamptz,
    recent_accesses timestamptz[] not null default '{}',
    activation      double precision not null default 0,
    unique (doc_id, ord)
) with (fillfactor = 85);
-- The newest chunks of a role and kind: among very many public ones there may be none of what is remembered of chats.
create index chunks_recent on chunks (role, kind, indexed_at desc, doc_id desc, ord);
comment on table chunks is 'What can be read and quoted. Row-level security on it is the second wall between chats.';
comment on column chunks.chunk_key is 'Of role, origin, place and content: the same text at the same place keeps its id.';
comment on column chunks.line_from is '0: the source has no lines.';
comment on column chunks.page_from is '0: the source has no pages.';
comment on column chunks.recent_accesses is 'The newest first, 8 at most.';
comment on column chunks.activation is 'As of the last access. Ranking computes it again.';

create table watched_folders (
    path    text primary key,
    role    text not null check (role in ('public', 'admin')),
    chat_id bigint not null references chats on delete cascade,
    trouble text not null default '',
    said_at timestamptz not null default now()
);
comment on table watched_folders is 'Folders below the documents folder whose files are indexed as they come, change and go.';
comment on column watched_folders.path is 'Relative to the documents folder.';
comment on column watched_folders.chat_id is 'Where multis reports what it does with the files.';
comment on column watched_folders.trouble is 'Why the folder could not be read, as it was reported. Empty: it could.';
comment on column watched_folders.said_at is 'When somebody said who may read the files. See documents.role_said_at.';

create table watched_files (
    folder   text not null references watched_folders on delete cascade,
    path     text not null,
    size     bigint not null,
    modified timestamptz not null,
    reader   text not null default '',
    primary key (folder, path)
);
comment on table watched_files is 'The files of a watched folder as they were when they were indexed, or could not be.';
comment on column watched_files.path is 'Relative to the documents folder.';
comment on column watched_files.reader is 'How the file was read. One that would be read differently now is read again.';
