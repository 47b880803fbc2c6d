-- +goose Up

-- multis' own schedules have numbers of their own, far from those of people: a first reminder is job 1, and a start uses up no numbers.
create sequence own_schedules start 1000000;

-- +goose Down
-- There is no way back: see 00005.
