package main

import (
	"context"
	"maps"
	"os"
	"strings"
	"time"

	"multis/ops/setup"
)

// initCmd sets multis up.
type initCmd struct {
	Yes        bool              `short:"y" help:"Ask nothing: take what is given and found, and what config.yaml says. Something missing is an error."`
	Owner      string            `placeholder:"@YOU:DOMAIN" help:"Your Matrix id."`
	Homeserver string            `placeholder:"URL" help:"Where multis reaches Synapse."`
	TimeZone   string            `placeholder:"ZONE" help:"Your time zone, such as Europe/Berlin."`
	Profile    string            `placeholder:"PROFILE" help:"personal or business."`
	Name       string            `placeholder:"NAME" help:"The name of the assistant."`
	Database   string            `placeholder:"URL" help:"A Postgres database. Without one multis runs its own Postgres."`
	Model      string            `placeholder:"MODEL" help:"The language model, such as anthropic/claude-haiku-4-5 or none. Its key: --set llm.api_key_file=PATH."`
	Set        map[string]string `placeholder:"KEY=VALUE" help:"Any other key of config.yaml, such as llm.base_url; can be repeated."`
	Synapse    string            `placeholder:"FILE" help:"Synapse's homeserver.yaml, where it is not found automatically."`
	Service    string            `enum:"auto,systemd,compose,none" default:"auto" placeholder:"auto|systemd|compose|none" help:"systemd: install a service in /var/lib/multis; compose: write .env beside docker-compose.yml; none: only write the files; auto: systemd for root where it runs."`
	Wait       *time.Duration    `placeholder:"TIME" help:"How long to wait for Synapse. Defaults to 30m, with --yes to 0."`
	Pair       bool              `help:"Find out your Matrix id by a one-time code that you send from your Matrix client."`
}

// Run sets multis up, or, for Compose, writes the file that Compose needs before multis can ask anything.
func (c initCmd) Run(ctx context.Context, g *cli) error {
	if c.Service == "compose" {
		return setup.WriteComposeEnv(ctx, c.Synapse, os.Stdout)
	}
	i, err := setup.NewInstallation(setup.Request{
		Config:        g.Config,
		Registration:  g.Registration,
		DefaultConfig: defaultConfig,
		Synapse:       c.Synapse,
		Service:       c.Service,
		Wait:          c.wait(),
		Pairing:       c.Pair,
		Out:           os.Stdout,
	})
	if err != nil {
		return err
	}
	var asker setup.Asker // nil asks nothing
	if !c.Yes {
		asker = setup.NewAsker(os.Stdin, os.Stdout)
	}
	return i.Install(ctx, c.given(), asker, probes())
}

// wait returns how long to wait for Synapse.
func (c initCmd) wait() time.Duration {
	switch {
	case c.Wait != nil:
		return *c.Wait
	case c.Yes:
		return 0
	default:
		return 30 * time.Minute
	}
}

// given returns the values from the command line, by configuration key.
func (c initCmd) given() map[string]string {
	given := maps.Clone(c.Set)
	if given == nil {
		given = map[string]string{}
	}
	for key, value := range map[string]string{
		"owner":              c.Owner,
		"homeserver.address": strings.TrimSuffix(c.Homeserver, "/"),
		"time_zone":          c.TimeZone,
		"chats.profile":      c.Profile,
		"name":               c.Name,
		"database.url":       c.Database,
		"llm.model":          c.Model,
	} {
		if value != "" {
			given[key] = value
		}
	}
	return given
}
