-- +goose Up

-- Several agents may look at the same matter; the owner hears of it from one.
delete from heartbeat_matters h using heartbeat_matters other where h.told and other.told and h.matter = other.matter and h.agent > other.agent;
create unique index heartbeat_matters_told on heartbeat_matters (matter) where told;

-- +goose Down
drop index heartbeat_matters_told;
