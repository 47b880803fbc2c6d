-- +goose Up

-- Names that say what they hold.

alter table forgettings rename doomed to remaining;
comment on column forgettings.remaining is 'The deletion set: the ids of what is still to be deleted.';

alter table documents rename role_said_at to role_set_at;
comment on column documents.role_set_at is 'When the role was set. Of two settings the later one counts, whichever is processed first.';
alter table watched_folders rename said_at to role_set_at;
comment on column watched_folders.role_set_at is 'When the role was set. See documents.role_set_at.';
alter table watched_folders rename trouble to error;
comment on column watched_folders.error is 'Why the folder could not be read, as it was reported. Empty: it could.';

alter table chats rename held_until to owner_active_until;
comment on column chats.owner_active_until is 'The owner reads or types there: no answer before then, because the owner may answer.';

alter table heartbeat_looks rename to heartbeat_checks;
alter table heartbeat_checks rename looks to checks;
alter table heartbeat_checks rename looked_at to checked_at;
alter index heartbeat_looks_pkey rename to heartbeat_checks_pkey;
comment on table heartbeat_checks is 'When a model last checked the owner''s list for an agent, and how often it did on that day.';

alter table outbox drop constraint outbox_state_check;
update outbox set state = 'draft' where state = 'held';
alter table outbox add constraint outbox_state_check check (state in ('draft', 'queued', 'sent', 'delivered', 'failed', 'dropped'));
drop index outbox_held;
create index outbox_drafts on outbox (created_at) where state = 'draft';
comment on column outbox.state is 'draft: it is the very event that will be sent, and waits for the owner''s approval.';
