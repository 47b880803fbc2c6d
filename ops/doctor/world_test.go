package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/appservice"
	"multis/config"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// world is an installation: files, a database, a homeserver, and the address at which multis answers.
type world struct {
	t          *testing.T
	dir        string
	st         *store.Store
	dsn        string
	yaml       string // of config.yaml
	free       uint64
	sandbox    error // why no command is run
	start      error // why multis would not start
	port       int
	paths      Paths
	named      string // a file that names the registrations that Synapse is told of
	homeserver *homeserver
	programs   error       // why multis cannot start its own Postgres
	restore    Restore     // that has not ended
	other      *store.Lock // of another process
}

// showTwoConfigs starts two processes whose configurations differ; w.other is the second.
func showTwoConfigs(w *world) {
	start := func(n int, fingerprint string) *store.Lock {
		lock, ok, err := w.st.TryLock(w.t.Context(), store.LockClient, n)
		require.NoError(w.t, err)
		require.True(w.t, ok)
		w.t.Cleanup(func() { lock.Release(context.Background()) })
		require.NoError(w.t, lock.ShowConfig(w.t.Context(), fingerprint, "1.2 (commit abc)"))
		return lock
	}
	start(1, "aaaa")
	same := start(2, "aaaa")
	require.NoError(w.t, same.ShowConfig(w.t.Context(), "bbbb", "1.3"))
	require.Empty(w.t, w.findingIDs(), "another version has other keys")
	w.other = start(3, "bbbb")
}

const minimalYAML = `homeserver:
  address: %HOMESERVER%
  domain: example.org
appservice:
  port: %PORT%
  sender_localpart: as_multis_7hq2c9xk
  as_token: as-token-of-this-test
  hs_token: hs-token-of-this-test
owner: "@you:example.org"
time_zone: Europe/Berlin
database:
  url: %DSN%
  data_dir: %DIR%
`

// newWorld returns a healthy installation, in which multis runs and has received messages.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), dsn: healthyDSN(t), free: 100 << 30}
	st, err := store.Open(context.Background(), w.dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	w.st = st
	multis := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("{}")) }))
	t.Cleanup(multis.Close)
	addr, ok := multis.Listener.Addr().(*net.TCPAddr)
	require.True(t, ok)
	w.port = addr.Port
	w.paths = Paths{Config: filepath.Join(w.dir, "config.yaml"), Registration: filepath.Join(w.dir, "registration.yaml")}
	w.named = filepath.Join(w.dir, "synapse-names")
	w.homeserver = newHomeserver(t)
	w.yaml = strings.NewReplacer("%HOMESERVER%", w.homeserver.url, "%PORT%", strconv.Itoa(w.port), "%DSN%", `"`+w.dsn+`"`, "%DIR%",
		w.dir).Replace(minimalYAML)
	w.write(w.paths.Config, w.yaml)
	w.exec(`insert into settings (key, value) values ('owner_device', '{"id": "MULTIS_OWNER"}'), ('bot_device', '{"id": "MULTIS_BOT"}')`)
	w.register()
	w.exec("insert into chats (protocol, channel_id, kind, room_id, encrypted) values ('admin', 'admin', 'admin', '!admin:example.org', 'no')")
	w.exec("insert into chats (protocol, channel_id, kind, room_id, name, bridge_bot, encrypted) values ('whatsapp', 'ana', 'dm', '!ana:example.org', 'Ana', '@whatsappbot:example.org', 'no')")
	w.exec("insert into bridge_bots (bot, protocol, confirmed_at) values ('@whatsappbot:example.org', 'whatsapp', now())")
	w.exec(`insert into settings (key, value) values ('pushed_at', to_jsonb(now())), ('welcomed', 'true')`)
	w.message("fresh", "@ana:example.org", "contact")
	return w
}

// endOtherConfig ends the second process and waits until Postgres has noticed that.
func endOtherConfig(w *world) {
	w.other.Release(w.t.Context())
	require.Eventually(w.t, func() bool {
		n, err := store.ConfigsInUse(w.t.Context(), w.st.DB())
		return err == nil && n == 1
	}, time.Minute, 10*time.Millisecond)
}

// register gives Synapse the registration of the present configuration.
func (w *world) register() {
	w.t.Helper()
	text, err := config.Registration(w.openInput().Config)
	require.NoError(w.t, err)
	loaded := filepath.Join(w.dir, "synapse-registration.yaml")
	w.write(w.paths.Registration, string(text))
	w.write(loaded, string(text))
	w.write(w.named, loaded)
}

