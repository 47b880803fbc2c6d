package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"multis/config"
)

// healthCmd asks the running multis whether it is ready.
type healthCmd struct{}

// Run asks once.
func (healthCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := config.Load(global.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cfg.Appservice.LocalAddr()+"/_matrix/mau/ready", nil)
	if err != nil {
		return fmt.Errorf("ask multis: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("multis does not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("multis is not ready")
	}
	return nil
}
