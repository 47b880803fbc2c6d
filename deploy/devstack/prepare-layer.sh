#!/usr/bin/env bash
# Builds a copy of the development root with more packages of Debian sid.
#
#   prepare-layer.sh CACHE_DIR NAME PACKAGE...
#
# Needs root, and the development root of prepare.sh. A finished root is kept.
set -euo pipefail

cache=$1 name=$2
shift 2
base=$cache/sid
root=$cache/$name

step() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

# installed ROOT PACKAGE... succeeds if ROOT has all packages.
installed() {
	local dir=$1
	shift
	dpkg-query --admindir="$dir/var/lib/dpkg" --show "$@" >/dev/null 2>&1
}

finish_if_good() {
	if installed "$root" "$@"; then
		step "ready: $name"
		exit 0
	fi
}

# add ROOT PACKAGE... installs packages in a mount and a process namespace of
# its own, so that no mount and no process outlives it.
add() {
	unshare --mount --pid --fork --kill-child --propagation private bash -euo pipefail -c '
		root=$1
		shift
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		mount -t tmpfs tmpfs "$root/tmp"
		printf "#!/bin/sh\nexit 101\n" >"$root/usr/sbin/policy-rc.d" # start no services
		chmod +x "$root/usr/sbin/policy-rc.d"
		export DEBIAN_FRONTEND=noninteractive
		chroot "$root" apt-get update -qq -o Acquire::Check-Valid-Until=false -o Acquire::Retries=3
		chroot "$root" apt-get install -qq -y --no-install-recommends "$@"
		chroot "$root" apt-get clean
		rm "$root/usr/sbin/policy-rc.d"
	' bash "$@" >>"$log" 2>&1
}

if [ "$(id -u)" != 0 ]; then
	echo 'prepare-layer.sh: needs root' >&2
	exit 1
fi
umask 022
log=$cache/$name.log

finish_if_good "$@"
exec 9>"$cache/$name.lock"
if ! flock --nonblock 9; then
	step 'waiting for another run that builds the same root'
	flock 9
	finish_if_good "$@"
fi

: >"$log"
trap 'status=$?; [ $status = 0 ] || { echo "prepare-layer.sh: the last lines of $log:" >&2; tail -n 20 "$log" >&2; }; exit $status' EXIT
rm -rf --one-file-system "$cache/new-$name".*
new=$(mktemp -d "$cache/new-$name.XXXXXX")
chmod 755 "$new"
step "copying the development root and installing in it: $*"
cp -a "$base/." "$new"
add "$new" "$@"
rm -rf --one-file-system "$root"
mv "$new" "$root"
step "built: $name"
