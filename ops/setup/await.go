package setup

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/config"
	"multis/internal/sleep"
	"multis/ops/doctor"
)

// pollInterval is the time between two checks in AwaitSynapse and AwaitGreeting.
const pollInterval = time.Second

// AwaitSynapse waits until Synapse has loaded the registration and reaches multis. It returns the last result, which is not OK if ctx ended
// first. Until multis runs, AwaitSynapse itself answers Synapse's pings.
func AwaitSynapse(ctx context.Context, c *config.Config) doctor.Result {
	stop := answerPings(ctx, c)
	defer stop()
	var last doctor.Result
	for {
		if result := probeRegistration(ctx, c); ctx.Err() == nil {
			last = result
		}
		// An earlier request may have failed because Synapse was restarting. A Fact means that it answered.
		if last.Fact != "" && last.OK() {
			if ping := doctor.ProbePing(ctx, c); ctx.Err() == nil {
				last = ping
			}
			if last.Fact != "" && last.OK() {
				return last
			}
		}
		if sleep.For(ctx, pollInterval) != nil {
			return last
		}
	}
}

// HasRegistration reports whether Synapse has loaded the registration.
func HasRegistration(ctx context.Context, c *config.Config) bool {
	result := probeRegistration(ctx, c)
	return result.OK() && result.Fact != ""
}

// probeRegistration is doctor.ProbeRegistration, but leaves out the finding about the owner's account if the owner is not paired yet.
func probeRegistration(ctx context.Context, c *config.Config) doctor.Result {
	result := doctor.ProbeRegistration(ctx, c)
	if c.Owner == config.UnpairedOwner(c.Homeserver.Domain) {
		result.Findings = slices.DeleteFunc(result.Findings, func(f doctor.Finding) bool { return f.ID == doctor.OwnerAccount })
	}
	return result
}

// answerPings answers the homeserver's pings in place of multis until stop is called. Transactions are refused, so that the homeserver
// repeats them later. It does nothing if multis already listens.
func answerPings(ctx context.Context, c *config.Config) (stop func()) {
	a := c.Appservice
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(a.Hostname, strconv.Itoa(a.Port)))
	if err != nil {
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_matrix/app/v1/ping", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); subtle.ConstantTimeCompare([]byte(token),
			[]byte(a.HSToken.Value())) != 1 {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprintln(w, "{}")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	return func() { _ = server.Close() }
}

// AwaitGreeting waits until the admin room exists and contains the greeting. It returns a link to the room, or the finding that names the
// missing step.
func AwaitGreeting(ctx context.Context, look func(context.Context) (room string, written bool, err error)) (string, doctor.Result) {
	for {
		room, written, err := look(ctx)
		if err == nil && written {
			return room, doctor.Result{}
		}
		if sleep.For(ctx, pollInterval) != nil {
			message := "multis has not made the admin room yet."
			switch {
			case err != nil:
				message = fmt.Sprintf("The admin room cannot be looked for: %v.", err)
			case room != "":
				message = "The admin room is there, but multis has not written into it yet."
			}
			return room, failedResult(doctor.AdminRoom, message, "journalctl -u multis -n 20   (what multis says)")
		}
	}
}
