package doctor

import (
	"context"
	"errors"
	"fmt"

	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/config"
	"multis/internal/text"
)

// ProbeRegistration checks that the homeserver has loaded the registration of a configuration: its token, its own user, the bot, the owner
// and the right to create devices.
func ProbeRegistration(ctx context.Context, c *config.Config) Result {
	return probeRegistration(ctx, appservice.NewInspector(AccessOf(c)), c, usualInstall())
}

// probeRegistration is ProbeRegistration with a given fix: install is the shell line that gives Synapse the registration.
func probeRegistration(ctx context.Context, hs *appservice.Inspector, c *config.Config, install string) Result {
	sender, err := hs.WhoAmI(ctx, "")
	switch {
	case errors.Is(err, appservice.ErrUnknownToken):
		return oneFinding(RegistrationToken,
			"The homeserver does not know the as_token of config.yaml: the registration is not installed, or an older one is.",
			install)
	case errors.Is(err, appservice.ErrUnreachable), errors.Is(err, appservice.ErrNotMatrix):
		return Result{} // the check of the homeserver reports it
	case err != nil:
		return oneFinding(RegistrationToken, fmt.Sprintf("The homeserver refuses multis: %v.", err), install)
	}
	var result Result
	if want := id.NewUserID(c.Appservice.SenderLocalpart, c.Homeserver.Domain); sender != want {
		if sender.Homeserver() != c.Homeserver.Domain {
			return oneFinding(HomeserverDomain, fmt.Sprintf("The homeserver's name is %s, and config.yaml says %s.", sender.Homeserver(),
				c.Homeserver.Domain),
				"homeserver.domain: "+sender.Homeserver()+"   (then multis -g, and give Synapse the new registration)")
		}
		result.Findings = append(result.Findings, newFinding(RegistrationDrift, "sender_localpart",
			fmt.Sprintf("Synapse's registration differs from config.yaml: its sender_localpart is %s, not %s.", sender.Localpart(),
				want.Localpart()), install))
	}
	result.Findings = append(result.Findings, probeUsers(ctx, hs, c, install)...)
	result.Findings = append(result.Findings, probeDevices(ctx, hs, install)...)
	result.Fact = "the homeserver has loaded the registration " + c.Appservice.ID
	return result
}

// probeUsers checks that multis may act as the bot and as the owner.
func probeUsers(ctx context.Context, hs *appservice.Inspector, c *config.Config, install string) []Finding {
	var found []Finding
	if _, err := hs.WhoAmI(ctx, c.BotID()); errors.Is(err, appservice.ErrNotCovered) {
		found = append(found, newFinding(RegistrationBot, "", fmt.Sprintf("The registration in Synapse does not cover the bot %s.", c.BotID()),
			install))
	}
	switch _, err := hs.WhoAmI(ctx, c.Owner); {
	case errors.Is(err, appservice.ErrNoUser) && c.Owner == config.UnpairedOwner(c.Homeserver.Domain):
		found = append(found, newFinding(OwnerAccount, "", "multis has no owner yet: nobody has sent the code of multis init --pair.",
			AsRoot("multis init --pair")))
	case errors.Is(err, appservice.ErrNoUser):
		found = append(found, newFinding(OwnerAccount, "", MissingAccount(c.Owner),
			fmt.Sprintf("owner: \"@you:%s\"   (your own id; or make the account: %s)", c.Homeserver.Domain, AccountLine(c.Owner.Localpart()))))
	case errors.Is(err, appservice.ErrNotCovered):
		found = append(found, newFinding(RegistrationOwner, "", fmt.Sprintf("The registration in Synapse does not cover the owner %s.", c.Owner),
			install))
	}
	return found
}

func probeDevices(ctx context.Context, hs *appservice.Inspector, install string) []Finding {
	manages, known, err := hs.ManagesDevices(ctx)
	if err != nil {
		return nil
	}
	if !known || manages {
		return nil
	}
	return []Finding{newFinding(RegistrationDevices, "",
		"The homeserver does not let multis create its devices (MSC4190), so it can neither decrypt nor repeat a send safely.",
		install+"   (it has io.element.msc4190: true; if Synapse has that already, upgrade Synapse)")}
}

// ProbePing makes the homeserver call multis, which must be running.
func ProbePing(ctx context.Context, c *config.Config) Result {
	result, _ := probePing(ctx, appservice.NewInspector(AccessOf(c)), c, usualInstall(), (&Input{}).start())
	return result
}

// probePing is ProbePing; install is the fix that gives Synapse the registration, and start the one that starts multis.
// If the homeserver was not asked, the reason is returned instead.
func probePing(ctx context.Context, hs *appservice.Inspector, c *config.Config, install, start string) (result Result, skipped string) {
	took, err := hs.Ping(ctx)
	if err == nil {
		return Result{Fact: fmt.Sprintf("the homeserver reaches multis at %s, %s", c.Appservice.Address, text.Latency(took))}, ""
	}
	if result = explainPing(err, c, install, start); result.OK() { // the checks of the homeserver and the registration report it
		skipped = notAnswered(err)
	}
	return result, skipped
}

// explainPing returns the finding for a failed ping; none if the homeserver did not try to reach multis.
func explainPing(err error, c *config.Config, install, start string) Result {
	switch {
	case errors.Is(err, appservice.ErrPingToken):
		return oneFinding(PingToken, "The homeserver's hs_token differs from the one in config.yaml.", install)
	case errors.Is(err, appservice.ErrPingID):
		return Result{Findings: []Finding{newFinding(RegistrationDrift, "id",
			fmt.Sprintf("Synapse knows multis under another registration id than %s.", c.Appservice.ID), install)}}
	case errors.Is(err, appservice.ErrPingNoURL):
		return oneFinding(PingNoURL, "The registration in Synapse has no url, so nothing is pushed to multis.", install)
	case errors.Is(err, appservice.ErrPingOther):
		return oneFinding(PingOther, fmt.Sprintf("A different program answers at %s (%v).", c.Appservice.Address,
			causeOf(err, appservice.ErrPingOther)),
			fmt.Sprintf("appservice.port: a port that no other program uses   (here and in the registration: multis -g; ss -ltnp | grep %d shows which program it is)", c.Appservice.Port))
	case errors.Is(err, appservice.ErrPingNoAnswer):
		return explainUnreachable(c, start)
	default:
		return Result{}
	}
}

// explainUnreachable explains why the homeserver does not reach multis.
func explainUnreachable(c *config.Config, start string) Result {
	if IsLoopback(c.Appservice.Hostname) && !IsLoopback(hostOf(c.Appservice.Address)) {
		return oneFinding(PingLoopback,
			fmt.Sprintf("multis listens on %s, where only this machine or container reaches it, and the homeserver calls %s.", c.Appservice.Hostname,
				c.Appservice.Address),
			"multis config set appservice.hostname 0.0.0.0 && "+start+"   (keep the port closed to the internet)")
	}
	return oneFinding(PingNoAnswer, fmt.Sprintf("The homeserver gets no answer at %s.", c.Appservice.Address),
		"appservice.address: the address at which Synapse reaches multis   (from a container usually http://multis:29399 or http://host.docker.internal:29399), then multis -g")
}
