-- +goose Up

alter table escalations
    add proposals jsonb not null default '[]',
    add picked smallint not null default 0;
alter table escalations alter proposals set statistics 0;
update escalations set proposals = jsonb_build_array(jsonb_build_object('text', proposal, 'citations', citations)) where proposal <> '';
alter table escalations drop proposal, drop citations;
comment on column escalations.proposals is 'Answers from public documents that a person may send as they stand, each with its citations, the likeliest first.';
comment on column escalations.picked is 'The number of the proposal that was sent, from 1. 0: none.';
