package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"multis/agent/skills"
	"multis/config"
	"multis/memory"
	"multis/store"
)

// captureSkill is the name of the skill that says which notes are taken.
const captureSkill = "capture"

// openSkills opens the shared and the built-in skills.
func openSkills(cfg *config.Config) *skills.Set {
	return skills.Open(cfg.Skills.Folder, map[string]string{captureSkill: memory.DefaultSkill()}, cfg.Exec.Enabled || cfg.Exec.WriteFiles)
}

// openMemory opens the memory for a command that reads or imports. It has no model, so it takes no notes.
func openMemory(cfg *config.Config, st *store.Store) (*memory.Memory, error) {
	settings, err := memorySettings(cfg, openSkills(cfg))
	if err != nil {
		return nil, err
	}
	defaults := chatDefaults(cfg)
	return memory.New(memory.Options{Store: st, Defaults: defaults, Zone: cfg.TimeZone, Settings: settings}), nil
}

// memorySettings returns the memory settings of the configuration.
func memorySettings(cfg *config.Config, set *skills.Set) (memory.Settings, error) {
	if info, err := os.Stat(cfg.Memory.CaptureSkill); err == nil && !info.Mode().IsRegular() {
		return memory.Settings{}, fmt.Errorf("memory.capture_skill: %s is not a plain file", cfg.Memory.CaptureSkill)
	}
	if _, err := os.ReadFile(cfg.Memory.CaptureSkill); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return memory.Settings{}, fmt.Errorf("memory.capture_skill: %w", err)
	}
	skill := func() string {
		if text, err := os.ReadFile(cfg.Memory.CaptureSkill); err == nil {
			return string(text)
		}
		return set.Get("", captureSkill).Text
	}
	m := cfg.Memory
	return memory.Settings{
		Threshold:      m.CaptureThreshold,
		Quiet:          m.CaptureQuiet,
		Minimum:        m.CaptureMinimum,
		Sections:       m.MaxSections,
		Skill:          skill,
		Days:           m.RetentionDays,
		OwnerDays:      m.OwnerRetentionDays,
		LogDays:        m.LogRetentionDays,
		SkipInjections: cfg.Injection.Enabled,
	}, nil
}
