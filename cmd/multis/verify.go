package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"multis/appservice"
	"multis/ops/setup"
)

// verifyCmd signs multis' session with the owner's cross-signing keys, so that other sessions trust it.
type verifyCmd struct{}

// Run reads the recovery key and uses it once. It is not stored.
func (verifyCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := load(global.Config)
	if err != nil {
		return err
	}
	key, err := readSecret("Recovery key of " + cfg.Owner.String() + ": ")
	if err != nil {
		return err
	}
	st, closeDB, err := openStore(ctx, global.Config, cfg, shared)
	if err != nil {
		return err
	}
	defer closeDB()
	hs, err := newHomeserver(cfg, st)
	if err != nil {
		return err
	}
	if err := hs.Start(ctx); err != nil {
		return err
	}
	if err := appservice.NewVault(st, hs).Verify(ctx, key); err != nil {
		return err
	}
	fmt.Println("Verified. Your other sessions now show the session multis as yours.")
	return nil
}

// readSecret reads a line from the terminal without echoing it, or from a pipe.
func readSecret(prompt string) (string, error) {
	var key string
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		defer setup.EchoOff(fd)() // echo is off before the prompt is shown, because a person may type at once
		fmt.Fprint(os.Stderr, prompt)
		raw, err := term.ReadPassword(fd)
		fmt.Fprintln(os.Stderr)
		if err != nil {
			return "", fmt.Errorf("read the recovery key: %w", err)
		}
		key = string(raw)
	} else {
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && line == "" {
			return "", fmt.Errorf("read the recovery key from the input: %w", err)
		}
		key = line
	}
	if key = strings.TrimSpace(key); key == "" {
		return "", errors.New("no recovery key was given; Element shows it under Settings, Encryption")
	}
	return key, nil
}
