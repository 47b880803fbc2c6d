-- +goose Up
-- Why the owner is asked about a call, beyond what its tool does.
alter table approvals add note text not null default '';
comment on column approvals.note is 'Reason of the rule or the hook that asks, or that the turn has read text of others.';
