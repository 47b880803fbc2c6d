#!/usr/bin/env bash
# Runs one program inside the development root, in a mount and a process
# namespace of its own, so that its mounts and its children end with it.
#
#   unshare --mount --pid --fork --kill-child --propagation private \
#       bash enter.sh ROOT WORK USER:GROUP PROGRAM [ARGUMENT...]
#
# WORK appears as /mnt. Each line on standard input is the name of a signal that
# is sent to the program. When standard input ends, the program is killed, so
# that nothing is left running if the caller dies.
set -euo pipefail

root=$1 work=$2 user=$3
shift 3

mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$work" "$root/mnt"

# The caller's user id has no name in the root, but Postgres requires one.
if ! chroot "$root" getent passwd "${user%%:*}" >/dev/null; then
	{
		cat "$root/etc/passwd"
		echo "devstack:x:$user::/mnt:/bin/sh"
	} >"$root/tmp/passwd"
	mount --bind "$root/tmp/passwd" "$root/etc/passwd"
fi
chroot "$root" chown "$user" /mnt

exec 3<&0 </dev/null
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/mnt \
	chroot --userspec="$user" "$root" "$@" 3<&- &
child=$!
{
	while IFS= read -r signal; do kill -s "$signal" "$child"; done
	kill -s KILL "$child"
} <&3 3<&- >/dev/null 2>&1 &
exec 3<&-

# Otherwise the shell would report the expected kill.
exec 2>/dev/null
status=0
wait "$child" || status=$?
exit "$status"
