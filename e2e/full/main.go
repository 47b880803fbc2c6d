// Command full sets up the services beside multis in the profile "full" of docker-compose.yml: a Synapse and a bridge to
// a simulated network.
//
//	full setup                  write the configurations and registrations, once
//	full account                create the owner's account
//	full contacts               send a message from each of two contacts, and print how to look at multis
//	full say CONTACT TEXT...    send a message from a contact
//	full health                 exit with 0 if the bridge is up
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.mau.fi/util/random"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/synapseadmin"

	"multis/e2e/bridge/demonet"
)

const (
	domain = "multis.localhost"
	// owner and password belong to the account with which people look at multis.
	owner    id.UserID = "@owner:" + domain
	password           = "owner"

	homeserverURL  = "http://multis-synapse:8008"
	controlAddress = "127.0.0.1:29400"
	controlURL     = "http://" + controlAddress
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "full:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	network := demonet.Client{URL: controlURL}
	switch {
	case len(args) == 1 && args[0] == "setup":
		return setUp("/full", "/data")
	case len(args) == 1 && args[0] == "account":
		return createAccount(ctx, "/full")
	case len(args) == 1 && args[0] == "contacts":
		return writeFirst(ctx, network)
	case len(args) > 2 && args[0] == "say":
		_, err := network.Say(ctx, args[1], demonet.Line{Text: strings.Join(args[2:], " ")})
		return err
	case len(args) == 1 && args[0] == "health":
		_, err := network.Delivered(ctx, "")
		return err
	default:
		return errors.New("usage: full setup | account | contacts | say CONTACT TEXT... | health")
	}
}

// createAccount registers the owner, unless the account exists.
func createAccount(ctx context.Context, dir string) error {
	secret, err := readSecret(dir)
	if err != nil {
		return err
	}
	client, err := mautrix.NewClient(homeserverURL, "", "")
	if err != nil {
		return err
	}
	admin := synapseadmin.Client{Client: client}
	_, err = admin.SharedSecretRegister(ctx, secret, synapseadmin.ReqSharedSecretRegister{Username: owner.Localpart(), Password: password})
	if err != nil && !errors.Is(err, mautrix.MUserInUse) {
		return fmt.Errorf("register %s: %w", owner, err)
	}
	return nil
}

// writeFirst sends a message from each of two contacts, unless they have chats already, and prints how to look at multis.
func writeFirst(ctx context.Context, network demonet.Client) error {
	for _, contact := range []struct{ chat, name, text string }{
		{"ana", "Ana", "Hi! What does an e-bike cost for three days?"},
		{"ben", "Ben", "Are we still on for Saturday?"},
	} {
		room, err := network.Room(ctx, contact.chat)
		if err != nil {
			return fmt.Errorf("look for %s's chat: %w", contact.name, err)
		}
		if room != "" {
			continue
		}
		if _, err := network.Say(ctx, contact.chat, demonet.Line{SenderName: contact.name, Text: contact.text}); err != nil {
			return fmt.Errorf("have %s write: %w", contact.name, err)
		}
	}
	fmt.Printf(`
multis runs, with a Synapse and a bridge to a simulated network.

  Look        in a Matrix client such as Element: homeserver http://localhost:8008, user %s, password %s
  Begin       accept the invitation of multis: that room is where you command it. Type !help there.
  Answer      send it a text file with your prices, say "public" when it asks, then type /mode business Ana
  Be Ana      docker compose exec multis-bridge full say ana "What does an e-bike cost for three days?"
  End         docker compose --profile full down   (with --volumes, data/ and secrets/ deleted, nothing remains)

`, owner.Localpart(), password)
	return nil
}

// newSecret returns letters and digits, which need no quoting in a URL or in YAML.
func newSecret() string { return random.String(48) }
