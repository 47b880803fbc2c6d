package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"multis/config"
	"multis/internal/plainfile"
	"multis/internal/text"
	"multis/migrations"
	"multis/ops/backup"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/store"
	"multis/store/pgserver"
)

// backupCmd makes, checks and restores backups.
type backupCmd struct {
	Create  backupCreateCmd  `cmd:"" help:"Make a backup, also while multis runs."`
	Verify  backupVerifyCmd  `cmd:"" help:"Check a backup by restoring it into a scratch database."`
	Restore backupRestoreCmd `cmd:"" help:"Restore a backup into an empty database. Nothing is sent until you say so in the admin room."`
}

type backupCreateCmd struct {
	To             string `placeholder:"FOLDER" help:"Where to write it. Defaults to backup.folder, where the oldest are removed as backup.keep says."`
	WithoutSecrets bool   `help:"Leave out encryption keys, tokens and passwords."`
}

// Run makes a backup of the configured database, also while multis runs.
func (b backupCreateCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := load(global.Config)
	if err != nil {
		return err
	}
	st, closeDB, err := openUnchanged(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer closeDB()
	options := backupOptions(cfg, global.Config, st)
	options.WithoutSecrets = b.WithoutSecrets
	if b.To != "" {
		options.Folder = b.To
	}
	info, err := backup.Create(ctx, options)
	if err != nil {
		return explainClosed(err, b.To)
	}
	inSeries := b.To == "" && !b.WithoutSecrets // only complete backups in the configured folder count as part of the series
	if inSeries {
		if err := backup.RecordBackup(ctx, st, info); err != nil {
			return err
		}
	}
	fmt.Printf("Wrote %s (%s): %s in %s, %s.\n", info.Path, text.Bytes(info.Size), text.Count(int(info.Manifest.Rows()), "row"),
		text.Count(len(info.Manifest.Tables), "table"), text.Count(len(info.Manifest.Files), "file"))
	printOmitted(info.Manifest)
	if inSeries {
		removed, err := backupSeries(cfg).Prune(time.Now())
		for _, name := range removed {
			fmt.Println("Removed", name)
		}
		if err != nil {
			return err
		}
	}
	if b.WithoutSecrets {
		fmt.Println("It has no secrets: a restore makes new tokens, writes a new registration, and names what else is to be set again.")
	} else {
		fmt.Println("It holds your tokens and encryption keys: keep it as safe as config.yaml, and a copy on another machine.")
	}
	fmt.Printf("Next: multis backup verify %s\n", info.Path)
	return nil
}

// explainClosed adds to the error of a backup how to make a folder that multis may write to, if that is what is wrong with --to.
func explainClosed(err error, to string) error {
	folder, absErr := filepath.Abs(to)
	if to == "" || absErr != nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	user := setup.UserName(os.Geteuid())
	if _, statErr := os.Stat(folder); statErr == nil {
		folder = filepath.Join(folder, "multis") // the owner of the folder itself stays
	}
	return fmt.Errorf("%w; make a folder for multis, which runs as %s, where that user may enter: %s; then --to %s", err, user,
		doctor.AsRoot("install -d -o "+user+" -m 700 "+text.ShellWord(folder)), text.ShellWord(folder))
}

// backupVerifyCmd checks a backup.
type backupVerifyCmd struct {
	File string `arg:"" help:"The backup."`
}

// Run restores a backup into a scratch database and compares every table.
func (b backupVerifyCmd) Run(ctx context.Context, global *cli) error {
	a, err := openBackup(ctx, b.File, "verify")
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Printf("The file is whole: %s, made %s by multis %s.\n", text.Bytes(a.Size),
		a.Manifest.CreatedAt.Local().Format("Mon 2 Jan 2006, 15:04 MST"), text.Clip(text.OneLine(a.Manifest.Program), 100))
	scratch, remove, err := scratchDatabase(ctx, global.Config)
	if err != nil {
		return err
	}
	defer remove()
	report, err := backup.Verify(ctx, a, scratch)
	if err != nil {
		return err
	}
	fmt.Printf("Restored into a scratch database and compared: %s in %s and %s are as they were.\n",
		text.Count(int(report.Rows), "row"), text.Count(report.Tables, "table"), text.Count(report.Files, "file"))
	printSkipped(report)
	printOmitted(a.Manifest)
	fmt.Println("Next: keep a copy on another machine. multis backup restore brings it back, into an empty database.")
	return nil
}

// openBackup opens a backup for a command.
func openBackup(ctx context.Context, file, command string) (*backup.Archive, error) {
	a, err := backup.Open(ctx, file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w; run it as root: sudo multis backup %s %s", err, command, text.ShellWord(file))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; name the file of a backup, such as one in the folder that multis config get backup.folder prints", err)
	}
	return a, err
}

