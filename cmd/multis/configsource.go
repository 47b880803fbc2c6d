package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"multis/config"
	"multis/internal/sleep"
	"multis/internal/text"
	"multis/jobs"
	"multis/ops/setup"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
)

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
		return nil, setup.ExplainUnreadable(s.file, err)
	}
	return cfg, errors.Join(checkModel(cfg), checkRules(cfg))
}

// configPoll is the time between two checks of whether the configuration has changed.
const configPoll = 2 * time.Second

// awaitChange waits until the configuration is valid and differs from current, or until safe mode was switched, and
// returns the configuration. It logs an invalid configuration once, and tries it again. Keys that need a restart keep their
// current values. A missing file is looked at twice, because editors replace files.
func (s configSource) awaitChange(ctx context.Context, current *config.Config, wasSafe bool) (*config.Config, error) {
	var refusal string                    // why the configuration was refused; it is tried again, because what it lacked may be there by now
	for seen, isMissing := "", false; ; { // the first pass always loads the configuration, because it may have changed since current was loaded
		if sleep.For(ctx, configPoll) != nil {
			return nil, ctx.Err()
		}
		if _, safe, err := store.SafeModeOf(ctx, s.store.DB()); err == nil && safe != wasSafe {
			return current, nil
		}
		now, err := s.fingerprint(ctx, current)
		wasMissing := isMissing
		isMissing = now == missingFile
		isSame := now == seen
		if err != nil || isSame && refusal == "" || isMissing && !wasMissing {
			continue // the database cannot be reached, nothing has changed, or the file is being replaced
		}
		seen = now
		next, err := s.load(ctx)
		if err == nil {
			err = setup.RunUser{}.CheckStart(ctx, current, next) // this process is who runs multis
		}
		if isSame && err != nil && err.Error() == refusal {
			continue
		}
		if noted := s.storeRefusal(ctx, err); noted != nil {
			zerolog.Ctx(ctx).Warn().Err(noted).Msg("Cannot note whether the configuration was taken over")
		}
		if err != nil {
			refusal = err.Error()
			zerolog.Ctx(ctx).Error().Err(err).Msg("The changed configuration cannot be used; keeping the old one")
			s.recordRefusal(ctx, current, next)
			continue
		}
		refusal = ""
		if s.isReloadable(ctx, current, next) {
			next.Database, next.Logging = current.Database, current.Logging
			hideSecrets(next)
			return next, nil
		}
	}
}

// storeRefusal stores why the changed configuration is not used, or, for nil, that it is used. The owner gets one notice
// for all refusals in a row.
func (s configSource) storeRefusal(ctx context.Context, refused error) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		if refused == nil {
			return store.DropSetting(ctx, tx, store.SettingConfigRefused)
		}
		var known store.RefusedConfig
		isKnown, err := store.GetSetting(ctx, tx, store.SettingConfigRefused, &known)
		if err != nil {
			return err
		}
		const maxWhy = 1000 // characters
		why := text.Clip(policy.Redact(text.Clean(refused.Error())), maxWhy)
		if why == known.Why {
			return nil
		}
		if err := store.PutSetting(ctx, tx, store.SettingConfigRefused, store.RefusedConfig{Since: time.Now(), Why: why}); err != nil {
			return err
		}
		if isKnown {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicConfigRefused})
	})
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

// fileState returns a text that changes whenever a file, its owner or its mode changes.
func fileState(path string) (string, error) {
	var info unix.Stat_t
	if err := unix.Stat(path, &info); err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	return fmt.Sprint(path, info.Ctim.Nano(), info.Size), nil
}

// missingFile is the fingerprint if there is no configuration file.
const missingFile = "missing"

// fingerprint returns a text that changes whenever the configuration file, a setting, or a file that the configuration names changes.
func (s configSource) fingerprint(ctx context.Context, current *config.Config) (string, error) {
	file, err := fileState(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missingFile, nil
	case err != nil:
		return "", err
	}
	settings, err := store.ConfigSettings(ctx, s.store.DB())
	if err != nil {
		return "", err
	}
	var others []string
	for _, path := range append([]string{current.Policy.File, current.Business.HolidayCalendar}, current.SecretFiles...) {
		if other, err := fileState(path); err == nil {
			others = append(others, other)
		}
	}
	return fmt.Sprint(file, others, settings), nil // Sprint prints maps in the order of their keys
}

// record writes into the audit log that the configuration took effect: at the start with a keyed hash of the files that
// it was read from, so that a change between two starts is noticed, and later with the keys that changed.
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

// configFile is the action of an audit entry about the configuration as a whole.
const configFile = "config.yaml"

// recordRefusal writes into the audit log that a changed configuration is not used: with a keyed hash of its files, and
// with the keys that changed if it can be read. next is nil if it cannot.
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
		data, err := config.ReadFile(path)
		if err != nil {
			return hashes, err
		}
		hashes = append(hashes, log.Hash(data)...)
	}
	return hashes, nil
}

// appendChanges adds an entry for each key to the audit log.
func (s configSource) appendChanges(ctx context.Context, log audit.Log, outcome string, content []byte, keys []string) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		for _, key := range keys {
			if err := log.Append(ctx, tx, audit.Entry{
				Kind:    audit.Config,
				Actor:   audit.System,
				Action:  key,
				Outcome: outcome,
				Content: content,
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
