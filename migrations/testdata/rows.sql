-- A row in every table of the schema before the baseline, for the test that taking such a database over loses nothing.
set multis.scope = '*';
insert into settings values ('pause', '{"all": true}');
insert into chats (protocol, channel_id, room_id, kind, mode, name, spaces, features) values ('whatsapp', '4366', '!a:test', 'dm', 'business', 'Ana', '{!s:test}', '{"max": 1}');
insert into chats (protocol, channel_id, kind, person) values ('telegram', '77', 'dm', 1);
insert into seen_events values ('$1');
insert into pending_events values ('$2', '!b:test');
insert into pending_gaps (room_id, from_pos, to_pos) values ('!b:test', 't2', 't1');
insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason, parked)
    values (1, '$1', 'contact', '@ana:test', 'text', 'How much is tuning?', '2026-01-02 10:00Z', 'answer', 'fresh', 'it is new', '{"session_id": "s"}');
insert into kept_files (message_id, data, size, expires_at) values (1, '\x00ff', 2, '2027-01-01');
insert into escalations (chat_id, message_id, why, rests_on) values (1, 1, 'asked for a person', '{1}');
insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, about)
    values ('11111111-1111-4111-8111-111111111111', 1, 'owner', 'reply', 'm.room.message', '{"body": "80 euro"}', 'ok', 'allowed', 'sent', '{1}');
insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, part_of)
    values ('22222222-2222-4222-8222-222222222222', 1, 'bot', 'notice', 'm.room.message', '{}', 'ok', 'allowed', 'held', '11111111-1111-4111-8111-111111111111');
insert into outbox_files values ('22222222-2222-4222-8222-222222222222', '\x01');
insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values (1, 'pick', '[1]', '22222222-2222-4222-8222-222222222222', '2027-01-01');
insert into bridge_bots (bot, protocol, confirmed_at) values ('@a:test', 'whatsapp', '2026-01-01');
insert into bridge_changes (protocol, old_bot, new_bot) values ('whatsapp', '@a:test', '@b:test');
insert into bridge_states (bot, protocol, why, changed_at) values ('@a:test', 'whatsapp', 'logged out', '2026-01-01');
insert into documents (origin, name, role, kind, element, size, hash, chunks) values ('prices.md', 'prices.md', 'public', 'kb', 'md', 10, 'h', 1);
insert into chunks (chunk_key, doc_id, ord, role, kind, title, content, recent_accesses) values ('k', 1, 0, 'public', 'kb', 'prices.md', 'Tuning costs 80 euro.', '{2026-01-01}');
insert into chunk_index (id, doc_id, ord, role, kind, n_tok, tsv) select 1, 1, 0, 'public', 'kb', e.n_tok, e.tsv from index_entry('english', 'tuning tuning costs 80 euro') e;
insert into term_stats values ('*', 'tune', 1);
insert into corpus_stats (role, chunks, words) values ('public', 1, 5);
insert into corpus_configs values ('public', 'english', 1);
insert into uncounted values (1);
insert into message_index (id, doc_id, ord, role, n_tok, tsv, config) values (1, 1, 0, 'user:1', 2, to_tsvector('english', 'much tuning'), 'english'); -- counts its words as well
insert into watched_folders (path, role, chat_id) values ('docs', 'public', 1);
insert into watched_files values ('docs', 'docs/prices.md', 10, '2026-01-01');
insert into chat_memory (chat_id, fresh) values (1, 3);
insert into note_sections (chat_id, role, last_message) values (1, 'user:1', 1);
insert into notes (role, chat_id, section_id, kind, body, sources, valid_from) values ('user:1', 1, 1, 'fact', 'Ana has a grand piano', '{1}', '2026-01-01');
insert into commitments (chat_id, note_id, message_id, who, what) values (1, 1, 1, 'Ana', 'send a photo');
insert into chat_summaries values (1, 'Ana asked for the price', '{1}', '2026-01-01');
insert into forgettings (kind, doomed, command) values ('some', '{"messages": [9]}', 1);
insert into tasks (key, kind, chat_id, message_id, about, request, tools, target) values ('turn:1', 'turn', 1, 1, '{1}', '{"prompt": "..."}', '{search}', 2);
insert into task_steps (task_id, seq, kind, name, call_id, calls) values (1, 1, 'tool', 'search', 'c1', '[]');
insert into approvals (task_id, call_id, tool, expires_at) values (1, 'c1', 'exec', '2027-01-01');
insert into heartbeat_matters values ('main', 'unanswered:1', 1, true);
insert into heartbeat_looks values ('main', '2026-01-01', 2, '2026-01-01');
insert into schedules (kind, spec, zone, does, body, catch_up, created_by) values ('cron', '0 9 * * *', 'Europe/Vienna', 'say', 'good morning', 'once', '@me:test');
insert into schedule_runs (schedule_id, due_at, state) values (1, '2026-01-01', 'done');
insert into hooks values ('crm', 'https://crm.test', '{answered}');
insert into hook_deliveries (hook, event, ref) values ('crm', 'answered', '1');
insert into watches (name, kind, token) values ('shop', 'inbox', '\xaa');
insert into watch_calls values (1, 'order-1');
insert into budgets (day, cap, subject, committed) values ('2026-01-01', 'day', '', 7);
insert into usage (day, chat_id, purpose, model, reserved) values ('2026-01-01', 1, 'answer', 'm', 9);
