package doctor

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/crypto/canonicaljson"

	"multis/config"
)

// homeserver is a healthy homeserver that knows multis. Its fields break it.
type homeserver struct {
	url string

	mu         sync.Mutex
	mas        bool // accounts are managed by the Matrix Authentication Service, so there is no login
	noDevices  bool // multis has no session
	unverified bool // the owner has cross-signing keys, and the session of multis is not signed

	unknownToken  bool // it does not know multis
	cannotReachUs bool // its ping of multis gets no answer

	extra []string // who is in the rooms beside the owner and multis
}

// set changes the homeserver.
func (h *homeserver) set(change func(*homeserver)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// breakHomeserver returns a step that changes the homeserver.
func breakHomeserver(change func(*homeserver)) func(*world) {
	return func(w *world) { w.homeserver.set(change) }
}

func newHomeserver(t *testing.T) *homeserver {
	t.Helper()
	h := &homeserver{}
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(r *http.Request) (status int, body any)) {
		mux.HandleFunc(pattern, func(rw http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			defer h.mu.Unlock()
			status, body := answer(r)
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			assertNoError(t, json.NewEncoder(rw).Encode(body))
		})
	}
	ok := func(body map[string]any) func(*http.Request) (int, any) {
		return func(*http.Request) (int, any) { return http.StatusOK, body }
	}
	refused := func(status int, code string) (int, any) {
		return status, map[string]string{"errcode": code, "error": code}
	}
	handle("/", func(*http.Request) (int, any) { return refused(http.StatusNotFound, "M_UNRECOGNIZED") })
	handle("GET /_matrix/client/versions", ok(map[string]any{"versions": []string{"v1.12"}}))
	handle("GET /_matrix/federation/v1/version", ok(map[string]any{"server": map[string]string{"name": "Synapse", "version": "1.160.0"}}))
	handle("GET /_matrix/client/v1/auth_metadata", func(*http.Request) (int, any) {
		if !h.mas {
			return refused(http.StatusNotFound, "M_UNRECOGNIZED")
		}
		return http.StatusOK, map[string]string{"issuer": "https://auth.example.org/"}
	})
	handle("GET /_matrix/client/v3/account/whoami", func(r *http.Request) (int, any) {
		if h.unknownToken {
			return refused(http.StatusUnauthorized, "M_UNKNOWN_TOKEN")
		}
		user := r.URL.Query().Get("user_id")
		if user == "" {
			user = "@as_multis_7hq2c9xk:example.org"
		}
		return http.StatusOK, map[string]string{"user_id": user}
	})
	handle("POST /_matrix/client/v3/login", func(*http.Request) (int, any) {
		if h.mas {
			return refused(http.StatusNotFound, "M_UNRECOGNIZED")
		}
		return refused(http.StatusBadRequest, "IO.ELEMENT.MSC4190.M_APPSERVICE_LOGIN_UNSUPPORTED")
	})
	handle("POST /_matrix/client/v1/appservice/{id}/ping", func(*http.Request) (int, any) {
		if h.unknownToken {
			return refused(http.StatusUnauthorized, "M_UNKNOWN_TOKEN")
		}
		if h.cannotReachUs {
			return refused(http.StatusBadGateway, "M_CONNECTION_FAILED")
		}
		return http.StatusOK, map[string]any{"duration_ms": 2}
	})
	handle("GET /_matrix/client/v3/joined_rooms", func(*http.Request) (int, any) {
		if h.unknownToken {
			return refused(http.StatusUnauthorized, "M_UNKNOWN_TOKEN")
		}
		return http.StatusOK, map[string]any{"joined_rooms": []string{"!admin:example.org", "!ana:example.org"}}
	})
	handle("GET /_matrix/client/v3/rooms/{room}/members", func(*http.Request) (int, any) {
		var members []any
		for _, who := range append([]string{"@you:example.org", "@multis:example.org"}, h.extra...) {
			members = append(members, map[string]any{
				"type": "m.room.member", "state_key": who, "sender": who,
				"content": map[string]string{"membership": "join"},
			})
		}
		return http.StatusOK, map[string]any{"chunk": members}
	})
	handle("GET /_matrix/client/v1/rooms/{room}/hierarchy", ok(map[string]any{"rooms": []any{}}))
	handle("GET /_matrix/client/v3/devices/{device}", func(r *http.Request) (int, any) {
		if h.noDevices {
			return refused(http.StatusNotFound, "M_NOT_FOUND")
		}
		return http.StatusOK, map[string]string{"device_id": r.PathValue("device")}
	})
	handle("POST /_matrix/client/v3/keys/query", func(r *http.Request) (int, any) {
		return http.StatusOK, keysOf(t, r.URL.Query().Get("user_id"), !h.unverified)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// keysOf returns the keys of a user whose cross-signing key signed the session of multis, or did not.
func keysOf(t *testing.T, user string, signed bool) map[string]any {
	t.Helper()
	device := "MULTIS_BOT"
	if user == "@you:example.org" {
		device = "MULTIS_OWNER"
	}
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public, _ := private.Public().(ed25519.PublicKey)
	key := base64.RawStdEncoding.EncodeToString(public)
	keys := map[string]any{
		"user_id": user, "device_id": device, "algorithms": []string{}, "keys": map[string]string{"ed25519:" + device: key},
	}
	if signed {
		canonical, err := canonicaljson.Marshal(keys)
		assertNoError(t, err)
		keys["signatures"] = map[string]any{user: map[string]string{"ed25519:" +
			key: base64.RawStdEncoding.EncodeToString(ed25519.Sign(private, canonical))}}
	}
	signing := map[string]any{"user_id": user, "usage": []string{"self_signing"}, "keys": map[string]string{"ed25519:" + key: key}}
	return map[string]any{
		"device_keys":       map[string]any{user: map[string]any{device: keys}},
		"self_signing_keys": map[string]any{user: signing},
	}
}

// assertNoError is for the goroutines of a server, which must not end the test.
func assertNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestHomeserver_UnknownRegistrationSkipsRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.homeserver.set(func(h *homeserver) { h.unknownToken = true })
	report := Run(t.Context(), w.openInput())
	require.Equal(t, []ID{RegistrationRestart}, ids(report.Findings()))
	for _, s := range report.Sections {
		if slices.Contains([]string{"appservice", "admin room", "chats"}, s.Name) {
			require.Equal(t, "the homeserver does not know the as_token", s.Skipped, s.Name)
		}
	}
}

func TestHomeserver_OtherServerIsOnlyFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { // as Synapse's federation listener does
		rw.WriteHeader(http.StatusNotFound)
		_, err := rw.Write([]byte(`{"errcode":"M_UNRECOGNIZED","error":"Unrecognized request"}`))
		assertNoError(t, err)
	}))
	t.Cleanup(other.Close)
	_, err := config.Set(w.paths.Config, "homeserver.address", other.URL)
	require.NoError(t, err)
	require.Equal(t, []ID{HomeserverNotMatrix}, w.findingIDs())
}

