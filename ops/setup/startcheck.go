package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"multis/config"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/ops/health"
)

// CheckStart returns what would keep multis run from starting: a file that its user cannot read, a folder or file that he
// cannot make or write to, or an address that is in use. It makes nothing. running is the configuration of the multis
// that runs, whose addresses are its own; nil if none runs.
func (w RunUser) CheckStart(ctx context.Context, running, next *config.Config) error {
	found := []error{w.checkFiles(next), w.checkWritable(next, "database.data_dir", next.Database.DataDir)}
	if w.checkReadable(next.Documents.Folder) != nil { // it is made if it is missing, and otherwise read only
		found = append(found, w.checkWritable(next, "documents.folder", next.Documents.Folder))
	}
	if next.Logging.File != "" {
		found = append(found, w.checkWritable(next, "logging.file", filepath.Dir(next.Logging.File)))
	}
	addresses := addressesOf(next)
	for i, a := range addresses {
		if a.port == 0 {
			continue
		}
		if j := slices.IndexFunc(addresses[:i], a.overlaps); j >= 0 {
			found = append(found, next.Problem(a.portKey, fmt.Sprintf("is the same as %s; choose another port", addresses[j].portKey)))
			continue
		}
		found = append(found, checkAddress(ctx, a, running, next))
	}
	return errors.Join(found...)
}

// CheckFolders returns what is wrong with the other folders of a configuration. They do not keep multis from starting.
func (w RunUser) CheckFolders(next *config.Config) error {
	found := []error{w.checkWritable(next, "backup.folder", next.Backup.Folder)}
	for _, f := range []struct{ key, path string }{{"skills.folder", next.Skills.Folder}, {"tasks.folder", next.Tasks.Folder}} {
		usual := filepath.Join(next.Database.DataDir, config.Default(f.key))
		if _, err := os.Stat(f.path); f.path == usual && errors.Is(err, fs.ErrNotExist) {
			continue // there are none
		}
		if err := w.checkReadable(f.path); err != nil {
			found = append(found, next.Problem(f.key, folderProblem(err, f.key)))
		}
	}
	return errors.Join(found...)
}

// checkWritable returns the problem of a key whose folder multis could not make or write to.
func (w RunUser) checkWritable(next *config.Config, key, folder string) error {
	err := w.checkFolder(folder)
	if err == nil {
		return nil
	}
	// What is in the data folder was made by multis. A command of root's that was run there took it over; another folder
	// would not bring it back.
	data := absolutePath(next.Database.DataDir)
	if inside, relErr := filepath.Rel(data, absolutePath(folder)); relErr == nil && filepath.IsLocal(inside) &&
		errors.Is(err, fs.ErrPermission) {
		if _, statErr := os.Stat(data); statErr == nil {
			return next.Problem(key, fmt.Sprintf("%v; %s", err, doctor.AsRoot("chown -R "+w.name()+": "+text.ShellWord(data))))
		}
	}
	return next.Problem(key, folderProblem(err, key))
}

// folderProblem returns what is wrong with the folder of a key, and what to do about it.
func folderProblem(err error, key string) string {
	what := err.Error()
	if !strings.Contains(what, "; ") {
		what += "; choose a folder that multis can use"
	}
	if usual := config.Default(key); usual != "" {
		what += fmt.Sprintf(", or take the default, %s: multis config set %s ''", usual, key)
	}
	return what
}

// NewStartCheck returns a check of a changed configuration. Its error has the problems that would keep multis from
// starting, without those that the configuration in the file has already.
func NewStartCheck(ctx context.Context, file string) func(next *config.Config) error {
	current, err := config.Load(file)
	var running *config.Config
	before := map[string]bool{}
	check := func(next *config.Config) error {
		known := current
		if known == nil {
			known = next
		}
		w, err := RunUserOf(ctx, file, known)
		if err != nil {
			return err
		}
		return errors.Join(w.CheckStart(ctx, running, next), w.CheckFolders(next))
	}
	if err == nil {
		running = RunningConfig(ctx, current)
		for _, line := range lines(check(current)) {
			before[withoutPlace(line)] = true
		}
	}
	return func(next *config.Config) error {
		var found []error
		for _, line := range lines(check(next)) {
			if !before[withoutPlace(line)] {
				found = append(found, errors.New(line))
			}
		}
		return errors.Join(found...)
	}
}

// lines returns the lines of an error; none for nil.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// withoutPlace returns a problem without the line of the file, which a change may move.
func withoutPlace(problem string) string {
	_, what, _ := strings.Cut(problem, ": ")
	return what
}

// RunningConfig returns cfg if a multis runs with it, as far as its address shows that. If another program answers there,
// which multis doctor finds by itself, it returns a configuration with that address only.
func RunningConfig(ctx context.Context, cfg *config.Config) *config.Config {
	switch answers, other := health.IsListening(ctx, cfg.Appservice.LocalAddr()); {
	case other:
		return &config.Config{Appservice: cfg.Appservice}
	case answers:
		return cfg
	}
	return nil
}
