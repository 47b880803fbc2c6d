package sandbox

import (
	"slices"
	"strings"
)

// catastrophic are the programs that are never run: they gain privileges, destroy disks, stop the machine, change users,
// services, the kernel or the network, inspect or end other processes, or open connections.
var catastrophic = strings.Fields(`
	sudo sudo-rs sudo.ws sudoedit su su-rs run0 doas gosu su-exec pkexec runuser setpriv capsh chroot nsenter unshare bwrap firejail newgrp sg login
	shutdown reboot halt poweroff init telinit systemctl service initctl loginctl machinectl systemd-run kexec hwclock timedatectl hostnamectl localectl
	mkfs mke2fs mkswap fdisk sfdisk cfdisk parted gdisk sgdisk wipefs blkdiscard fsck badblocks hdparm nvme dmsetup cryptsetup lvm losetup swapon swapoff
	mount umount fusermount fusermount3 insmod modprobe rmmod depmod sysctl
	useradd userdel usermod groupadd groupdel passwd chpasswd chsh chfn vipw visudo adduser deluser gpasswd
	crontab at batch atd cron
	iptables ip6tables nft ufw firewall-cmd ip ifconfig route tc
	docker docker.io docker-compose podman podman-remote nerdctl ctr crictl kubectl runc crun lxc lxc-attach virsh
	gdb gdbserver strace ltrace perf bpftrace ptrace gcore
	dbus-send gdbus busctl
	kill killall pkill killall5 skill fuser
	nc ncat netcat socat telnet ssh scp sftp rsh rlogin nmap tcpdump
	pg_ctl dropdb initdb postgres psql pg_dump pg_dumpall`) //nolint:gochecknoglobals // a constant, were there constant lists

// shells read commands from their arguments.
var shells = strings.Fields("sh bash dash ash zsh ksh mksh fish csh tcsh rbash") //nolint:gochecknoglobals // a constant, were there constant lists

// wrappers run the command in their arguments. Others do so only with some arguments; see launchers.
var wrappers = strings.Fields(`env nice ionice nohup setsid timeout stdbuf time xargs chrt taskset command exec builtin busybox toybox unbuffer script watch flock
	parallel start-stop-daemon run-parts ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 entr chronic numactl prlimit catchsegv faketime fakeroot
	proxychains torsocks sshpass expect xdg-open setarch linux32 linux64 choom eatmydata rlwrap xvfb-run dbus-run-session ssh-agent npx bunx uvx valgrind tmux screen
	hyperfine cpulimit`) //nolint:gochecknoglobals // a constant, were there constant lists

// modifyingPrograms remove or change the files that they name.
var modifyingPrograms = strings.Fields("rm rmdir unlink mv cp chmod chown chgrp chattr setfacl shred truncate dd tee ln install rsync find tar touch sed srm wipe cpio") //nolint:gochecknoglobals // a constant, were there constant lists

// copiers are the modifying programs that change only the file of their last argument and read the others.
var copiers = strings.Fields("cp ln install rsync") //nolint:gochecknoglobals // a constant, were there constant lists

// systemRoots are folders of the system that no modifying program may name, nor anything in them.
var systemRoots = strings.Fields("/bin /sbin /lib /lib32 /lib64 /usr /etc /boot /dev /proc /sys /run /var/lib /var/run /root") //nolint:gochecknoglobals // a constant, were there constant lists

// rule says with which arguments a program is harmless.
type rule struct {
	short string   // letters of short options that make it more than harmless
	long  []string // long options that make it more than harmless; a prefix of one counts as the option
	// maxOperands is the maximum number of arguments that are not options, because some programs write to the second one. Zero means no limit.
	maxOperands int
	// operands, unless it is empty, are the allowed values of the first argument that is not an option, such as the subcommands of git.
	operands []string
	// operandPrefix begins every argument that is not an option; empty for any.
	operandPrefix string
	// valueOptions are the short options whose value is the next argument.
	valueOptions []string
	// allowedOptions, unless it is empty, lists all options that are allowed, for programs with many dangerous ones.
	allowedOptions []string
}