// printOmitted prints what belongs to the installation but is not in a backup.
func printOmitted(m backup.Manifest) {
	const most, maxLine = 50, 500
	for _, omitted := range m.Omitted[:min(len(m.Omitted), most)] {
		fmt.Printf("Not in it: %s\n", text.Clip(text.OneLine(omitted), maxLine))
	}
	if more := len(m.Omitted) - most; more > 0 {
		fmt.Printf("Not in it: %d more.\n", more)
	}
}

func printSkipped(r backup.Report) {
	if len(r.Skipped) > 0 {
		fmt.Printf("Not restored, because this multis has no place for it: %s.\n", text.Clip(text.OneLine(text.List(r.Skipped)), 1000))
	}
}

// openUnchanged opens the database without migrating it, so that a backup can be made before an upgrade changes it.
func openUnchanged(ctx context.Context, db config.Database) (*store.Store, func(), error) {
	at, stop, err := startDatabase(ctx, db, shared)
	if err != nil {
		return nil, nil, err
	}
	if err := checkSchema(ctx, at.direct); err != nil {
		stop()
		return nil, nil, err
	}
	st, err := at.open(ctx)
	if err != nil {
		stop()
		return nil, nil, store.Unreachable(err)
	}
	return st, func() { st.Close(); stop() }, nil
}

// checkSchema returns an error if a database has no tables that this multis can read.
func checkSchema(ctx context.Context, dsn string) error {
	db, err := store.OpenInspector(ctx, dsn)
	if err != nil {
		return store.Unreachable(err)
	}
	defer db.Close()
	switch state, err := db.Schema(ctx); {
	case err != nil:
		return err
	case state == migrations.StateEmpty:
		return errors.New("there is nothing to back up: the database is empty, and the first start of multis fills it")
	case state == migrations.StateTooOld:
		return fmt.Errorf("%w: make the backup with the multis that made it; multis migrate --dry-run says how to continue", migrations.ErrOlder)
	case state == migrations.StateForeign:
		return migrations.ErrForeign
	}
	return nil
}

// errNoScratch is returned if there are no Postgres programs for a scratch database to verify a backup with, such as in the Docker image.
var errNoScratch = errors.New("it cannot be restored for a closer look, because there are no Postgres programs here: run this where there are " +
	"(apt-get install postgresql; it needs no config.yaml)")

// scratchDatabase creates a database to restore a backup into, on a temporary Postgres server. Its folder is below
// database.data_dir, where there is enough space for a database, or else in the system's temporary folder.
func scratchDatabase(ctx context.Context, configFile string) (dsn string, remove func(), err error) {
	if _, err := pgserver.Find(""); err != nil {
		return "", nil, errNoScratch
	}
	var reasons []error
	if cfg, err := load(configFile); err == nil {
		if err = os.MkdirAll(cfg.Database.DataDir, 0o711); err == nil { //nolint:gosec // the user that Postgres runs as must be able to enter it
			dsn, remove, err = scratchIn(ctx, cfg.Database.DataDir)
		}
		if err == nil {
			return dsn, remove, nil
		}
		reasons = append(reasons, err)
	}
	if dsn, remove, err = scratchIn(ctx, os.TempDir()); err != nil {
		return "", nil, fmt.Errorf("make a scratch database: %w", errors.Join(append(reasons, err)...))
	}
	return dsn, remove, nil
}

// scratchPrefix is the prefix of the folders of scratch databases.
const scratchPrefix = "multis-verify-"

// newScratchFolder makes a folder that is locked until remove is called or this process ends. It also removes what killed
// processes left in parent.
func newScratchFolder(parent string) (dir string, remove func(), err error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		old := filepath.Join(parent, e.Name())
		if !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if unlock, err := lockFolder(old); err == nil {
			_ = os.RemoveAll(old) // the next call tries again to remove what is left
			unlock()
		}
	}
	if dir, err = os.MkdirTemp(parent, scratchPrefix); err != nil {
		return "", nil, err
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		_ = os.RemoveAll(dir) // the next call tries again
		unlock()
	}, nil
}

// lockFolder locks a folder. It fails if the folder belongs to another user or is locked.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = f.Close() } // closing ends the lock; nothing was written
	info, err := f.Stat()
	if err == nil {
		if uid, _, ok := plainfile.Owner(info); !ok || uid != os.Geteuid() {
			err = fs.ErrPermission
		}
	}
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return unlock, nil
}