// synapse is the Synapse on the machine of multis.
func (w *world) synapse() *Synapse {
	loaded := filepath.Join(w.dir, "synapse-registration.yaml")
	s := &Synapse{
		Config: "/etc/matrix-synapse/homeserver.yaml",
		Install: AsRoot(fmt.Sprintf("sh -c 'install -m 640 %s %s && echo %[2]s > %s && systemctl restart matrix-synapse'", w.paths.Registration,
			loaded, w.named)),
		Restart: AsRoot("systemctl restart matrix-synapse"),
	}
	if names, err := os.ReadFile(w.named); err == nil {
		s.Registrations = strings.Fields(string(names))
	}
	return s
}

// contents returns a digest of each table.
func (w *world) contents() map[string]string {
	w.t.Helper()
	digests := map[string]string{}
	rows, err := w.st.Pool().Query(w.t.Context(),
		"select oid::regclass::text from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'river', 'matrix')")
	require.NoError(w.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	require.NoError(w.t, w.st.ReadAll(w.t.Context(), func(tx store.Tx) error {
		for _, table := range tables {
			var digest string
			if err := tx.QueryRow(w.t.Context(), "select md5(coalesce(string_agg(x::text, '|' order by x::text), '')) from "+table+
				" x").Scan(&digest); err != nil {
				return err
			}
			digests[table] = digest
		}
		return nil
	}))
	return digests
}

// files returns the bytes, modes and times of all files.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = info.Mode().String() + info.ModTime().String() + string(data)
		return err
	}))
	return all
}

func (w *world) write(path, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.st.Pool().Exec(w.t.Context(), sql, args...)
	require.NoError(w.t, err, sql)
}

func (w *world) message(event, sender, author string) {
	w.t.Helper()
	w.exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason)
		select id, $1, $3, $2, 'text', 'hello', now(), 'store', 'silent', 'The chat is silent.' from chats where channel_id = 'ana'`, event,
		sender, author)
}

// addSentMessage stores a message of ours in a state.
func (w *world) addSentMessage(state string) {
	w.t.Helper()
	w.exec(`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, event_id, sent_at)
		select gen_random_uuid(), id, 'owner', 'reply', 'm.room.message', '{}', 'ok', 'x', $1, gen_random_uuid()::text, now() - interval '1 hour' from chats where channel_id = 'ana'`, state)
}

// openInput opens the installation as multis doctor does.
func (w *world) openInput() *Input {
	w.t.Helper()
	in := &Input{
		Synapse:     w.synapse(),
		Paths:       w.paths,
		Now:         time.Now,
		FreeBytes:   func(string) (uint64, error) { return w.free, nil },
		Database:    w.st.Inspector(),
		HasSchema:   true,
		ProgramsErr: w.programs,
		Restore:     w.restore,
	}
	if in.Config, in.ConfigErr = config.Load(w.paths.Config); in.ConfigErr != nil {
		in.Config = nil
		return in
	}
	in.Defaults = policy.Defaults{Profile: in.Config.Chats.Profile, FirstDelivery: in.Config.Chats.FirstDelivery}
	in.TestSandbox = func(context.Context) (string, error) { return "landlock", w.sandbox }
	in.CheckStart = func(context.Context) error { return w.start }
	in.Homeserver = appservice.NewInspector(AccessOf(in.Config))
	prices := map[string]llm.Price{}
	for _, p := range in.Config.LLM.Prices {
		prices[p.Model] = llm.Price{In: int64(p.In), Out: int64(p.Out)}
	}
	providers := map[string]llm.Provider{}
	for name, p := range in.Config.LLM.Providers {
		providers[name] = llm.Provider{Protocol: llm.Protocol(p.Type), BaseURL: p.BaseURL, APIKey: p.APIKey.Value(), Local: p.Local}
	}
	models, err := llm.New(llm.Options{Providers: providers, Prices: prices, PerDollar: 1_000_000})
	require.NoError(w.t, err)
	in.Models = models
	return in
}

// findingIDs returns the ids of all findings.
func (w *world) findingIDs() []ID {
	w.t.Helper()
	var list []ID
	for _, f := range Run(w.t.Context(), w.openInput()).Findings() {
		require.NotEmpty(w.t, f.Message)
		require.NotEmpty(w.t, f.Fix, f.ID)
		list = append(list, f.ID)
	}
	return list
}

// provider is a server of models that speaks OpenAI's protocol: it accepts one key and has one model.
func provider(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer right-key":
			rw.WriteHeader(http.StatusUnauthorized)
			_, _ = rw.Write([]byte(`{"error":{"code":"invalid_api_key","message":"Incorrect API key"}}`))
		case r.URL.Path == "/v1/models":
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write([]byte(`{"object":"list","data":[{"id":"small","object":"model"}]}`))
		default:
			rw.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}
