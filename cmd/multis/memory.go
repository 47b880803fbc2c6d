package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"multis/config"
	"multis/memory"
	"multis/skills"
)

// captureSkill is the skill that says what to take note of.
const captureSkill = "capture"

// openSkills finds the skills: the shared ones, and those that multis brings.
func openSkills(cfg *config.Config) *skills.Set {
	return skills.Open(cfg.Skills.Folder, map[string]string{captureSkill: memory.DefaultSkill()})
}

// memoryRules are what the configuration says about remembering.
func memoryRules(cfg *config.Config, set *skills.Set) (memory.Rules, error) {
	if _, err := os.ReadFile(cfg.Memory.CaptureSkill); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return memory.Rules{}, fmt.Errorf("memory.capture_skill: %w", err)
	}
	skill := func() string {
		if text, err := os.ReadFile(cfg.Memory.CaptureSkill); err == nil {
			return string(text)
		}
		return set.Named("", captureSkill).Text
	}
	m := cfg.Memory
	return memory.Rules{
		Threshold: m.CaptureThreshold, Quiet: m.CaptureQuiet, Minimum: m.CaptureMinimum, Sections: m.MaxSections, Skill: skill,
		Days: m.RetentionDays, OwnerDays: m.OwnerDays, LogDays: m.LogDays,
	}, nil
}
