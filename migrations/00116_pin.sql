-- +goose Up

create table pin (
    only_row       boolean primary key default true check (only_row),
    hash           text,
    set_at         timestamptz,
    failures       int not null default 0,
    locked_until   timestamptz,
    unlocked_until timestamptz
);
comment on table pin is 'The owner''s PIN: one row, locked while a PIN is judged, so that any number of processes together judge three wrong ones. Entered digits are nowhere.';
comment on column pin.hash is 'Argon2id of the PIN, keyed with a secret that is not in the database. Null: none is set.';
comment on column pin.failures is 'Wrong PINs since the last right one, or since the last lock.';
comment on column pin.locked_until is 'Until then no PIN is judged.';
comment on column pin.unlocked_until is 'Until then commands that need a PIN run without it, but for those that ask each time.';
insert into pin default values;
