-- +goose Up

-- As in 00039: what the planner keeps of a column are values of it, and texts must not live on there.
alter table chat_summaries alter body set statistics 0;
alter table dialogs alter payload set statistics 0;
alter table outbox alter error set statistics 0;

-- +goose Down
alter table chat_summaries alter body set statistics -1;
alter table dialogs alter payload set statistics -1;
alter table outbox alter error set statistics -1;
