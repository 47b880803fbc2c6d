-- +goose Up

-- What bridges say of the owner's logins.
create table bridge_states (
    id         bigint generated always as identity primary key,
    bot        text not null,
    login      text not null default '', -- '': of no login in particular
    protocol   text not null,
    why        text not null default '', -- what is wrong; '' while all is well
    changed_at timestamptz not null,
    down_since timestamptz,              -- null while all is well
    was_down   timestamptz,              -- since when it was down before
    unique (bot, login)
);

-- +goose Down
drop table bridge_states;
