-- +goose Up

create table web_links (
    person     text primary key,
    hash       bytea not null unique,
    expires_at timestamptz not null
);
comment on table web_links is 'The link by which a person signs in to the web page, as a hash. A newer one replaces it, and signing in deletes it.';

create table web_sessions (
    id         bigint generated always as identity primary key,
    hash       bytea not null unique,
    person     text not null,
    browser    text not null,
    address    text not null,
    created_at timestamptz not null,
    used_at    timestamptz not null,
    expires_at timestamptz not null
);
comment on table web_sessions is 'Who is signed in to the web page. A session that ends is deleted.';
comment on column web_sessions.hash is 'SHA-256 of the token that the browser keeps as a cookie.';
comment on column web_sessions.browser is 'The browser in a few words of ours.';
