-- +goose Up

comment on column chats.delivery is 'What becomes of an answer: it is sent at once (auto), waits for the owner (draft), or is shown and never sent (shadow); see policy.Delivery. Null: nobody set it; a chat that answers because of the profile, its network or a label begins as config.yaml says, any other with auto.';
comment on column outbox.state is 'draft: the very event that will be sent waits for the owner''s approval. shadow: it is shown to the owner and never sent. queued, sent and delivered: on its way. failed: the homeserver or the bridge refused it. dropped: it will not be sent, as code and reason say.';
