package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/internal/sleep"
	"multis/internal/text"
	"multis/ops/setup"
	"multis/store"
)

// pairCmd finds out who the owner is: the sender of a one-time code. multis init runs it as the user of the service.
type pairCmd struct{}

// Run prints the code and waits until somebody sends it. Its last line is setup.PairedPrefix with the sender's Matrix id.
func (pairCmd) Run(ctx context.Context, g *cli) error {
	out := os.Stdout
	cfg, st, closeDB, err := open(ctx, g.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	hs, err := newHomeserver(cfg, st)
	if err != nil {
		return err
	}
	room, err := hs.OpenPairingRoom(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = room.Close(context.WithoutCancel(ctx)) }() // if closing fails, only an empty room is left
	var code string
	err = st.InTx(ctx, func(tx store.Tx) (err error) {
		code, err = store.OpenPairing(ctx, tx, time.Now())
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out,
		"\nIn your Matrix client, with the account that multis is to work for:\n\n  /join %s\n  %s\n\nThe code is good once, for 15 minutes.\n",
		room.ID, code)
	owner, err := awaitCode(ctx, out, st, room, cfg.Homeserver.Domain)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s%s\n", setup.PairedPrefix, owner)
	return nil
}

// awaitCode waits until a user of the domain sends the code. It prints problems to out; the bot writes nothing in the room.
func awaitCode(ctx context.Context, out io.Writer, st *store.Store, room *appservice.PairingRoom, domain string) (id.UserID, error) {
	ctx, cancel := context.WithTimeout(ctx, store.PairingLifetime)
	defer cancel()
	for {
		messages, err := room.Next(ctx)
		if err != nil {
			return "", err
		}
		for _, m := range messages {
			if m.Sender.Homeserver() != domain {
				fmt.Fprintf(out, "  %s is no user of %s.\n", text.OneLine(m.Sender.String()), domain)
				continue
			}
			switch result, err := tryCode(ctx, st, m.Text); {
			case err != nil:
				return "", err
			case result == store.PairingAccepted:
				return m.Sender, nil
			case result == store.PairingClosed:
				return "", errors.New("the code was tried too often: run multis init --pair again")
			}
			fmt.Fprintf(out, "  %s sent something else than the code.\n", text.OneLine(m.Sender.String()))
		}
		if sleep.For(ctx, time.Second) != nil {
			return "", errors.New("nobody sent the code: run multis init --pair again")
		}
	}
}

// tryCode tries a text as the code. If the last try was too recent, it waits first.
func tryCode(ctx context.Context, st *store.Store, text string) (result store.PairingResult, err error) {
	for {
		err = st.InTx(ctx, func(tx store.Tx) (err error) {
			result, err = store.TryPairing(ctx, tx, text, time.Now())
			return err
		})
		if err != nil {
			return result, err
		}
		if result != store.PairingTooSoon {
			return result, nil
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return result, nil //nolint:nilerr // whoever stops waiting gets the last result
		}
	}
}
