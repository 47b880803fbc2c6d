package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"

	"golang.org/x/term"
	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/appservice"
	"multis/config"
	"multis/ops/doctor"
	"multis/store"
)

// accountCmd prints what /account shows, the rights that multis has over the owner's account. It works while multis is not running.
type accountCmd struct{}

// Run prints the text of /account.
func (accountCmd) Run(ctx context.Context, all *cli) error {
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	said, err := admin.AccountText(ctx, st, accounts{cfg, st}, chatDefaults(cfg))
	if err != nil {
		return err
	}
	fmt.Println(renderMarkdown(said, term.IsTerminal(int(os.Stdout.Fd()))))
	return nil
}

// accounts finds the sessions, logins and clients that can use the owner's accounts through multis.
type accounts struct {
	cfg   *config.Config
	store *store.Store
}

// Account reads the sessions from the homeserver, and the rest from the configuration and the database.
func (a accounts) Account(ctx context.Context) (admin.Account, error) {
	acc := admin.Account{Owner: a.cfg.Owner.String(), Bot: a.cfg.BotID().String(), Registration: a.cfg.Appservice.ID}
	inspector := appservice.NewInspector(doctor.AccessOf(a.cfg))
	for _, session := range []struct {
		setting store.Setting
		user    id.UserID
	}{{store.SettingOwnerDevice, a.cfg.Owner}, {store.SettingBotDevice, a.cfg.BotID()}} {
		var device struct {
			ID id.DeviceID `json:"id"`
		}
		known, err := store.GetSetting(ctx, a.store.DB(), session.setting, &device)
		if err != nil {
			return acc, err
		}
		if known {
			acc.Devices = append(acc.Devices, admin.AccountDevice{
				User:  session.user.String(),
				ID:    device.ID.String(),
				State: sessionState(ctx, inspector, session.user, device.ID),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.cfg.MCP)) {
		var login string
		if known, err := store.GetSetting(ctx, a.store.DB(), store.SettingLogin+store.Setting(name), &login); err != nil {
			return acc, err
		} else if known {
			acc.Logins = append(acc.Logins, name)
		}
	}
	if port := a.cfg.MCPServer.Port; port != 0 {
		acc.Clients = append(acc.Clients, "My MCP server at "+net.JoinHostPort(a.cfg.MCPServer.Hostname, strconv.Itoa(port))+
			": who has mcp_server.token can search everything you can search. To revoke: change the token, or set mcp_server.port to 0.")
	}
	if a.cfg.Watches.Port != 0 {
		acc.Clients = append(acc.Clients,
			"Incoming webhooks: who knows the address of one starts what it is for. To revoke: /watch lists and removes them.")
	}
	return acc, nil
}

// sessionState returns what the homeserver says about a session.
func sessionState(ctx context.Context, inspector *appservice.Inspector, user id.UserID, device id.DeviceID) string {
	info, err := inspector.Device(ctx, user, device)
	switch {
	case errors.Is(err, appservice.ErrUnknownDevice):
		return "it was ended"
	case err != nil:
		return "the homeserver did not say whether it is verified"
	case info.Verified:
		return "verified by your keys, so other sessions give it the keys of encrypted chats"
	case info.HasKeys:
		return "not verified (multis verify does that)"
	default:
		return "without encryption keys"
	}
}
