#!/bin/sh
# Runs once, when the database container makes its data: a plain role for multis, its database, and vectors where the
# server has them. The role is no superuser, because row-level security would not bind one; CREATEROLE lets multis make
# the role that contacts' reads run under. The password is the one in the address that multis is given.
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

psql --no-psqlrc --quiet -v ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<SQL
create role multis login createrole password '$password';
create database multis owner multis;
revoke connect on database multis from public;
\\connect multis
select 'create extension if not exists vector' where exists (select from pg_available_extensions where name = 'vector') \\gexec
SQL
