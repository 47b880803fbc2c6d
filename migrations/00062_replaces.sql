-- +goose Up

-- The message that was shown while an answer was made, and that the answer replaced: what is taken back of the one is of the other, too.
alter table outbox add column replaces text not null default '';

-- What did not go out needs its file no more.
delete from outbox_files f using outbox o where o.id = f.outbox_id and o.state in ('dropped', 'failed');

-- +goose Down
alter table outbox drop column replaces;
