-- +goose Up

-- What last showed a promise by itself: a reaction to it is about the promise.
alter table commitments add column shown_in uuid;
create index commitments_shown on commitments (shown_in) where shown_in is not null;
create index commitments_snoozed on commitments (snoozed_to) where state = 'open';

-- +goose Down
drop index commitments_snoozed;
alter table commitments drop column shown_in;
