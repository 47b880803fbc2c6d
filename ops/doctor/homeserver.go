package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"multis/appservice"
	"multis/config"
	"multis/internal/text"
)

// AccessOf returns how multis reaches the homeserver, for an appservice.Inspector.
func AccessOf(c *config.Config) appservice.Access {
	return appservice.Access{
		URL:           c.Homeserver.Address,
		AppserviceID:  c.Appservice.ID,
		Token:         c.Appservice.ASToken.Value(),
		Owner:         c.Owner,
		Bot:           c.BotID(),
		BotName:       c.Appservice.Bot.DisplayName,
		Operators:     c.Operators,
		OperatorsRoom: c.Business.Escalation.Room,
	}
}

// ProbeHomeserver checks that a Matrix homeserver answers at an address. It needs no token.
func ProbeHomeserver(ctx context.Context, address string) Result {
	_, result := probeServer(ctx, appservice.NewInspector(appservice.Access{URL: address}), address)
	return result
}

func probeServer(ctx context.Context, hs *appservice.Inspector, address string) (appservice.ServerInfo, Result) {
	info, err := hs.Server(ctx)
	switch {
	case errors.Is(err, appservice.ErrNotMatrix):
		return info, oneFinding(HomeserverNotMatrix, fmt.Sprintf("What answers at %s is no Matrix homeserver (%v).", address, err),
			"homeserver.address: the address of Synapse's client listener, such as http://127.0.0.1:8008")
	case err != nil:
		return info, oneFinding(HomeserverUnreachable, fmt.Sprintf("No homeserver answers at %s: %v.", address,
			causeOf(err, appservice.ErrUnreachable)),
			"systemctl status matrix-synapse   (and check homeserver.address)")
	}
	name := "homeserver"
	if info.Name != "" {
		name = text.Clip(text.OneLine(info.Name+" "+info.Version), 60)
	}
	return info, Result{Fact: fmt.Sprintf("%s at %s, %s", name, address, text.Latency(info.Took))}
}

// causeOf returns the text of err without the leading text of sentinel, which err wraps.
func causeOf(err, sentinel error) string {
	cause := err.Error()
	for _, prefix := range []string{sentinel.Error() + ": ", sentinel.Error() + " "} {
		if len(cause) > len(prefix) && cause[:len(prefix)] == prefix {
			return cause[len(prefix):]
		}
	}
	return cause
}

// notAnswered returns why a check is skipped whose question the homeserver did not answer. Other checks report the cause.
func notAnswered(err error) string {
	switch {
	case errors.Is(err, appservice.ErrUnknownToken):
		return "the homeserver does not know the as_token"
	case errors.Is(err, appservice.ErrNotCovered), errors.Is(err, appservice.ErrNoUser):
		return "the homeserver does not let multis act as you"
	case errors.Is(err, appservice.ErrNotMatrix):
		return "what answers at homeserver.address is not a homeserver"
	case errors.Is(err, appservice.ErrUnreachable):
		return "the homeserver does not answer"
	}
	return "the homeserver refuses: " + text.OneLine(err.Error())
}

// maxClockSkew is how far the clocks of the homeserver and multis may differ. If they differ more, fresh messages look old or seem to come
// from the future.
const maxClockSkew = 30 * time.Second

// homeserverFix returns the line that repairs the address or the homeserver, if what Synapse and config.yaml say is enough to know it.
func homeserverFix(ctx context.Context, in *Input, f Finding) string {
	switch address := in.Config.Homeserver.Address; {
	case in.Synapse != nil && in.Synapse.Address != "" && in.Synapse.Address != address &&
		(f.ID == HomeserverNotMatrix || f.ID == HomeserverUnreachable && isConnectable(ctx, in.Synapse.Address)):
		return "multis config set homeserver.address " + text.ShellWord(in.Synapse.Address) + " && " + in.start() + "   (what " +
			in.Synapse.Config + " says)"
	case f.ID == HomeserverUnreachable && IsLoopback(hostOf(address)):
		return in.restartSynapse() + "   (if it stays, Synapse's log says why; or correct homeserver.address)"
	}
	return f.Fix
}

// isConnectable reports whether something listens at the address of a homeserver.
func isConnectable(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	const patience = 2 * time.Second
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was written
	return true
}

func checkHomeserver(ctx context.Context, in *Input) (Result, string) {
	if in.Config == nil {
		return Result{}, skippedNoConfig
	}
	info, result := probeServer(ctx, in.Homeserver, in.Config.Homeserver.Address)
	if !result.OK() {
		result.Findings[0].Fix = homeserverFix(ctx, in, result.Findings[0])
		return result, ""
	}
	if skew := info.ClockAhead.Abs(); skew > maxClockSkew {
		result.Findings = append(result.Findings, newFinding(ClockSkew, "",
			fmt.Sprintf("The clocks of multis and the homeserver differ by %s.", skew.Round(time.Second)),
			"timedatectl set-ntp true   (on both machines)"))
	}
	return result, ""
}
