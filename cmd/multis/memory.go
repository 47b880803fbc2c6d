package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"multis/config"
	"multis/memory"
)

// memoryRules are what the configuration says about remembering.
func memoryRules(cfg *config.Config) (memory.Rules, error) {
	skill, err := os.ReadFile(cfg.Memory.CaptureSkill)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return memory.Rules{}, fmt.Errorf("memory.capture_skill: %w", err)
	}
	m := cfg.Memory
	return memory.Rules{
		Threshold: m.CaptureThreshold, Quiet: m.CaptureQuiet, Minimum: m.CaptureMinimum, Sections: m.MaxSections, Skill: string(skill),
	}, nil
}