// Nobody answers at the address in config.yaml, and Synapse at the one in its own configuration.
func TestHomeserver_WrongPortIsNotStopped(t *testing.T) {
	t.Parallel()
	synapse := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(synapse.Close)
	in := &Input{
		Config:  &config.Config{},
		Synapse: &Synapse{Config: "/etc/homeserver.yaml", Address: synapse.URL, Restart: "systemctl restart matrix-synapse"},
		Start:   "systemctl restart multis",
	}
	in.Config.Homeserver.Address = "http://127.0.0.1:1"
	require.Equal(t, "multis config set homeserver.address "+synapse.URL+" && systemctl restart multis   (what /etc/homeserver.yaml says)",
		homeserverFix(t.Context(), in, Finding{ID: HomeserverUnreachable}))
	synapse.Close()
	require.Contains(t, homeserverFix(t.Context(), in, Finding{ID: HomeserverUnreachable}), "systemctl restart matrix-synapse   (",
		"neither answers")
}

func brokenHomeserver() []breakage {
	return []breakage{
		{"logins at MAS", HomeserverMAS, breakHomeserver(func(h *homeserver) {
			h.mas, h.noDevices = true, true
		}), "", breakHomeserver(func(h *homeserver) { h.noDevices = false })},
		{"in a container", PingLoopback, func(w *world) {
			for key, value := range map[string]string{"appservice.hostname": "127.0.0.1", "appservice.address": "http://multis:29399"} {
				_, err := config.Set(w.paths.Config, key, value)
				require.NoError(w.t, err)
			}
			w.register()
			w.homeserver.set(func(h *homeserver) { h.cannotReachUs = true })
		}, "", breakHomeserver(func(h *homeserver) { h.cannotReachUs = false })},
		{"left out of operators", FormerOperator, func(w *world) {
			w.homeserver.set(func(h *homeserver) { h.extra = []string{"@eva:example.org"} })
			setYAML("operators: [\"@eva:example.org\"]\n")(w)
			require.Empty(w.t, w.findingIDs())
			w.write(w.paths.Config, w.yaml)
		}, inClient, breakHomeserver(func(h *homeserver) { h.extra = nil })},
		{"still in the room for operators", FormerOperator, func(w *world) {
			w.exec("insert into chats (protocol, channel_id, kind, room_id, encrypted, for_operators) values ('admin', 'operators', 'admin', '!operators:example.org', 'no', true)")
			setYAML("business: {escalation: {room: true}}\n")(w)
			require.Empty(w.t, w.findingIDs())
			w.homeserver.set(func(h *homeserver) { h.extra = []string{"@eva:example.org"} })
		}, inClient, breakHomeserver(func(h *homeserver) { h.extra = nil })},
		{"deleted by a client", DeviceMissing, breakHomeserver(func(h *homeserver) {
			h.noDevices = true
		}), "", breakHomeserver(func(h *homeserver) { h.noDevices = false })},
		{"not signed", DeviceUnverified, func(w *world) {
			w.exec("update chats set encrypted = 'yes' where channel_id = 'ana'")
			require.Empty(w.t, w.findingIDs())
			w.homeserver.set(func(h *homeserver) { h.unverified = true })
		}, asks, breakHomeserver(func(h *homeserver) { h.unverified = false })},
	}
}
