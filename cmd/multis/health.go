package main

import (
	"context"

	"multis/config"
	"multis/ops/health"
)

// healthCmd asks the running multis whether it is ready.
type healthCmd struct{}

// Run asks once.
func (healthCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := config.Load(global.Config)
	if err != nil {
		return err
	}
	return health.CheckReady(ctx, cfg.Appservice.LocalAddr())
}
