-- +goose Up

-- A file, or the stream of conversation chunks of one chat. It belongs to one role as a whole.
create table documents (
    id         bigint generated always as identity primary key,
    origin     text not null unique, -- where it came from: a path, an address, or its name
    name       text not null,        -- as shown in citations
    role       text not null check (role in ('public', 'admin') or role ~ '^user:.'),
    kind       text not null check (kind in ('kb', 'conv')),
    element    text not null,        -- md, txt, chat, ...
    size       bigint not null,      -- bytes of the source
    hash       text not null,        -- of the source and of the way it was cut, so that the same again is no work
    chunks     int not null default 0,
    indexed_at timestamptz not null default now()
);

-- What can be read and quoted. Row-level security on it is the second wall between chats.
create table chunks (
    id              bigint generated always as identity primary key,
    chunk_key       text not null unique, -- of role, origin, place and content: the same text at the same place keeps its id
    doc_id          bigint not null references documents on delete cascade,
    ord             int not null,
    role            text not null check (role in ('public', 'admin') or role ~ '^user:.'),
    kind            text not null check (kind in ('kb', 'conv')),
    title           text not null,
    section         text not null default '',
    line_from       int not null default 0, -- 0: the source has no lines
    line_to         int not null default 0,
    page_from       int not null default 0, -- 0: the source has no pages
    page_to         int not null default 0,
    content         text not null,
    indexed_at      timestamptz not null default now(),
    access_count    int not null default 0,
    first_accessed  timestamptz,
    last_accessed   timestamptz,
    recent_accesses timestamptz[] not null default '{}', -- newest first, 8 at most
    activation      double precision not null default 0, -- as of the last access; ranking computes it anew
    unique (doc_id, ord)
) with (fillfactor = 85);
create index chunks_recent on chunks (role, indexed_at desc);

-- What is searched. Without text and without a policy: a policy on the table that is searched would keep Postgres from
-- using its text index. Contacts have no right on it and reach it through the functions below only.
create table chunk_index (
    id          bigint primary key references chunks on delete cascade,
    doc_id      bigint not null,
    ord         int not null,
    role        text not null,
    kind        text not null,
    n_tok       int not null,               -- words, without stop words
    author      text not null default '',   -- who said it, folded like the query; '' for documents
    is_question boolean not null default false,
    tsv         tsvector not null,          -- positions kept, no weights: word frequencies are read back from ts_rank
    unique (doc_id, ord)
) with (toast_tuple_target = 8160);
alter table chunk_index alter tsv set storage main;
create index chunk_index_tsv on chunk_index using gin (tsv) with (fastupdate = off);
create index chunk_index_tsv_public on chunk_index using gin (tsv) with (fastupdate = off) where role = 'public';
create index chunk_index_role on chunk_index (role);

-- In how many chunks a word stands, for each role; the role '*' counts all of them.
create table term_stats (
    role text not null,
    word text not null,
    ndoc int not null,
    primary key (role, word)
) with (fillfactor = 80);

-- Chunks and words of each role; the row of '*' counts all, and locking it is how writers take turns.
create table corpus_stats (
    role   text primary key,
    chunks bigint not null,
    words  bigint not null
);
insert into corpus_stats values ('*', 0, 0);

alter table chunks enable row level security;
alter table chunks force row level security;
-- The scope is a comma separated list of roles, set for one transaction. Unset or empty, it names no row. '*' is for
-- backups by the tables' owner. The contact's role sees neither '*' nor 'admin', whatever the setting says. Where the
-- owner is also a member of the contact's role, both policies apply to it, and the second adds nothing to the first.
create policy chunks_owner on chunks to current_user
    using (current_setting('multis.scope', true) = '*' or role = any (string_to_array(current_setting('multis.scope', true), ',')))
    with check (current_setting('multis.scope', true) = '*' or role = any (string_to_array(current_setting('multis.scope', true), ',')));
create policy chunks_contact on chunks for select to multis_contact
    using (role = any (string_to_array(current_setting('multis.scope', true), ',')) and (role = 'public' or role ~ '^user:.'));
grant select on chunks to multis_contact;

-- Whether the caller is the tables' owner and has not stepped down to another role. Meant for functions that run with the
-- owner's rights, where current_user is the owner for everybody.
-- +goose StatementBegin
create function caller_is_owner() returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
    select session_user = current_user and current_setting('role') in ('none', current_user)
$$;
-- +goose StatementEnd

-- The roles that the caller may read. No scope is an error, and so is a contact's scope with more than a contact's roles.
-- +goose StatementBegin
create function scope_roles() returns text[] language plpgsql stable set search_path = public, pg_temp as $$
declare
    roles text[] := string_to_array(nullif(current_setting('multis.scope', true), ''), ',');
begin
    if roles is null then
        raise exception 'no scope is set' using errcode = '42501';
    end if;
    if exists (select from unnest(roles) r where not (r = 'public' or r ~ '^user:.' or (r = 'admin' and caller_is_owner()))) then
        raise exception 'the scope is not the caller''s' using errcode = '42501';
    end if;
    return roles;
end $$;
-- +goose StatementEnd

-- The number of passages that p_planned of search_passages runs over, and the numbers that word statistics refer to. The
-- owner's statistics are those of all chunks, a contact's those of its own scope, so that they tell nothing of other chats.
-- +goose StatementBegin
create function search_corpus(out planned_chunks bigint, out stat_chunks bigint, out stat_words bigint)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    if caller_is_owner() then
        select coalesce(sum(chunks), 0) into planned_chunks from corpus_stats where role = any (roles);
        select chunks, words into stat_chunks, stat_words from corpus_stats where role = '*';
    else
        select coalesce(sum(chunks) filter (where role = 'public'), 0), coalesce(sum(chunks), 0), coalesce(sum(words), 0)
            into planned_chunks, stat_chunks, stat_words from corpus_stats where role = any (roles);
    end if;
