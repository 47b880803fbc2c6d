package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/admin"
	"multis/audit"
	"multis/config"
	"multis/store"
	"multis/text"
)

// configCmd shows and changes the configuration.
type configCmd struct {
	Get   getConfigCmd   `cmd:"" help:"Print a value, or all keys that begin like it. Secrets are not shown."`
	Set   setConfigCmd   `cmd:"" help:"Set a key in the file. The old file is backed up."`
	Check checkConfigCmd `cmd:"" help:"Say what is wrong with the file. Exits with 1 if something is."`
	Diff  diffConfigCmd  `cmd:"" help:"Print what differs from the defaults, and where it is set."`
}

// getConfigCmd prints values.
type getConfigCmd struct {
	Key  string `arg:"" optional:"" help:"A key such as budget.per_day, or the beginning of one. Without it, all."`
	JSON bool   `help:"Print JSON."`
}

// Run prints the values from the file and the environment. It omits settings made in chat, which multis config diff prints.
func (g getConfigCmd) Run(_ context.Context, c *cli) error {
	values, err := config.Values(c.Config, nil)
	if err != nil {
		return err
	}
	var found []config.Entry
	for _, v := range values {
		if v.Key == g.Key {
			found = []config.Entry{v}
			break
		}
		if g.Key == "" || strings.HasPrefix(v.Key, g.Key+".") {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no key %q; multis config get lists them", g.Key)
	}
	return printValues(found, g.JSON, len(found) == 1 && found[0].Key == g.Key)
}

// printValues prints values. If single is set, it prints the value without its key.
func printValues(list []config.Entry, asJSON, single bool) error {
	if asJSON {
		raw, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return fmt.Errorf("write the values: %w", err)
		}
		fmt.Println(string(raw))
		return nil
	}
	for _, v := range list {
		if single {
			fmt.Println(text.Clean(v.Value))
			continue
		}
		fmt.Printf("%s: %s  # %s\n", v.Key, text.Clean(v.Value), v.Source)
	}
	return nil
}

// setConfigCmd sets a key.
type setConfigCmd struct {
	Key   string `arg:"" help:"A key such as budget.per_day."`
	Value string `arg:"" help:"Its new value."`
}

// Run changes the key in the file.
func (s setConfigCmd) Run(_ context.Context, c *cli) error {
	backup, err := config.Set(c.Config, s.Key, s.Value, checkModel, checkRules)
	switch {
	case err != nil:
		return err
	case backup == "":
		fmt.Printf("%s has that value already.\n", s.Key)
	case config.NeedsRestart(s.Key):
		fmt.Printf("Set %s in %s; the old file is %s.\nThis key is read at the start only. Next: %s\n", s.Key, c.Config, backup, startCommand(c.Config, true))
	default:
		fmt.Printf("Set %s in %s; the old file is %s.\nA running multis takes it over within seconds; its log says why if it cannot.\n", s.Key, c.Config, backup)
	}
	return nil
}

// checkConfigCmd checks the file.
type checkConfigCmd struct{}

// Run prints all problems at once.
func (checkConfigCmd) Run(_ context.Context, c *cli) error {
	cfg, err := config.Load(c.Config)
	if err != nil {
		return err
	}
	if err := checkModel(cfg); err != nil {
		return err
	}
	if err := checkRules(cfg); err != nil {
		return err
	}
	fmt.Printf("%s is valid.\n", c.Config)
	return nil
}

// diffConfigCmd prints the values that differ from the defaults.
type diffConfigCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the differences. They include settings that were made in chat, if the database can be reached.
func (d diffConfigCmd) Run(ctx context.Context, c *cli) error {
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	var settings map[string]string
	if in.HasSchema {
		var err error
		if settings, err = store.ConfigSettings(ctx, in.Database.DB()); err != nil {
			return err
		}
	}
	changed, err := config.Differences(c.Config, settings)
	if err != nil {
		return err
	}
	return printValues(changed, d.JSON, false)
}

// configSource reads the configuration of a running multis from the file and from the settings made in chat.
type configSource struct {
	file  string
	store *store.Store
}

// load reads the configuration.
func (s configSource) load(ctx context.Context) (*config.Config, error) {
	settings, err := store.ConfigSettings(ctx, s.store.DB())
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadWith(s.file, settings)
	if err != nil {
		return nil, err
	}
	return cfg, errors.Join(checkModel(cfg), checkRules(cfg))
}

// configPoll is the time between two checks of whether the configuration has changed.
const configPoll = 2 * time.Second

// awaitChange waits until the configuration is valid and differs from current, or until safe mode was switched, and returns the configuration. It logs
// an invalid configuration once, and waits on. Keys that need a restart keep their current values.
func (s configSource) awaitChange(ctx context.Context, current *config.Config, wasSafe bool) (*config.Config, error) {
	for seen := ""; ; { // the first pass always loads the configuration, because it may have changed since current was loaded
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(configPoll):
		}
		if _, safe, err := store.SafeModeOf(ctx, s.store.DB()); err == nil && safe != wasSafe {
			return current, nil
		}
		now, err := s.fingerprint(ctx, current)
		if err != nil || now == seen {
			continue // the file is being replaced, or the database cannot be reached
		}
		seen = now
		next, err := s.load(ctx)
		if err != nil {
			zerolog.Ctx(ctx).Error().Err(err).Msg("The changed configuration is invalid; keeping the old one")
			s.recordRefusal(ctx, current, nil)
			continue
		}
		if err := checkStart(ctx, current, next); err != nil {
			zerolog.Ctx(ctx).Error().Err(err).Msg("multis cannot start with the changed configuration; keeping the old one")
			s.recordRefusal(ctx, current, next)
			continue
		}
		if s.isReloadable(ctx, current, next) {
			next.Database, next.Logging = current.Database, current.Logging
			hideSecrets(next)
			return next, nil
		}
	}
}

