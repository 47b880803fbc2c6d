package appservice

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain_WrongInstallation(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		homeserver http.HandlerFunc // nil: nobody listens
		ping       bool             // else: make the bot's account
		want       string
	}{
		"nobody listens at the address": {want: "check homeserver.address"},
		"a web server that is no homeserver": {
			homeserver: answer(404, "<html>"),
			want:       "this is not a Matrix homeserver: check homeserver.address",
		},
		"a registration that was not added": {homeserver: answer(401, `{"errcode":"M_UNKNOWN_TOKEN"}`), want: "add registration.yaml"},
		"a bot that the registration lacks": {homeserver: answer(400, `{"errcode":"M_EXCLUSIVE"}`), want: "write it again with multis -g"},
		"an owner without an account": {homeserver: answer(403,
			`{"errcode":"M_FORBIDDEN","error":"Application service has not registered this user (@you:x)"}`), want: "no such account: check owner"},
		"an owner that the registration lacks": {homeserver: answer(403,
			`{"errcode":"M_FORBIDDEN","error":"Application service cannot masquerade as this user (@you:x)."}`), want: "does not cover it"},
		"a ping that does not reach us": {
			ping: true, homeserver: answer(502, `{"errcode":"M_CONNECTION_FAILED"}`),
			want: "check appservice.address",
		},
		"a ping that comes with another token": {
			ping: true, homeserver: answer(502, `{"errcode":"M_BAD_STATUS","error":"HTTP 403 Forbidden"}`),
			want: "another hs_token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.homeserver)
			t.Cleanup(server.Close)
			if c.homeserver == nil {
				server.Close()
			}
			h, err := NewHomeserver(nil, Access{
				URL:          server.URL,
				AppserviceID: "multis",
				Token:        "as",
				Owner:        "@you:x",
				Bot:          "@multis:x",
			})
			require.NoError(t, err)
			step := h.registerBot
			if c.ping {
				step = h.Ping
			}
			require.ErrorContains(t, step(t.Context()), c.want)
		})
	}
}

// Synapse reports this after multis answered, if the timer that it wants to stop has run off, or an earlier ping has
// stopped it, and Synapse is still pushing what it kept.
func TestExplain_PingCrossingPush(t *testing.T) {
	t.Parallel()
	for _, problem := range []string{
		"AlreadyCalled: Tried to cancel an already-called event.",
		"AlreadyCancelled: Tried to cancel an already-cancelled event.",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprintf(w, `{"errcode":"M_CONNECTION_FAILED","error":%q}`, problem)
		}))
		t.Cleanup(server.Close)
		access := Access{
			URL:          server.URL,
			AppserviceID: "multis",
			Token:        "as",
			Owner:        "@you:x",
			Bot:          "@multis:x",
		}
		h, err := NewHomeserver(nil, access)
		require.NoError(t, err)
		require.NoError(t, h.Ping(t.Context()), problem)
		_, err = NewInspector(access).Ping(t.Context())
		require.NoError(t, err, problem)
	}
}