// harmless are the programs that read only.
var harmless = map[string]rule{ //nolint:gochecknoglobals // a constant, were there constant maps
	"ls": {}, "cat": {}, "head": {}, "tail": {}, "wc": {}, "echo": {}, "printf": {}, "pwd": {}, "whoami": {}, "id": {}, "uname": {}, "df": {},
	"du":   {},
	"stat": {}, "grep": {}, "egrep": {}, "fgrep": {}, "cut": {}, "tr": {}, "nl": {}, "tac": {}, "rev": {}, "seq": {}, "sleep": {}, "true": {},
	"false": {}, "test": {},
	"basename": {}, "dirname": {}, "realpath": {}, "readlink": {}, "uptime": {}, "free": {}, "nproc": {}, "arch": {}, "groups": {},
	"md5sum": {}, "sha1sum": {}, "sha256sum": {}, "sha512sum": {}, "b2sum": {}, "cksum": {}, "diff": {long: []string{"--output"}}, "cmp": {},
	"comm": {}, "join": {}, "paste": {}, "fold": {},
	"expand": {}, "unexpand": {}, "column": {}, "od": {}, "hexdump": {}, "strings": {}, "base64": {}, "jq": {}, "which": {}, "factor": {},
	"expr": {}, "cal": {},
	"uniq": {maxOperands: 1},
	"date": {
		short:         "s",
		long:          []string{"--set"},
		operandPrefix: "+",
		valueOptions:  strings.Fields("-d -r -f --date --reference --file"),
	}, "hostname": {maxOperands: -1, short: "FbB", long: []string{"--file", "--boot"}},
	"file": {short: "CzZ", long: []string{"--compile", "--uncompress", "--uncompress-noreport"}},
	"tree": {short: "oR", long: []string{"--output"}},
	"sort": {short: "oTSz", long: []string{"--output", "--compress-program", "--temporary-directory", "--files0-from"}},
	"rg":   {short: "z", long: []string{"--pre", "--pre-glob", "--hostname-bin", "--search-zip"}},
	"find": {allowedOptions: strings.Fields("-name -iname -path -ipath -type -size -mtime -mmin -newer -maxdepth -mindepth -print -print0 -not -o -a -empty -prune -regex -iregex -perm -user -group -L -H -P")},
	"git": {
		operands:       strings.Fields("status log show shortlog blame rev-parse ls-files describe"),
		allowedOptions: strings.Fields("-s --short -b --branch --oneline --stat --name-only --name-status --graph --all -n -1 -2 -3 -5 -10 -20 --porcelain --decorate --no-color --no-ext-diff --no-textconv --abbrev-ref --show-toplevel --tags --always --"),
	},
}

// allows reports whether a program is harmless with some arguments.
func (r rule) allows(args []string) bool {
	operands := 0
	for i, a := range args {
		if i > 0 && slices.Contains(r.valueOptions, args[i-1]) {
			continue
		}
		if len(a) < 2 || a[0] != '-' {
			if operands++; operands == 1 && len(r.operands) > 0 && !slices.Contains(r.operands, a) || !strings.HasPrefix(a, r.operandPrefix) {
				return false
			}
			continue
		}
		switch {
		case len(r.allowedOptions) > 0 && !slices.Contains(r.allowedOptions, a),
			strings.HasPrefix(a, "--") && isLong(r.long, a),
			!strings.HasPrefix(a, "--") && strings.ContainsAny(a, r.short):
			return false
		}
	}
	if len(r.operands) > 0 && (operands == 0 || !slices.Contains(r.operands, args[0])) {
		return false
	}
	return r.maxOperands == 0 || operands <= max(r.maxOperands, 0)
}

// isLong reports whether an argument is one of some long options, or the beginning of one: programs accept "--outp" for "--output".
func isLong(options []string, arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return len(name) > 2 && slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, name) })
}