end $$;
-- +goose StatementEnd

-- The lexemes of the given words (none for a stop word), each with the number of chunks it stands in.
-- +goose StatementBegin
create function search_terms(p_config regconfig, p_words text[]) returns table (word text, lexeme text, ndoc bigint)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    if caller_is_owner() then
        roles := '{*}';
    end if;
    return query select w, l.lexeme, coalesce((select sum(s.ndoc) from term_stats s where s.role = any (roles) and s.word = l.lexeme), 0)::bigint
        from unnest(p_words) with ordinality u(w, o), unnest(to_tsvector(p_config, w)) l order by o, l.lexeme;
end $$;
-- +goose StatementEnd

-- The best 40 passages by BM25 (k1 1.2, b .75, passages shorter than 32 words count as 32), in no particular order, with
-- the two before and the two after each: how often each term stands in them, for the ranking proper.
-- p_planned finds candidates in public passages (all passages, for the owner), p_any in the caller's own, which are few.
-- For one term, ts_rank is (sum of 1/i^2 for i up to the frequency) / 1.6449341, which gives the frequency back exactly.
-- +goose StatementBegin
create function search_passages(p_planned tsquery, p_any tsquery, p_terms tsquery[], p_weights float8[], p_average float8, p_kinds text[])
returns table (id bigint, doc_id bigint, ord int, kind text, n_tok int, author text, is_question boolean, frequencies smallint[])
language plpgsql stable security definer rows 200 set search_path = public, pg_temp
set jit = off set max_parallel_workers_per_gather = 0 set work_mem = '64MB' as $$
declare
    roles text[] := scope_roles();
    candidates text;
    frequency text := 'round(1 / (1.6449341 - 1.6449341 * ts_rank(''{1,1,1,1}'', tsv, $3[%s])) - 0.5)';
    score text;
    counts text;
begin
    if cardinality(p_terms) is distinct from cardinality(p_weights) or cardinality(p_terms) not between 1 and 32 then
        raise exception 'between 1 and 32 terms with a weight each are needed' using errcode = '22023';
    end if;
    select string_agg(format('$4[%s] * (1 - k / (k + %s))', i, format(frequency, i)), ' + '), string_agg(format(frequency, i) || '::smallint', ', ')
        into score, counts from generate_series(1, cardinality(p_terms)) i;
    if caller_is_owner() then
        candidates := '(select * from chunk_index where tsv @@ $1 and role = any ($6) and kind = any ($7) limit 8000)';
    else
        -- 'public' as a literal is what the partial index needs; "offset 0" keeps the caller's few rows out of the big one.
        candidates := '(select * from chunk_index where role = ''public'' and ''public'' = any ($6) and tsv @@ $1 and kind = any ($7) limit 8000)
            union all
            (select * from (select * from chunk_index where role = any ($6) and role <> ''public'' offset 0) own where tsv @@ $2 and kind = any ($7) limit 8000)';
    end if;
    return query execute '
        with candidates as materialized (select c.*, 1.2 * (0.25 + 0.75 * greatest(c.n_tok, 32) / greatest($5, 32)) as k from (' || candidates || ') c),
        seeds as materialized (select c.doc_id, c.ord from candidates c order by (' || score || ')::float8 desc, c.id limit 40),
        around as materialized (select distinct s.doc_id, s.ord + d as ord from seeds s, generate_series(-2, 2) d)
        select i.id, i.doc_id, i.ord, i.kind, i.n_tok, i.author, i.is_question, array[' || counts || ']
        from around join chunk_index i using (doc_id, ord) where i.role = any ($6) and i.kind = any ($7)'
        using p_planned, p_any, p_terms, p_weights, p_average, roles, p_kinds;
end $$;
-- +goose StatementEnd

revoke all on function search_corpus(), search_terms(regconfig, text[]),
    search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[]) from public;
grant execute on function search_corpus(), search_terms(regconfig, text[]),
    search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[]) to multis_contact;

-- How present a passage is in memory: ln(1 + the sum of age^-d over its accesses), ages in days and at least an hour. The
-- 8 newest accesses count exactly, those before them as if spread evenly since the first.
-- +goose StatementBegin
create function activation(p_count int, p_first timestamptz, p_recent timestamptz[], p_decay float8 default 0.5) returns float8
language sql stable as $$
    select case when p_count = 0 then 0 else ln(1 + recent.s + case when p_count > cardinality(p_recent) and span.first > span.kept
        then (p_count - cardinality(p_recent)) * (power(span.first, 1 - p_decay) - power(span.kept, 1 - p_decay)) / ((1 - p_decay) * (span.first - span.kept))
        else 0 end) end
    from (select coalesce(sum(power(greatest(date_part('epoch', now() - a) / 86400, 1 / 24.0::float8), -p_decay)), 0) as s from unnest(p_recent) a) recent,
        (select greatest(date_part('epoch', now() - p_first) / 86400, 1 / 24.0::float8) as first,
            greatest(date_part('epoch', now() - p_recent[cardinality(p_recent)]) / 86400, 1 / 24.0::float8) as kept) span
$$;
-- +goose StatementEnd

-- +goose Down
drop function activation, search_passages, search_terms, search_corpus, scope_roles, caller_is_owner;
drop table corpus_stats, term_stats, chunk_index, chunks, documents;
