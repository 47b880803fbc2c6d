#!/bin/sh
# Runs as root before the other services of docker-compose.yml: creates the secrets that are missing and gives files to the
# users of the containers. It keeps files that exist.
set -eu
umask 077

data=${DATA_DIR:-/data}
secrets=${SECRETS_DIR:-/run/secrets}
multis=1337
postgres=999

random() { head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

# create FILE writes its standard input to FILE, unless FILE has content. A power failure leaves the whole file or none.
create() {
	[ ! -s "$1" ] || return 0
	cat >"$1.new"
	mv "$1.new" "$1"
}

random | create "$secrets/postgres_password"
printf 'postgres://multis:%s@multis-postgres/multis\n' "$(random)" | create "$secrets/database_url"

# The folder can be entered but not listed. Each file is readable only for the users that need it.
chown "$multis:$multis" "$secrets"
chmod 711 "$secrets"
chown "$postgres:$postgres" "$secrets/postgres_password"
chmod 400 "$secrets/postgres_password"
chown "$multis:$postgres" "$secrets/database_url"
chmod 440 "$secrets/database_url"

# Files that root has edited belong to root, so that multis could not read them.
find "$data" -maxdepth 1 -user 0 -exec chown "$multis:$multis" {} +
chmod 700 "$data"
