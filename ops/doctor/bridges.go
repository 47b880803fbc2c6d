package doctor

import (
	"context"
	"fmt"
	"time"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/store"
)

// networkName returns the name of a network as people know it.
func networkName(protocol string) string { return text.OneLine(bridgebridge.NetworkName(protocol)) }

// checkBridges checks the connections and settings of the bridges, and whether bots that claim to be a bridge wait for
// the owner's decision.
func checkBridges(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	db := in.Database.DB()
	var r Result
	add := func(id ID, protocol, subject, message, fix string) {
		f := newFinding(id, subject, message, fix)
		f.Network = protocol
		r.Findings = append(r.Findings, f)
	}
	down, err := store.BridgesDown(ctx, db)
	if err != nil {
		return failedCheck(err), ""
	}
	for _, s := range down {
		name := networkName(s.Protocol)
		if s.Reason == store.SilentBridge {
			add(BridgeDown, s.Protocol, name, fmt.Sprintf("The %s bridge does not confirm messages since %s.", name, in.clockTime(*s.DownSince)),
				"look whether the bridge runs, and restart it")
			continue
		}
		add(BridgeDown, s.Protocol, name, fmt.Sprintf("%s says: %s (since %s).", name, text.Clip(text.OneLine(s.Reason), 200),
			in.clockTime(*s.DownSince)), fmt.Sprintf("write  login  to %s in your Matrix client", s.Bot))
	}
	bridges, err := store.BridgeSettingsEvidence(ctx, db, in.Now())
	if err != nil {
		return failedCheck(err), ""
	}
	for _, b := range bridges {
		name := networkName(b.Protocol)
		if b.AsGhost {
			add(BridgeDoublePuppet, b.Protocol, name,
				fmt.Sprintf("Double puppeting is off on %s: what you type on the phone comes from a ghost instead of you.", name),
				fmt.Sprintf("in the bridge's config.yaml:  double_puppet: {secrets: {%s: \"as_token:...\"}}   (docs.mau.fi/bridges/general/double-puppeting.html makes the token; then restart the bridge)", in.Config.Homeserver.Domain))
		}
		if b.Unconfirmed >= minUnconfirmedMessages && b.Confirmed == 0 {
			add(BridgeStatus, b.Protocol, name, fmt.Sprintf("The %s bridge does not say whether messages arrive (%d sent, none confirmed).", name,
				b.Unconfirmed),
				"in the bridge's config.yaml:  matrix: {message_status_events: true}   (then restart the bridge)")
		}
	}
	bots, err := checkBots(ctx, in)
	if err != nil {
		return failedCheck(err), ""
	}
	r.Fact, r.Findings = text.Count(len(bridges), "bridge"), append(r.Findings, bots...)
	return r, ""
}

// minUnconfirmedMessages is the number of unconfirmed messages from which a bridge that has confirmed none is reported.
const minUnconfirmedMessages = 2

// checkBots lists the bots that wait for the owner's decision.
func checkBots(ctx context.Context, in *Input) ([]Finding, error) {
	var found []Finding
	unconfirmed, err := store.UnconfirmedBots(ctx, in.Database.DB())
	if err != nil {
		return nil, err
	}
	for _, b := range unconfirmed {
		if b.RefusedAt == nil {
			f := newFinding(BridgeUnconfirmed, b.Bot.String(),
				fmt.Sprintf("%s says it is a %s bridge, and you have not confirmed it; its chats are silent.", b.Bot, networkName(b.Protocol)),
				"/bridges accept "+b.Bot.String()+"   (in the admin room, if the name is that in your bridge's config)")
			f.Network = b.Protocol
			found = append(found, f)
		}
	}
	claims, err := store.UnacceptedBridgeChanges(ctx, in.Database.DB())
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		if c.DecidedAt != nil {
			continue
		}
		f := newFinding(BridgeClaim, c.NewBot.String(), fmt.Sprintf("%s claims %s of %s.", c.NewBot, text.Count(c.Chats, "chat"), c.OldBot),
			"/bridges accept "+c.NewBot.String()+"   (in the admin room, if you set that bridge up again)")
		f.Network = c.Protocol
		found = append(found, f)
	}
	return found, nil
}

// clockTime returns a time as text for people, in the owner's time zone.
func (in *Input) clockTime(t time.Time) string {
	zone := time.UTC
	if in.Config != nil && in.Config.TimeZone != nil {
		zone = in.Config.TimeZone
	}
	return t.In(zone).Format("Mon 2 Jan 15:04")
}
