package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"gopkg.in/yaml.v3"
	"maunium.net/go/mautrix/id"
)

// registration is the appservice registration file of the homeserver. It has only the keys that multis needs: others
// would cause traffic that multis ignores.
type registration struct {
	ID              string `yaml:"id"`
	URL             string `yaml:"url"`
	ASToken         string `yaml:"as_token"`
	HSToken         string `yaml:"hs_token"`
	SenderLocalpart string `yaml:"sender_localpart"`
	RateLimited     bool   `yaml:"rate_limited"`
	Namespaces      struct {
		Users []namespace `yaml:"users"`
	} `yaml:"namespaces"`
	ReceiveEphemeral bool `yaml:"receive_ephemeral"` // typing notifications and read receipts, which show that the owner is active
	CreateDevices    bool `yaml:"io.element.msc4190"`
}

type namespace struct {
	Regex     string `yaml:"regex"`
	Exclusive bool   `yaml:"exclusive"`
}

const registrationHeader = `# Written by "multis -g" from config.yaml. Do not edit: change config.yaml and write it again.
# The homeserver reads this file only when it starts. Keep it secret: as_token opens the owner's account.
`

// Registration returns the appservice registration for the homeserver as YAML. It fails if a token is not set.
func Registration(c *Config) ([]byte, error) {
	a := c.Appservice
	for _, value := range []string{a.ASToken.Value(), a.HSToken.Value(), a.SenderLocalpart} {
		if value == "" || value == Placeholder {
			return nil, errors.New("write the registration: as_token, hs_token and sender_localpart are not all set")
		}
	}
	r := registration{
		ID:               a.ID,
		URL:              a.Address,
		ASToken:          a.ASToken.Value(),
		HSToken:          a.HSToken.Value(),
		SenderLocalpart:  a.SenderLocalpart,
		ReceiveEphemeral: true,
		CreateDevices:    true,
	}
	r.Namespaces.Users = []namespace{
		{exactPattern(id.NewUserID(a.Bot.Username, c.Homeserver.Domain)), true},
		// An exclusive namespace would end the owner's own push notifications.
		{exactPattern(c.Owner), false},
	}
	text := bytes.NewBufferString(registrationHeader)
	encoder := yaml.NewEncoder(text)
	encoder.SetIndent(2)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("write the registration: %w", err)
	}
	return text.Bytes(), nil
}

// exactPattern returns a regular expression that matches only this user.
func exactPattern(user id.UserID) string { return "^" + regexp.QuoteMeta(user.String()) + "$" }
