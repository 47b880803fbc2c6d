package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"multis/config"
	"multis/internal/text"
	"multis/ops/health"
	"multis/store"
)

// WorldReadable returns the files with secrets that every user of the machine can read: the configuration, and the files that it names.
func WorldReadable(file string, cfg *config.Config) []string {
	var open []string
	if isReadableByAll(file) {
		text, err := config.ReadFile(file)
		if err == nil && slices.ContainsFunc(cfg.Secrets(), func(s string) bool { return strings.Contains(string(text), s) }) {
			open = append(open, file)
		}
	}
	for _, path := range cfg.SecretFiles {
		if isReadableByAll(path) && !slices.Contains(open, path) {
			open = append(open, path)
		}
	}
	return open
}

func isReadableByAll(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

// absolute returns a path for messages, which says where a file of the present folder was looked for.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func checkConfig(ctx context.Context, in *Input) (Result, string) {
	file := in.Paths.Config
	switch {
	case errors.Is(in.ConfigErr, config.ErrRestoreInterrupted) && in.Restore.Running:
		return Result{Findings: []Finding{in.Restore.finding(ConfigMissing)}}, ""
	case errors.Is(in.ConfigErr, config.ErrRestoreInterrupted):
		return oneFinding(ConfigMissing,
			fmt.Sprintf("The restore of a backup was interrupted: its configuration is in %s, and there is none at %s.", config.RestoreCopy(file),
				file),
			AsRoot("multis backup restore FILE")+"   (the same command again)"), ""
	case errors.Is(in.ConfigErr, fs.ErrNotExist):
		return oneFinding(ConfigMissing, fmt.Sprintf("There is no configuration at %s.", absolute(file)),
			"multis init   (or, for one that is elsewhere: multis doctor -c FILE)"), ""
	case in.ConfigErr != nil:
		return Result{Findings: byLine(ConfigInvalid, "", in.ConfigErr, "correct that line of "+file)}, ""
	}
	if open := WorldReadable(file, in.Config); len(open) > 0 {
		return oneFinding(ConfigPermissions, fmt.Sprintf("Every user of this machine can read %s and the secrets in it.", text.List(open)),
			chmodLine(open...)), ""
	}
	r := Result{Fact: file + " is valid"}
	if in.CheckStart != nil {
		r.Findings = byLine(ConfigStart, "multis cannot start with this: ", in.CheckStart(ctx), "correct that line of "+file)
	}
	if in.Database == nil || !in.HasSchema || !r.OK() {
		return r, ""
	}
	var refused store.RefusedConfig
	switch is, err := store.GetSetting(ctx, in.Database.DB(), store.SettingConfigRefused, &refused); {
	case err != nil:
		return failedCheck(err), ""
	case is:
		return oneFinding(ConfigRefused, fmt.Sprintf("multis keeps the configuration from before %s, because it cannot use the changed one: %s.",
			in.clockTime(refused.Since), text.OneLine(refused.Why)),
			"multis config check   (and correct "+file+"; a running multis uses it within seconds, and forgets this when it starts)"), ""
	}
	switch n, err := store.ConfigsInUse(ctx, in.Database.DB()); {
	case err != nil:
		return failedCheck(err), ""
	case n > 1:
		return oneFinding(ConfigDiffers, fmt.Sprintf("The processes of multis on this database run with %d different configurations.", n),
			"multis config diff   (on each machine; give them the same config.yaml)"), ""
	}
	return r, ""
}

// byLine returns a finding for each line of an error; none for nil. The fix is the part of the line after "; ", or
// usualFix if there is none.
func byLine(id ID, before string, err error, usualFix string) []Finding {
	if err == nil {
		return nil
	}
	var found []Finding
	for line := range strings.Lines(err.Error()) {
		message, fix, _ := strings.Cut(strings.TrimRight(line, "\n"), "; ")
		found = append(found, newFinding(id, "", before+message+".", cmp.Or(fix, usualFix)))
	}
	return found
}

const gib = 1 << 30

// checkData checks the data folder: that multis can write into it, and that the disk is not full.
func checkData(_ context.Context, in *Input) (Result, string) {
	if in.Config == nil {
		return Result{}, skippedNoConfig
	}
	dir := in.Config.Database.DataDir
	free, err := in.FreeBytes(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, "there is no data folder yet"
	}
	if err != nil {
		return oneFinding(DataUnwritable, fmt.Sprintf("The data folder %s cannot be read: %v.", dir, err),
			AsRoot("chown -R multis: "+text.ShellWord(dir))), ""
	}
	r := Result{Fact: fmt.Sprintf("%s, %.1f GiB free", dir, float64(free)/gib)}
	if free < health.MinFreeBytes {
		r.Findings = append(r.Findings, newFinding(DiskLow, dir,
			fmt.Sprintf("Only %.1f GiB are free on the disk of %s; without room Postgres stops.", float64(free)/gib, dir),
			"df -h "+text.ShellWord(dir)+"   (then delete old backups and logs, or enlarge the disk)"))
	}
	if wrong, owner := foreignFile(dir); wrong != "" {
		r.Findings = append(r.Findings, newFinding(DataUnwritable, dir, fmt.Sprintf("multis cannot write to %s.", wrong),
			AsRoot("chown -R "+owner+": "+text.ShellWord(dir))))
	}
	return r, ""
}

// foreignFile returns a file or folder in the data folder that belongs to root although the data folder does not, or the
// data folder itself if it belongs to another user than this process' or cannot be read. owner is the user who should own
// everything there. path is empty if there is no such file.
func foreignFile(dir string) (path, owner string) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", ""
	}
	whose, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	us := os.Geteuid()
	if us != 0 && int(whose.Uid) != us {
		return dir, userName(us)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return dir, userName(us)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == 0 && whose.Uid != 0 {
			return filepath.Join(dir, entry.Name()), userName(int(whose.Uid))
		}
	}
	return "", ""
}
