#!/bin/sh
# Runs before multis at each start by Compose. It creates multis' role, its database and the extension for vectors if they are missing, and sets the
# role's password to the one in multis' database address. So a start after a failed one completes the set-up, and a changed password is applied.
#
# The role is no superuser, because row-level security would not bind one. CREATEROLE lets multis create the role under which
# it reads for contacts.
set -eu

url=$(cat "${DATABASE_URL_FILE:-/run/secrets/database_url}")
password=${url#postgres://multis:}
password=${password%%@*}
case $password in
'' | *[!A-Za-z0-9]*)
	echo 'multis: secrets/database_url must read postgres://multis:PASSWORD@multis-postgres/multis, the password of letters and digits' >&2
	exit 1
	;;
esac

export PGHOST="${PGHOST:-multis-postgres}" PGOPTIONS='-c client_min_messages=warning' PGPASSWORD
PGPASSWORD=$(cat "${POSTGRES_PASSWORD_FILE:-/run/secrets/postgres_password}")
psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 --username postgres --dbname postgres <<SQL
select 'create role multis login createrole' where not exists (select from pg_roles where rolname = 'multis') \\gexec
alter role multis password '$password';
select 'create database multis owner multis' where not exists (select from pg_database where datname = 'multis') \\gexec
revoke connect on database multis from public;
\\connect multis
select 'create extension if not exists vector' where exists (select from pg_available_extensions where name = 'vector') \\gexec
SQL

PGPASSWORD=$password
psql --no-psqlrc --quiet --username multis --dbname multis --command 'select' >/dev/null
