#!/usr/bin/env bash
# Runs a Docker Engine inside its root file system, as the first process of
# namespaces of its own, so that its mounts, containers and networks end with it.
#
#   unshare --mount --pid --net --cgroup --ipc --uts --fork --kill-child \
#       --propagation private bash enter-engine.sh ROOT DATA WORK
#
# DATA keeps images and volumes. WORK appears as /mnt.
set -euo pipefail

root=$1 data=$2 work=$3

# The outside pid of this process, by which other processes enter. /proc is still the outside one.
read -r pid _ </proc/self/stat
echo "$pid" >"$work/engine.pid"

mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -p "$root/var/lib/docker"
mount --bind "$data" "$root/var/lib/docker"
mount --bind "$work" "$root/mnt"

# cgroups: one hierarchy for each version 1 controller of the kernel; without any, version 2.
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
controllers=$(awk '$2 > 0 && $4 == 1 { print $1 }' /proc/cgroups)
for controller in $controllers; do
	mkdir "$root/sys/fs/cgroup/$controller"
	mount -t cgroup -o "$controller" cgroup "$root/sys/fs/cgroup/$controller"
done
[ -n "$controllers" ] || mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"

cd "$root"
pivot_root . .
umount -l .
cd /
ip link set lo up
hostname engine

# Without exec, because the first process must reap orphaned ones, which dockerd does not.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 dockerd --data-root /var/lib/docker </dev/null &
wait $!
