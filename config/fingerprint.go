package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Fingerprint returns a short text that is the same for two processes whose configurations mean the same. What may differ
// from machine to machine is left out: addresses, paths, logging and secrets.
func (c *Config) Fingerprint() (string, error) {
	same := *c
	same.Homeserver.Address = ""
	same.Appservice.Hostname = ""
	same.Appservice.Port = 0
	same.Database = Database{}
	same.Logging = Logging{}
	same.SecretFiles = nil
	same.MCPServer.Hostname = ""
	same.Watches.Hostname = ""
	same.Watches.Address = ""
	for _, path := range []*string{
		&same.Backup.Folder, &same.Documents.Folder, &same.Skills.Folder, &same.Tasks.Folder,
		&same.Memory.CaptureSkill, &same.Policy.File,
	} {
		*path = ""
	}
	text, err := json.Marshal(&same) //nolint:musttag // nobody reads it: maps are in the order of their keys, secrets are "…"
	if err != nil {
		return "", fmt.Errorf("fingerprint of the configuration: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(text, "%s", c.TimeZone)) // JSON has no names of time zones
	const length = 6                                          // bytes
	return hex.EncodeToString(sum[:length]), nil
}
