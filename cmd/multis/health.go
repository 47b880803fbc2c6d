package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"multis/config"
)

// healthCmd asks the running multis whether it is ready.
type healthCmd struct{}

// Run asks once.
func (healthCmd) Run(ctx context.Context, c *cli) error {
	cfg, err := config.Load(c.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localAddr(cfg.Appservice)+"/_matrix/mau/ready", nil)
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

// localAddr returns the address for connections from this machine.
func localAddr(a config.Appservice) string {
	host := a.Hostname
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() { // every interface
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}
