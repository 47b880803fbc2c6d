#!/usr/bin/env bash
# Boots systemd in a copy of a root file system, as the first process of
# namespaces of its own: a machine without a network, which is gone when it ends.
#
#   unshare --mount --pid --net --cgroup --ipc --uts --fork --kill-child \
#       --propagation private bash enter-machine.sh ROOT WORK
#
# Changes of the root file system are written to WORK/changes. WORK appears as /mnt.
set -euo pipefail

base=$1 work=$2

# The outside pid of this process, by which other processes enter. /proc is still the outside one.
read -r pid _ </proc/self/stat
echo "$pid" >"$work/machine.pid"

root=$work/root
mkdir -p "$root" "$work/changes" "$work/overlay"
mount -t overlay -o "lowerdir=$base,upperdir=$work/changes,workdir=$work/overlay" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount --bind "$work" "$root/mnt"

cd "$root"
pivot_root . .
umount -l .
cd /
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=multis LANG=C.UTF-8 /lib/systemd/systemd --system --unit=multi-user.target --log-target=console </dev/null
