#!/usr/bin/env bash
# Makes the root file system in which the development stack runs Synapse and
# Postgres: packages of Debian sid, because stable releases carry neither.
#
#   prepare.sh CACHE_DIR
#
# Needs root. An existing root is kept and only checked, so the second run takes
# no time. A new one is built in another folder and renamed when it is complete,
# so that an interrupted run leaves no incomplete root.
set -euo pipefail

cache=$1
root=$cache/sid
synapse_floor=1.160
postgres_floor=18

step() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

# version ROOT PACKAGE prints the installed version, or nothing.
version() { dpkg-query --admindir="$1/var/lib/dpkg" --show --showformat='${Version}' "$2" 2>/dev/null || true; }

# at_least VERSION FLOOR ignores a Debian epoch.
at_least() { [ -n "$1" ] && dpkg --compare-versions "${1#*:}" ge "$2"; }

good() {
	at_least "$(version "$1" matrix-synapse)" "$synapse_floor" &&
		at_least "$(version "$1" postgresql-18)" "$postgres_floor" &&
		[ -n "$(version "$1" postgresql-18-pgvector)" ]
}

describe() {
	printf 'Synapse %s, Postgres %s, pgvector %s' "$(version "$1" matrix-synapse)" \
		"$(version "$1" postgresql-18)" "$(version "$1" postgresql-18-pgvector)"
}

install_mmdebstrap() {
	step 'installing mmdebstrap'
	export DEBIAN_FRONTEND=noninteractive
	if ! apt-get install -qq -y --no-install-recommends mmdebstrap >>"$log" 2>&1; then
		step 'refreshing the package lists'
		apt-get update -qq >>"$log" 2>&1
		apt-get install -qq -y --no-install-recommends mmdebstrap >>"$log" 2>&1
	fi
}

# build NEW runs in a mount and a process namespace of its own: whatever
# happens, no mount below NEW and no process outlives it. The date check is off
# because the lists of a mirror that lags behind are good enough here.
build() {
	unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
		mmdebstrap --variant=apt --mode=root \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Retries "3"' \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--include=matrix-synapse,postgresql-18-pgvector \
		sid "$1" 2>&1 | tee -a "$log" | while IFS= read -r line; do
		case $line in
		'I: success'*) ;;
		'I: '* | 'E: '*) step "${line#?: }" ;;
		esac
	done
}

if [ "$(id -u)" != 0 ]; then
	echo 'prepare.sh: needs root' >&2
	exit 1
fi
umask 022
mkdir -p "$cache"
log=$cache/build.log

finish_if_good() {
	if good "$root"; then
		step "ready: $(describe "$root")"
		exit 0
	fi
}

finish_if_good
exec 9>"$cache/lock"
if ! flock --nonblock 9; then
	step 'waiting for another run that builds the same root'
	flock 9
	finish_if_good
fi

: >"$log"
trap 'status=$?; [ $status = 0 ] || { echo "prepare.sh: the last lines of $log:" >&2; tail -n 20 "$log" >&2; }; exit $status' EXIT
rm -rf --one-file-system "$cache"/new.*
new=$(mktemp -d "$cache/new.XXXXXX")
chmod 755 "$new"
command -v mmdebstrap >/dev/null || install_mmdebstrap
step 'building a Debian sid root (about 700 MB, under a minute on a quick line)'
build "$new"
if ! good "$new"; then
	echo "prepare.sh: Debian sid has $(describe "$new"); needed are Synapse >= $synapse_floor and Postgres >= $postgres_floor with pgvector" >&2
	exit 1
fi
rm -rf --one-file-system "$root"
mv "$new" "$root"
step "built: $(describe "$root")"
