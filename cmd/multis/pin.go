package main

import (
	"context"
	"fmt"

	"multis/admin"
	"multis/config"
	"multis/outbox"
	"multis/safety/audit"
	"multis/safety/pin"
	"multis/store"
)

// newPINKeeper returns the Keeper that checks the owner's PIN. If the configuration lets agents change this machine, a PIN is required.
func newPINKeeper(cfg *config.Config) (*pin.Keeper, error) {
	log, err := audit.New(cfg.Appservice.ASToken.Value())
	if err != nil {
		return nil, err
	}
	return pin.NewKeeper(pin.Options{Log: log, Required: cfg.Exec.Enabled || cfg.Exec.WriteFiles}), nil
}

// pinCmd manages the PIN of the admin room.
type pinCmd struct {
	Reset pinResetCmd `cmd:"" help:"Remove the PIN, its lock and what it unlocked; set a new one with /pin set in the admin room."`
}

// pinResetCmd removes the PIN.
type pinResetCmd struct{}

// Run removes the PIN and notifies the owner in the admin room.
func (pinResetCmd) Run(ctx context.Context, all *cli) error {
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	keeper, err := newPINKeeper(cfg)
	if err != nil {
		return err
	}
	err = st.InTx(ctx, func(tx store.Tx) error {
		if err := keeper.Reset(ctx, tx); err != nil {
			return err
		}
		return admin.AnnouncePINReset(ctx, tx, outbox.New(st, outboxSettings(cfg), nil))
	})
	if err == nil {
		fmt.Println("The PIN is removed. /pin set in the admin room sets a new one.")
	}
	return err
}
