-- +goose Up

alter table messages add thread text not null default '';
comment on column messages.thread is 'The event that the thread of the message began with. Empty: it is in no thread.';

alter table escalations
    add card_id uuid,
    add found jsonb not null default '[]',
    add proposal text not null default '',
    add claimed_by text not null default '',
    add claimed_at timestamptz,
    add answered_at timestamptz,
    add closed_by text not null default '',
    add paged integer not null default 0,
    add shown text not null default '';
alter table escalations alter found set statistics 0, alter proposal set statistics 0;
create index escalations_card on escalations (card_id) where card_id is not null;
create index escalations_chat on escalations (chat_id, id);
comment on column escalations.card_id is 'The outbox message that the thread begins with. Null: it was opened by a program that had no threads.';
comment on column escalations.found is 'What the public documents say about the question: citations.';
comment on column escalations.proposal is 'An answer that a person may send as it stands. Empty: none.';
comment on column escalations.claimed_by is 'Matrix id of the person who answers there. Empty: nobody.';
comment on column escalations.answered_at is 'When a person wrote to the contact. Null: the contact waits.';
comment on column escalations.closed_by is 'Matrix id of the person who resolved it. Empty: it ended by itself, after a person had answered.';
comment on column escalations.paged is 'How often people were called because nobody claimed it: 1 the operators, 2 the owner, 3 a webhook.';
comment on column escalations.shown is 'The line about its state that the card shows.';

create table escalation_lines (
    escalation_id bigint not null references escalations on delete cascade,
    message_id    bigint not null,
    outbox_id     uuid not null,
    edits         integer not null,
    length        integer not null,
    primary key (escalation_id, message_id)
);
create index escalation_lines_outbox on escalation_lines (outbox_id);
comment on table escalation_lines is 'The messages of the chat that are in the thread of an escalation, and where: in its card, or in a message of their own.';
comment on column escalation_lines.edits is 'How often the message was edited when it was last shown; length is that of its text then.';
