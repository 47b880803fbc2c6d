#!/bin/sh
# What docker-compose.yml uses of the official image's entrypoint.
set -eu

[ "$1" = postgres ] || exec "$@"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	# The options are words.
	# shellcheck disable=SC2086
	initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 ${POSTGRES_INITDB_ARGS:-}
	echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
	pg_ctl start --wait --options "-c listen_addresses=''"
	for file in /docker-entrypoint-initdb.d/*.sql; do
		[ ! -e "$file" ] || psql --username=postgres --no-psqlrc -v ON_ERROR_STOP=1 --file "$file"
	done
	pg_ctl stop --wait --mode fast
fi
exec postgres -c listen_addresses='*'
