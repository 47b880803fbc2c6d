-- +goose Up

create table incidents (
    watch_id  bigint not null references watches on delete cascade,
    key       text not null,
    outbox_id uuid not null references outbox on delete cascade,
    primary key (watch_id, key)
);
create index incidents_outbox on incidents (outbox_id);
comment on table incidents is 'What a monitor called with and did not end yet, and the message about it, which is edited when it ends.';
comment on column incidents.key is 'A hash of what the monitor calls it.';

alter table watches add column changes int not null default 0;
alter table watches add column changing text[] not null default '{}';
alter table watches add column left_out text[] not null default '{}';
comment on column watches.changes is 'Of a page: how many checks in a row it has changed.';
comment on column watches.changing is 'The shapes of the lines that have changed in all of these checks.';
comment on column watches.left_out is 'The shapes of the lines that change at every check and are no longer compared.';
