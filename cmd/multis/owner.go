package main

import (
	"os"
	"path/filepath"

	"multis/config"
	"multis/ops/setup"
	"multis/policy"
)

// load loads a configuration file. A process of root continues as the user who owns the data folder.
func load(file string) (*config.Config, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return nil, setup.ExplainUnreadable(file, err)
	}
	hideSecrets(cfg)
	return cfg, setup.DropPrivileges(cfg.Database.DataDir)
}

// hideSecrets sets the secrets that policy.Hide masks: those of the configuration and of the environments of MCP servers.
func hideSecrets(cfg *config.Config) {
	secrets := cfg.Secrets()
	for _, m := range cfg.MCP {
		for _, name := range m.PassEnv {
			const minSecretBytes = 16
			if value := os.Getenv(name); len(value) >= minSecretBytes && !filepath.IsAbs(value) {
				secrets = append(secrets, value)
			}
		}
	}
	policy.SetSecrets(secrets)
}