// checkStart returns an error if multis could not start with a changed configuration: a folder cannot be made, or an address is in use.
func checkStart(ctx context.Context, current, next *config.Config) error {
	if err := makeDocumentsFolder(next); err != nil {
		return err
	}
	type address struct {
		key, hostname string
		port          int
	}
	addresses := func(c *config.Config) []address {
		return []address{
			{"appservice", c.Appservice.Hostname, c.Appservice.Port},
			{"watches", c.Watches.Hostname, c.Watches.Port},
			{"mcp_server", c.MCPServer.Hostname, c.MCPServer.Port},
		}
	}
	before := addresses(current)
	for i, a := range addresses(next) {
		if a == before[i] || a.port == 0 {
			continue
		}
		listener, err := listenOn(ctx, a.hostname, a.port)
		if err != nil {
			return fmt.Errorf("%s.hostname and %[1]s.port: %w", a.key, err)
		}
		if err := listener.Close(); err != nil {
			return fmt.Errorf("close the address of %s again: %w", a.key, err)
		}
	}
	return nil
}

// isReloadable logs what changed, and reports whether any of it takes effect without a restart.
func (s configSource) isReloadable(ctx context.Context, current, next *config.Config) bool {
	reloadable := false
	for _, key := range config.Changes(current, next) {
		if config.NeedsRestart(key) {
			zerolog.Ctx(ctx).Warn().Str("key", key).Msg("This changed key takes effect when multis is started again")
			continue
		}
		reloadable = true
		zerolog.Ctx(ctx).Info().Str("key", key).Msg("The configuration has changed")
	}
	return reloadable
}

// fingerprint returns a text that changes whenever the configuration file, a setting, or a file that the configuration names changes.
func (s configSource) fingerprint(ctx context.Context, current *config.Config) (string, error) {
	info, err := os.Stat(s.file)
	if err != nil {
		return "", fmt.Errorf("look at the configuration: %w", err)
	}
	settings, err := store.ConfigSettings(ctx, s.store.DB())
	if err != nil {
		return "", err
	}
	var others []string
	for _, path := range append([]string{current.Policy.File}, current.SecretFiles...) {
		if other, err := os.Stat(path); err == nil && path != "" {
			others = append(others, fmt.Sprint(path, other.ModTime().UnixNano(), other.Size()))
		}
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), others, settings), nil // Sprint prints maps in the order of their keys
}

// record writes into the audit log that the configuration took effect: at the start with a keyed hash of the files that it was read from, so that a
// change between two starts is noticed, and later with the keys that changed.
func (s configSource) record(ctx context.Context, before, after *config.Config) error {
	log, err := audit.New(after.Appservice.ASToken.Value())
	if err != nil {
		return err
	}
	if before == nil {
		content, err := s.hashOfFiles(log, after.Policy.File)
		if err != nil {
			return err
		}
		return s.appendChanges(ctx, log, "taken_over", content, []string{configFile})
	}
	return s.appendChanges(ctx, log, "taken_over", nil, config.Changes(before, after))
}

// configFile stands in the audit log for the configuration as a whole.
const configFile = "config.yaml"

// recordRefusal writes into the audit log that a changed configuration is not used: with a keyed hash of its files, and with the keys that changed if it can be
// read. next is nil if it cannot.
func (s configSource) recordRefusal(ctx context.Context, current, next *config.Config) {
	log, err := audit.New(current.Appservice.ASToken.Value())
	if err == nil {
		var content []byte
		content, _ = s.hashOfFiles(log, current.Policy.File) // one of them may be missing, which is why it is refused
		keys := []string{configFile}
		if next != nil {
			keys = config.Changes(current, next)
		}
		err = s.appendChanges(ctx, log, "refused", content, keys)
	}
	if err != nil {
		zerolog.Ctx(ctx).Error().Err(err).Msg("Cannot write into the audit log that a configuration was refused")
	}
}

// hashOfFiles returns keyed hashes of the files that the configuration is read from.
func (s configSource) hashOfFiles(log audit.Log, policyFile string) (hashes []byte, err error) {
	for _, path := range []string{s.file, policyFile} {
		if path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return hashes, fmt.Errorf("read the configuration: %w", err)
		}
		hashes = append(hashes, log.Hash(data)...)
	}
	return hashes, nil
}

// appendChanges adds an entry for each key to the audit log.
func (s configSource) appendChanges(ctx context.Context, log audit.Log, outcome string, content []byte, keys []string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		for _, key := range keys {
			if err := log.Append(ctx, tx, audit.Entry{Kind: audit.Config, Actor: audit.System, Action: key, Outcome: outcome, Content: content}); err != nil {
				return err
			}
		}
		return nil
	})
}

// chatConfig shows and checks the keys that can be set in chat.
type chatConfig struct{ file string }

// Values returns the keys that can be set in chat.
func (c chatConfig) Values(settings map[string]string) ([]admin.ConfigValue, error) {
	all, err := config.Values(c.file, settings)
	if err != nil {
		return nil, err
	}
	safe := config.SafeKeys()
	var list []admin.ConfigValue
	for _, v := range all {
		if !slices.Contains(safe, v.Key) {
			continue
		}
		if v.Source == config.FromDefault {
			v.Source = ""
		}
		list = append(list, admin.ConfigValue(v))
	}
	return list, nil
}

// Check returns an error if a key cannot be set to the value.
func (c chatConfig) Check(settings map[string]string, key, value string) error {
	return config.CheckSetting(c.file, settings, key, value)
}
