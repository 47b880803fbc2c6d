package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"multis/config"
	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/migrations"
	"multis/ops/backup"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/store"
)

// backupRestoreCmd restores a backup.
type backupRestoreCmd struct {
	File string `arg:"" help:"The backup."`
}

// Run restores a backup: first the configuration, if there is none, then the database and the missing files.
func (b backupRestoreCmd) Run(ctx context.Context, global *cli) (err error) {
	a, err := openBackup(ctx, b.File, "restore")
	if err != nil {
		return err
	}
	defer a.Close()
	loadFrom, err := restoreConfiguration(ctx, a, global.Config)
	if err != nil {
		return err
	}
	// after success there is no copy, because backup.Restore has moved it
	defer func() { err = errors.Join(err, copyLeftError(loadFrom, global.Config)) }()
	cfg, err := load(loadFrom)
	if err != nil {
		return err
	}
	unmark, err := markRestore(cfg.Database, b.File)
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() == nil { // otherwise it was interrupted
			err = errors.Join(err, unmark())
		}
	}()
	at, stop, err := startDatabase(ctx, cfg.Database, exclusive)
	if err != nil {
		return err
	}
	defer stop()
	files := backupFiles(cfg, global.Config)
	if a.Manifest.WithoutSecrets { // its registration has no tokens; one is written below
		files = slices.DeleteFunc(files, func(f backup.File) bool { return f.Name == registrationName })
	}
	for i := range files {
		if files[i].Path == global.Config && loadFrom != global.Config {
			files[i].Corrected = loadFrom
		}
	}
	report, err := backup.Restore(ctx, a, at.direct, files...)
	switch {
	case errors.Is(err, migrations.ErrNotEmpty) && cfg.Database.URL == "":
		return fmt.Errorf("%w: stop multis, move the folder %s away and try again; nothing was changed", err,
			absolutePath(filepath.Join(cfg.Database.DataDir, "postgres")))
	case errors.Is(err, migrations.ErrNotEmpty):
		return fmt.Errorf("%w: make another (CREATE DATABASE multis2 OWNER multis;), name it in database.url and try again; nothing was changed",
			err)
	case err != nil:
		return store.Unreachable(err)
	}
	fmt.Printf("Restored the backup of %s: %s in %s, %s that %s missing.\n", a.Manifest.CreatedAt.Local().Format("Mon 2 Jan 2006, 15:04 MST"),
		text.Count(int(report.Rows), "row"), text.Count(report.Tables, "table"), text.Count(report.Files, "file"),
		text.Plural(report.Files, "was", "were"))
	printSkipped(report)
	fmt.Println(`Nothing is sent yet: the admin room lists what would be sent, and asks you.
multis makes new sessions in Matrix, because the keys of the old ones were used since the backup.`)
	registration := doctorPaths(global.Config, global.Registration).Registration
	if _, err := os.Stat(registration); a.Manifest.WithoutSecrets && (loadFrom != global.Config || errors.Is(err, fs.ErrNotExist)) {
		return renewRegistration(global.Config, registration)
	}
	fmt.Printf("Next: make sure that no other multis runs with this registration, start this one, and answer in the admin room:\n%s\n",
		startCommand(global.Config, false))
	return nil
}

// restoreMark returns the path of the file that says that a restore has begun. Its content is the path of the backup. The
// database has a mark as well, but not before it exists, and a restored multis must not start with an empty one.
func restoreMark(db config.Database) string {
	return absolutePath(filepath.Join(db.DataDir, "restoring"))
}

// errRestoring is returned while another process restores a backup.
var errRestoring = errors.New("wait until that multis backup restore has ended")

