package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/admin"
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
		if strings.HasPrefix(v.Key, g.Key) {
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
	backup, err := config.Set(c.Config, s.Key, s.Value, checkModel, checkRules, newStartCheck(ctx, c.Config))
	switch {
	case err != nil:
		return err
	case backup == "":
		fmt.Printf("%s has that value already.\n", s.Key)
	case config.NeedsRestart(s.Key):
		fmt.Printf("Set %s in %s; the old file is %s.\nThis key is read at the start only. Next: %s\n", s.Key, c.Config, backup, startCommand(c.Config, true))
	default:
		fmt.Printf("Set %s in %s; the old file is %s.\nA running multis takes it over within seconds; the admin room says why if it cannot.\n", s.Key, c.Config, backup)
	}
	return nil
}

// checkConfigCmd checks the file.
type checkConfigCmd struct{}

// Run prints all problems at once. They include those that multis run would have with the folders, files and addresses of this machine.
func (checkConfigCmd) Run(ctx context.Context, c *cli) error {
	cfg, err := config.Load(c.Config)
	if err != nil {
		return err
	}
	w, err := writerOf(ctx, c.Config, cfg)
	if err != nil {
		return err
	}
	if err := errors.Join(checkModel(cfg), checkRules(cfg), w.checkStart(ctx, runningNow(ctx, cfg), cfg), w.checkFolders(cfg)); err != nil {
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

// Holidays returns the holidays of the business.
func (c chatConfig) Holidays(settings map[string]string) ([]admin.Holiday, error) {
	days, err := config.Holidays(c.file, settings)
	list := make([]admin.Holiday, len(days))
	for i, d := range days {
		list[i] = admin.Holiday(d)
	}
	return list, err
}

// Check returns an error if a key cannot be set to the value.
func (c chatConfig) Check(settings map[string]string, key, value string) error {
	return config.CheckSetting(c.file, settings, key, value)
}
