package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"multis/policy"
	"multis/store"
)

// Account lists the accounts, sessions and logins that multis uses as the owner, and the interfaces by which other programs use multis.
type Account struct {
	Owner, Bot   string
	Registration string // its id
	Devices      []AccountDevice
	Logins       []string // MCP servers that multis is logged in to as the owner
	Clients      []string // the interfaces that other programs can use: the MCP server, incoming webhooks
}

// AccountDevice is a session of multis.
type AccountDevice struct {
	User, ID string
	State    string // such as "verified"
}

// Accounts reads what multis can do as the owner.
type Accounts interface {
	Account(ctx context.Context) (Account, error)
}

// accountCommands shows what multis can do as the owner.
type accountCommands struct {
	base

	accounts Accounts // nil without a homeserver
}

// commands returns the command about the owner's account.
func (ac *accountCommands) commands() []command {
	if ac.accounts == nil {
		return nil
	}
	return []command{{
		name: "account", group: groupHealth, run: ac.show,
		summary: "what I can access, and how to revoke it",
	}}
}

// show answers with AccountText.
func (ac *accountCommands) show(ctx context.Context, _ request, _ string) (answer, error) {
	text, err := AccountText(ctx, ac.store, ac.accounts, ac.settings.Defaults)
	return answer{text: text}, err
}

// AccountText lists what multis can do as the owner, each with the way to revoke it, as Markdown.
func AccountText(ctx context.Context, st *store.Store, accounts Accounts, defaults policy.Defaults) (string, error) {
	acc, err := accounts.Account(ctx)
	if err != nil {
		return "", err
	}
	states := chatStates{store: st, settings: Settings{Defaults: defaults}}
	_, modes, _, err := states.countChats(ctx)
	if err != nil {
		return "", err
	}
	bridges, err := store.BridgeSettingsEvidence(ctx, st.DB(), time.Now())
	if err != nil {
		return "", err
	}
	lines := []string{
		"**What I can do as you**",
		fmt.Sprintf("**The token** `as_token` of the registration %s: everything that %s can do, and %s. It has no password of yours and asks for no other user and no room. "+
			"To revoke: remove the registration from the homeserver's `app_service_config_files` and restart it; `generate` in config.yaml and `multis -g` make a new token.",
			code(acc.Registration), code(acc.Owner), code(acc.Bot)),
	}
	for _, d := range acc.Devices {
		revoke := "end it in your Matrix client (Settings, Sessions); with the token I make a new one"
		if d.User != acc.Owner {
			revoke = "it is not yours, so your Matrix client does not list it; it ends with the token"
		}
		lines = append(lines, fmt.Sprintf("**Session** %s of %s: %s. To revoke: %s.", code(d.ID), code(d.User), esc(d.State), revoke))
	}
	if modes == "" {
		modes = "no chats yet"
	}
	lines = append(lines, "**Chats**: "+modes+
		". I send only where the mode allows it, and never in silent or off ones by myself. To revoke: `/mode`, `/pause all`, `/safe on`.")
	for _, b := range bridges {
		what := "what you type on the phone reaches me as yours (double puppet)"
		if b.AsGhost {
			what = "no double puppet: what you type on the phone looks like a contact's"
		}
		lines = append(lines, fmt.Sprintf("**Bridge** %s: I write as you, and %s. To revoke: log out of the bridge, or `/mode off` its chats.",
			code(b.Bot.String()), what))
	}
	for _, name := range acc.Logins {
		lines = append(lines, "**Login** to the MCP server "+code(name)+". To revoke: "+code("multis mcp logout "+name)+
			", and end the session there.")
	}
	for _, what := range acc.Clients {
		lines = append(lines, esc(what))
	}
	if len(acc.Logins)+len(acc.Clients) == 0 {
		lines = append(lines, "No other program has access through me, and I am logged in nowhere else.")
	}
	return strings.Join(lines, "\n\n"), nil
}