// markRestore writes the mark of a restore, which this process keeps locked: a mark without a lock is that of a restore
// that was killed. unmark removes it.
func markRestore(db config.Database, file string) (unmark func() error, err error) {
	var mark *os.File
	if file, err = filepath.Abs(file); err == nil {
		err = makeDataFolder(db)
	}
	if err == nil {
		mark, err = os.OpenFile(restoreMark(db), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("begin the restore: %w", err)
	}
	err = unix.FcntlFlock(mark.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		err = errRestoring
	case err == nil:
		if err = mark.Truncate(0); err == nil {
			_, err = mark.WriteString(file + "\n")
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin the restore: %w", err), mark.Close())
	}
	return func() error { return errors.Join(os.Remove(restoreMark(db)), mark.Close()) }, nil
}

// restoreOf returns the restore that has begun and not ended.
func restoreOf(db config.Database) doctor.Restore {
	mark, err := os.OpenFile(restoreMark(db), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil { // usually there is none; if it cannot be read, the command fails at the data folder as well
		return doctor.Restore{}
	}
	defer mark.Close()
	const maxPath = 4096
	file, err := io.ReadAll(io.LimitReader(mark, maxPath))
	lock := unix.Flock_t{Type: unix.F_RDLCK} // asking for it takes no lock
	if err == nil {
		err = unix.FcntlFlock(mark.Fd(), unix.F_OFD_GETLK, &lock)
	}
	name := cmp.Or(text.Clean(strings.TrimSpace(string(file))), "FILE") // it was killed before it wrote the name
	return doctor.Restore{File: name, Running: err == nil && lock.Type != unix.F_UNLCK}
}

// renewRegistration writes the registration after the restore of a backup without secrets, and says what else such a backup lacks.
func renewRegistration(file, registration string) error {
	data, err := config.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Println("The backup has no secrets, so there are new tokens, which Synapse does not know yet. If you had a PIN, remove it: multis pin reset")
	if keys := config.KeysWithValue(data, removedSecret); len(keys) > 0 {
		fmt.Printf("Set these in %s again before you start multis: %s.\n", file, text.List(keys))
	}
	fmt.Println("Make sure that no other multis runs for this account.")
	return generate(file, registration)
}

// makeTokens replaces the tokens that a backup without secrets lacks with new ones.
func makeTokens(file string) error {
	old, err := config.ReadFile(file)
	if err != nil {
		return err
	}
	data := old
	for _, key := range []string{"appservice.as_token", "appservice.hs_token"} {
		if token, _ := config.Lookup(data, key); token != removedSecret {
			continue
		}
		if data, err = config.Edit(file, data, config.Value{Key: key, Text: config.Placeholder}); err != nil {
			return err
		}
	}
	data, err = config.ReplacePlaceholders(file, data)
	if err != nil {
		return err
	}
	if string(data) == string(old) {
		return nil
	}
	if err := plainfile.Replace(file, data, configMode); err != nil {
		return fmt.Errorf("write the tokens into the configuration: %w", err)
	}
	return nil
}

// configMode is the mode of the configuration.
const configMode = 0o600

// restoreConfiguration returns the file from which the configuration is loaded, and restores missing files that loading
// needs. If there is no configuration, the returned file is a copy of the one in the backup, which the owner may correct
// after a failed attempt. backup.Restore moves the copy to its final place before its last transaction, so that multis
// cannot start after a failed restore, and a killed one leaves no second copy.
func restoreConfiguration(ctx context.Context, a *backup.Archive, file string) (loadFrom string, err error) {
	// Files that root writes into the folder of the service would be unreadable for the service.
	if err := setup.DropPrivileges(filepath.Dir(file)); err != nil {
		return "", err
	}
	loadFrom = file
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		loadFrom = config.RestoreCopy(file)
		written, err := a.RestoreFiles(ctx, []backup.File{configurationFile(loadFrom)})
		switch {
		case err != nil:
			return "", err
		case len(written) == 0:
			fmt.Printf("The configuration is %s, which an earlier restore left; remove it to take that of this backup.\n", loadFrom)
		default:
			fmt.Println("The configuration is that of the backup. The database that it names must be empty.")
		}
		if a.Manifest.WithoutSecrets {
			if err := makeTokens(loadFrom); err != nil {
				return "", err
			}
		}
	}
	data, err := config.ReadFile(loadFrom)
	if err != nil {
		return "", err
	}
	value := func(key string) string {
		path, ok := config.Lookup(data, key)
		if !ok || path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(filepath.Dir(file), path)
	}
	_, err = a.RestoreFiles(ctx, requiredFiles(value("policy.file"), value("business.holiday_calendar")))
	return loadFrom, err
}

// copyLeftError returns an error that names the copy that restoreConfiguration made, if it is still there after a failed restore.
func copyLeftError(copied, file string) error {
	if copied == file {
		return nil
	}
	if _, err := os.Lstat(copied); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the configuration of the backup is in %s: correct it if it is wrong, and run the same command again", copied)
}
