-- +goose Up

-- The messages whose words may be in what was said, quoted or not: when one is deleted, so is the text that is kept here. What quotes a
-- message (about) is deleted in its room as well.
alter table outbox add column rests_on bigint[] not null default '{}';
update outbox o set rests_on = t.about from tasks t join messages m on m.id = t.message_id where coalesce(o.part_of, o.id) = m.outbox_id;
create index outbox_rests_on on outbox using gin (rests_on) where rests_on <> '{}';

-- The same of why a person was asked for: a model may have said so.
alter table escalations add column rests_on bigint[] not null default '{}';

-- +goose Down
alter table escalations drop column rests_on;
alter table outbox drop column rests_on;
