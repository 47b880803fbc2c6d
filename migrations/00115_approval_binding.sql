-- +goose Up

alter table approvals add binding text not null default '';
comment on column approvals.binding is 'SHA-256 of the files that the call runs, when the owner was asked. Empty: the call runs none.';
