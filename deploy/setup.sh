#!/usr/bin/env bash
# Installs what is needed to build and test multis and is missing on this machine.
#
#   deploy/setup.sh [make] [postgres] [cc] [qemu] [browser] [proxies]
#
# postgres: the programs of the server and of PgBouncer, from which the tests start servers of their own. cc: a C compiler, for the race
# detector and for the bridge of the tests and the demo, which encrypts. qemu: an emulator that runs programs for arm64. browser: Chromium,
# and npm for the checker of accessibility. proxies: nginx and Caddy.
# If nothing is missing, this takes a few milliseconds. It installs on Debian and its relatives; on another system it says
# what to install by hand. It needs root or sudo only if something is missing.
set -euo pipefail

# multis finds Postgres by the same rule: the newest version in the distributions' folder, else the one in PATH.
have_postgres() {
	local initdb
	for initdb in /usr/lib/postgresql/*/bin/initdb; do
		[ -x "$initdb" ] && return 0
	done
	command -v initdb >/dev/null
}

have_pgbouncer() { command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; }

have_cc() { command -v gcc >/dev/null && [ -e /usr/include/stdlib.h ]; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		echo "setup: installing ${missing[*]} needs root or sudo" >&2
		return 1
	fi
}

install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; }

# From 1.21 on, Go fetches the version that go.mod names by itself, unless GOTOOLCHAIN forbids it.
check_go() {
	local needed have least
	needed=$(sed -n 's/^go //p' "$(dirname "$0")/../go.mod")
	if ! command -v go >/dev/null; then
		echo "setup: Go is not on PATH: building needs Go $needed; get it from https://go.dev/dl/" >&2
		return 1
	fi
	have=$(GOTOOLCHAIN=local go version | sed 's/^go version go\([0-9.]*\).*/\1/')
	least=1.21
	[ "$(cd / && go env GOTOOLCHAIN 2>/dev/null)" != local ] || least=$needed
	if [ "$(printf '%s\n' "$least" "$have" | sort -V | head -n 1)" != "$least" ]; then
		echo "setup: building needs Go $needed, and $(command -v go) is Go $have: get a newer one from https://go.dev/dl/ and put its bin folder first in PATH" >&2
		return 1
	fi
}
check_go

missing=()
for need in "$@"; do
	case $need in
	make) command -v make >/dev/null || missing+=(make) ;;
	postgres)
		have_postgres || missing+=(postgresql)
		have_pgbouncer || missing+=(pgbouncer)
		;;
	cc) have_cc || missing+=(gcc libc6-dev) ;;
	browser)
		command -v chromium >/dev/null || missing+=(chromium)
		command -v npm >/dev/null || missing+=(npm)
		;;
	proxies)
		command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx)
		command -v caddy >/dev/null || missing+=(caddy)
		;;
	qemu) command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static) ;;
	*) echo "setup: I don't know \"$need\"" >&2 && exit 2 ;;
	esac
done
[ ${#missing[@]} = 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "setup: please install what Debian calls: ${missing[*]}" >&2
	exit 1
fi

# Debian's packages would start a server on port 5432, a pooler on 6432 and proxies on 80, but the tests need only the programs.
no_cluster=/etc/postgresql-common/createcluster.d/multis-setup.conf
log=$(mktemp)
trap 'rm -f "$log"; [ ! -e "$no_cluster" ] || as_root rm -f "$no_cluster"' EXIT
if [[ " ${missing[*]} " == *' postgresql '* ]]; then
	as_root mkdir -p "${no_cluster%/*}"
	as_root sh -c "echo 'create_main_cluster = false' >$no_cluster"
fi

echo "setup: installing ${missing[*]}"
if ! install "${missing[@]}" >"$log" 2>&1; then
	echo 'setup: refreshing the package lists'
	if ! { as_root apt-get update -qq && install "${missing[@]}"; } >"$log" 2>&1; then
		cat "$log" >&2
		exit 1
	fi
fi
if [ -d /run/systemd/system ]; then
	for service in pgbouncer nginx caddy; do
		[[ " ${missing[*]} " != *" $service "* ]] || as_root systemctl disable --quiet --now "$service"
	done
fi
echo "setup: installed in $SECONDS s"
