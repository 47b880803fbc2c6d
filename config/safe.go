package config

import "maps"

// SafeMode configures when multis starts in safe mode by itself.
type SafeMode struct {
	AfterCrashes int // how many crashes within five minutes start safe mode; zero means that none do
}

// Safe returns the configuration for safe mode: no models, no commands, no tools for other programs. The other
// restrictions of safe mode do not depend on the configuration.
func (c *Config) Safe() *Config {
	safe := *c
	safe.LLM.Model = NoModel
	safe.LLM.BaseURL = ""
	safe.LLM.APIKey = ""
	safe.LLM.Strategies = emptyStrategies()
	safe.Embeddings.Model = NoModel
	safe.Speech.Model = NoModel
	safe.Vision.Model = NoModel
	safe.Exec, safe.MCPServer.Port = Exec{}, 0
	safe.Agents = maps.Clone(c.Agents)
	for name, a := range safe.Agents {
		a.Model, a.APIKey = "", ""
		safe.Agents[name] = a
	}
	return &safe
}