// scratchIn implements scratchDatabase for one parent folder.
func scratchIn(ctx context.Context, parent string) (dsn string, remove func(), err error) {
	dir, remove, err := newScratchFolder(parent)
	if err != nil {
		return "", nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // as above
		remove()
		return "", nil, err
	}
	server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(dir, "pg"), Throwaway: true})
	if err != nil {
		remove()
		return "", nil, err
	}
	clean := remove
	remove = func() {
		_ = server.Stop() // the folder is removed anyway
		clean()
	}
	if dsn, err = server.EnsureDatabase(ctx, "multis", "multis"); err != nil {
		remove()
		return "", nil, err
	}
	return dsn, remove, nil
}

// configurationFile returns the entry of the configuration file in a backup.
func configurationFile(path string) backup.File {
	return backup.File{Name: "config/config.yaml", Path: path}
}

// requiredFiles returns the files that the configuration names and that it cannot be loaded without. A path may be empty.
func requiredFiles(rules, calendar string) []backup.File {
	files := []backup.File{{Name: "config/policy-rules", Path: rules}, {Name: "config/holiday-calendar", Path: calendar}}
	return slices.DeleteFunc(files, func(f backup.File) bool { return f.Path == "" })
}

// maxProgramFolder is the maximum size in bytes of a folder of other programs that is backed up.
const maxProgramFolder = 100_000_000

// programFolders returns the folders of command hooks, of monitors and of MCP servers, in which these keep scripts and data. It omits
// servers that work in the data folder itself.
func programFolders(cfg *config.Config) []backup.File {
	var files []backup.File
	for _, name := range []string{"hooks", "monitors"} {
		files = append(files, backup.File{Name: name, Path: filepath.Join(cfg.Database.DataDir, name), Max: maxProgramFolder})
	}
	for name, m := range cfg.MCP {
		if inside, err := filepath.Rel(m.Folder, cfg.Database.DataDir); len(m.Command) > 0 && (err != nil || !filepath.IsLocal(inside)) {
			files = append(files, backup.File{Name: "mcp/" + name, Path: m.Folder, Max: maxProgramFolder})
		}
	}
	return files
}

// omittedSecrets returns the files with secrets, which no backup contains.
func omittedSecrets(cfg *config.Config) []string {
	files := slices.Clone(cfg.SecretFiles)
	slices.Sort(files)
	files = slices.Compact(files)
	for i, path := range files {
		files[i] = path + ": a secret in a file of its own; keep it apart"
	}
	return files
}

// removedSecret stands for each secret in a backup without secrets.
const removedSecret = "removed"

// registrationName is the name of the registration in a backup.
const registrationName = "config/registration.yaml"

// backupFiles returns the files that a backup contains besides the database. file is the configuration.
func backupFiles(cfg *config.Config, file string) []backup.File {
	removeSecrets := func(content []byte) []byte {
		secrets := cfg.Secrets()
		slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // the longest first, because one may be a part of another
		written := string(content)
		for _, s := range secrets {
			if s != "" {
				written = strings.ReplaceAll(written, s, removedSecret)
			}
		}
		return []byte(written)
	}
	configuration := configurationFile(file)
	configuration.RemoveSecrets = removeSecrets
	files := []backup.File{
		configuration,
		{Name: registrationName, Path: filepath.Join(filepath.Dir(file), "registration.yaml"), RemoveSecrets: removeSecrets},
		{Name: "config/capture.md", Path: cfg.Memory.CaptureSkill},
		{Name: "documents", Path: cfg.Documents.Folder},
		{Name: "skills", Path: cfg.Skills.Folder},
		{Name: "tasks", Path: cfg.Tasks.Folder},
	}
	files = append(files, requiredFiles(cfg.Policy.File, cfg.Business.HolidayCalendar)...)
	files = append(files, programFolders(cfg)...)
	for name, a := range cfg.Agents {
		files = append(files, backup.File{Name: "agents/" + name, Path: a.Workspace})
	}
	slices.SortFunc(files, func(a, b backup.File) int { return strings.Compare(a.Name, b.Name) })
	return files
}

func backupOptions(cfg *config.Config, file string, st *store.Store) backup.CreateOptions {
	return backup.CreateOptions{
		Store:   st,
		Folder:  cfg.Backup.Folder,
		Program: versionOf(debug.ReadBuildInfo),
		Files:   backupFiles(cfg, file),
		Omitted: omittedSecrets(cfg),
	}
}

func backupSeries(cfg *config.Config) backup.Series {
	return backup.Series{Folder: cfg.Backup.Folder, Keep: cfg.Backup.Keep, Max: int64(cfg.Backup.MaxMB) * 1_000_000}
}

// periodicBackup returns what makes the periodic backups while multis runs, and the one before an upgrade.
func periodicBackup(cfg *config.Config, file string, st *store.Store) *backup.Scheduler {
	return backup.NewScheduler(backup.SchedulerOptions{
		Create: backupOptions(cfg, file, st), Every: cfg.Backup.Every, Series: backupSeries(cfg),
	})
}
