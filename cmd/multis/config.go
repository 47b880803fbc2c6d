package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/business/hours"
	"multis/config"
	"multis/internal/text"
	"multis/ops/setup"
	"multis/store"
)

// configCmd shows and changes the configuration.
type configCmd struct {
	Get   getConfigCmd   `cmd:"" help:"Print a value, or all keys that begin like it, and where it is set. Secrets are not shown."`
	Set   setConfigCmd   `cmd:"" help:"Set a key in the file. The old file is backed up. What /config sets in the admin room, for some keys only, wins over the file."`
	Check checkConfigCmd `cmd:"" help:"Say what is wrong with the file. Exits with 1 if something is."`
	Diff  diffConfigCmd  `cmd:"" help:"Print what differs from the defaults, and where it is set."`
}

// getConfigCmd prints values.
type getConfigCmd struct {
	Key  string `arg:"" optional:"" help:"A key such as budget.per_day, or the beginning of one. Without it, all."`
	JSON bool   `help:"Print JSON."`
}

// Run prints the values with which multis runs, as /config in the admin room does.
func (g getConfigCmd) Run(ctx context.Context, c *cli) error {
	values, err := effectiveValues(ctx, c)
	if err != nil {
		return err
	}
	var found []config.Entry
	for _, v := range values {
		if v.Key == g.Key {
			found = []config.Entry{v}
			break
		}
		if strings.HasPrefix(v.Key, g.Key) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no key %q; multis config get lists them", g.Key)
	}
	return printValues(found, g.JSON, len(found) == 1 && found[0].Key == g.Key)
}

// chatSettingsTimeout limits the time in which the database must answer. Without it, settings made in chat are not known.
const chatSettingsTimeout = 3 * time.Second

// chatSettings returns the settings that were made in chat; nil if the database does not answer.
func chatSettings(ctx context.Context, c *cli) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, chatSettingsTimeout)
	defer cancel()
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	if !in.HasSchema {
		return map[string]string{}, nil
	}
	return store.ConfigSettings(ctx, in.Database.DB())
}

// effectiveValues returns all values: those of the file, of settings made in chat, and of the environment.
func effectiveValues(ctx context.Context, c *cli) ([]config.Entry, error) {
	settings, err := chatSettings(ctx, c)
	if err != nil {
		return nil, err
	}
	return config.Values(c.Config, settings)
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
			fmt.Println(text.Visible(v.Value))
			continue
		}
		fmt.Printf("%s: %s  # %s\n", v.Key, text.Visible(v.Value), v.Source)
	}
	return nil
}

// setConfigCmd sets a key.
type setConfigCmd struct {
	Key   string `arg:"" help:"A key such as budget.per_day."`
	Value string `arg:"" help:"Its new value."`
}

// Run changes the key in the file.
func (s setConfigCmd) Run(ctx context.Context, c *cli) error {
	backup, err := config.Set(c.Config, s.Key, s.Value, checkModel, checkRules, setup.NewStartCheck(ctx, c.Config))
	switch {
	case err != nil:
		return err
	case backup == "":
		fmt.Printf("%s has that value already.\n", s.Key)
	case config.NeedsRestart(s.Key):
		fmt.Printf("Set %s in %s; the old file is %s.\nThis key is read at the start only. Next: %s\n", s.Key, c.Config, backup,
			startCommand(c.Config, true))
	default:
		fmt.Printf("Set %s in %s; the old file is %s.\nA running multis uses it within seconds; the admin room says why if it cannot.\n",
			s.Key, c.Config, backup)
	}
	values, err := effectiveValues(ctx, c)
	if i := slices.IndexFunc(values, func(v config.Entry) bool { return v.Key == s.Key }); err == nil && i >= 0 { // the key is set in any case
		fmt.Print(overridden(values[i]))
	}
	return nil
}

// overridden says what wins over the value in the file; empty if nothing does.
func overridden(v config.Entry) string {
	switch v.Source {
	case config.FromSettings:
		return fmt.Sprintf("It stays %s, because the admin room has set that, which wins over the file. Write there: /config reset %s\n",
			text.Visible(v.Value), v.Key)
	case config.FromEnvironment:
		return fmt.Sprintf("It stays %s, because the variable %s is set, which wins over the file.\n", text.Visible(v.Value),
			config.EnvName(v.Key))
	}
	return ""
}

// checkConfigCmd checks the file.
type checkConfigCmd struct{}

// Run prints all problems at once. They include those that multis run would have with the folders, files and addresses of this machine.
func (checkConfigCmd) Run(ctx context.Context, c *cli) error {
	cfg, err := config.Load(c.Config)
	if err != nil {
		return err
	}
	w, err := setup.RunUserOf(ctx, c.Config, cfg)
	if err != nil {
		return err
	}
	if err := errors.Join(checkModel(cfg), checkRules(cfg), w.CheckStart(ctx, setup.RunningConfig(ctx, cfg), cfg),
		w.CheckFolders(cfg)); err != nil {
		return err
	}
	fmt.Printf("%s is valid. Next: multis doctor checks all that it names.\n", c.Config)
	return nil
}

// diffConfigCmd prints the values that differ from the defaults.
type diffConfigCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints the differences. They include settings that were made in chat, if the database can be reached.
func (d diffConfigCmd) Run(ctx context.Context, c *cli) error {
	settings, err := chatSettings(ctx, c)
	if err != nil {
		return err
	}
	changed, err := config.Differences(c.Config, settings)
	if err != nil {
		return err
	}
	return printValues(changed, d.JSON, false)
}

// chatConfig shows and checks the keys that can be set in chat.
type chatConfig struct{ file string }

// Values returns the keys that can be set in chat.
func (c chatConfig) Values(settings map[string]string) ([]config.Entry, error) {
	all, err := config.Values(c.file, settings)
	if err != nil {
		return nil, err
	}
	safe := config.SafeKeys()
	var list []config.Entry
	for _, v := range all {
		if !slices.Contains(safe, v.Key) {
			continue
		}
		if v.Source == config.FromDefault {
			v.Source = ""
		}
		list = append(list, v)
	}
	return list, nil
}

// Holidays returns the holidays of the business.
func (c chatConfig) Holidays(settings map[string]string) ([]hours.Days, error) {
	return config.Holidays(c.file, settings)
}

// Check returns an error if a key cannot be set to the value.
func (c chatConfig) Check(settings map[string]string, key, value string) error {
	return config.CheckSetting(c.file, settings, key, value)
}
