package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/jackc/pgx/v5"
	"go.mau.fi/util/random"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/deploy/devstack"
	"multis/e2e/rig"
)

//go:embed multis.yaml
var configTemplate string

// demo holds what the steps use.
type demo struct {
	out *transcript
	// dir is the folder of all data and logs.
	dir      string
	settings settings
	// model is the configured model that answers, or config.NoModel.
	model string
	// registration is the registration of multis, which Synapse reads when it starts.
	registration []byte
	rig          *rig.Rig
	multis       *rig.Multis
	// db is multis' database, opened as a superuser.
	db *pgx.Conn
	// admin is the owner's room with multis.
	admin id.RoomID
	// cookie is that of the owner's session with the web page; nil before it.
	cookie *http.Cookie
}

// settings are the values in multis' configuration that the demo sets.
type settings struct {
	Homeserver, Domain       string
	Port                     int
	Sender, ASToken, HSToken string
	Owner                    id.UserID
	Database                 string
	// ExecIn is the data folder while multis may run commands; else empty.
	ExecIn string
	// Model is the address of the scripted model; empty if there is none.
	Model string
	// Page is the host and port of the web page.
	Page string
}

// yaml returns the configuration.
func (s settings) yaml() ([]byte, error) {
	parsed, err := template.New("multis.yaml").Parse(configTemplate)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, s)
	return text.Bytes(), err
}

// prepare makes the folder and the configuration, which it validates. It starts no server.
func prepare(out *transcript) (*demo, error) {
	withModel := os.Getenv("DEMO_MODEL") == "1"
	for _, name := range overridingVariables(os.Environ(), withModel) {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	ports, err := devstack.FreePorts(2)
	if err != nil {
		return nil, err
	}
	d := &demo{out: out, settings: settings{
		Homeserver: "http://127.0.0.1", // start adds the port, which is known only then
		Domain:     devstack.Domain, Port: ports[0], Owner: rig.OwnerID,
		Page:   fmt.Sprintf("127.0.0.1:%d", ports[1]),
		Sender: "as_" + strings.ToLower(random.String(16)), ASToken: random.String(64), HSToken: random.String(64),
	}}
	text, err := d.settings.yaml()
	if err != nil {
		return nil, err
	}
	cfg, err := config.Parse("multis.yaml", text, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	d.model = cfg.LLM.Model
	if withModel && d.model == config.NoModel {
		return nil, errors.New("DEMO_MODEL=1 wants a language model: set MULTIS_LLM_MODEL, and its neighbours as docs/configuration.md says")
	}
	if d.registration, err = config.Registration(cfg); err != nil {
		return nil, err
	}
	d.dir, err = os.MkdirTemp("", "multis-demo-")
	return d, err
}

// overridingVariables returns the environment variables that would change the configuration. If the model is wanted,
// variables of the language model are not among them.
func overridingVariables(environment []string, withModel bool) []string {
	var names []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		ofModel := strings.HasPrefix(name, "MULTIS_LLM_") || strings.HasPrefix(name, "MULTIS_BUDGET_")
		if strings.HasPrefix(name, "MULTIS_") && name != "MULTIS_CACHE" && (!ofModel || !withModel) {
			names = append(names, name)
		}
	}
	return names
}

// describeAnswerSource says in words what the answers are made from.
func (d *demo) describeAnswerSource() string {
	if d.model == config.NoModel {
		return "the passages alone, without a language model (DEMO_MODEL=1 uses the one that MULTIS_LLM_MODEL names)"
	}
	return "the language model " + d.model
}

// start starts the homeserver, the bridge and multis, and makes the owner join the admin room.
func (d *demo) start(ctx context.Context) error {
	err := d.out.showWhile("bringing up Synapse, Postgres and a bridge", func() (err error) {
		d.rig, err = rig.Start(ctx, rig.Options{Dir: d.dir, Out: d.out, Registrations: [][]byte{d.registration}, Encryptable: true})
		return err
	})
	if err != nil {
		return err
	}
	d.settings.Homeserver = d.rig.Stack.HomeserverURL
	if d.settings.Database, err = d.makeDatabase(ctx); err != nil {
		return fmt.Errorf("make multis' database: %w", err)
	}
	if err := d.startMultis(ctx); err != nil {
		return err
	}
	return d.join(ctx)
}

func (d *demo) startMultis(ctx context.Context) error {
	text, err := d.settings.yaml()
	if err != nil {
		return err
	}
	return d.out.showWhile("building and starting multis", func() (err error) {
		d.multis, err = d.rig.StartMultis(ctx, text)
		return err
	})
}

// makeDatabase creates the database of multis. Row-level security applies to the role that owns it.
func (d *demo) makeDatabase(ctx context.Context) (string, error) {
	const name = "multis"
	if err := d.rig.Stack.CreateDatabase(ctx, name); err != nil {
		return "", err
	}
	super := d.rig.Stack.PostgresDSN(name)
	var err error
	if d.db, err = pgx.Connect(ctx, super); err != nil {
		return "", err
	}
	password := random.String(32) // letters and digits, which need no quoting
	_, err = d.db.Exec(ctx, "create role multis login createrole password '"+password+"'; alter database multis owner to multis")
	if err != nil {
		return "", err
	}
	address, err := url.Parse(super)
	if err != nil {
		return "", err
	}
	address.User = url.UserPassword("multis", password)
	return address.String(), nil
}

// join accepts the owner's invitation to the admin room.
func (d *demo) join(ctx context.Context) error {
	err := d.await(ctx, "the invitation to the admin room", func(ctx context.Context) (bool, error) {
		resp, err := d.rig.Owner.SyncRequest(ctx, 0, "", "", false, event.PresenceOffline)
		if err != nil {
			return false, err
		}
		for room, invitation := range resp.Rooms.Invite {
			for _, evt := range invitation.State.Events {
				if evt.Type == event.StateMember && evt.Sender == botID && evt.GetStateKey() == string(rig.OwnerID) {
					d.admin = room
				}
			}
		}
		return d.admin != "", nil
	})
	if err != nil {
		return err
	}
	if _, err := d.rig.Owner.JoinRoomByID(ctx, d.admin); err != nil {
		return fmt.Errorf("join the admin room: %w", err)
	}
	_, err = d.awaitReply(ctx, "", "multis is ready")
	return err
}

// printManualSteps prints how to continue by hand. up is true if all servers keep running.
func (d *demo) printManualSteps(up bool) {
	if !up {
		d.out.line("\nTo go on by hand, run this in a terminal: it stays up until Ctrl-C and prints the homeserver's address, the account for\n"+
			"Element (user %s, password %s), a line to speak as Ana, the address of the web page, and where the logs are.", rig.OwnerID.Localpart(), rig.OwnerPassword)
		return
	}
	d.out.line("\n%s", d.out.styled(bold, "Go on by hand"))
	d.out.line("   Element   homeserver %s, user %s, password %s; the admin room is called multis", d.rig.Stack.HomeserverURL,
		rig.OwnerID.Localpart(), rig.OwnerPassword)
	d.out.line("   you       curl -X PUT -H 'Authorization: Bearer %s' -d '{\"msgtype\":\"m.text\",\"body\":\"/help\"}' \\\n"+
		"               \"%s/_matrix/client/v3/rooms/%s/send/m.room.message/$RANDOM\"", d.rig.Owner.AccessToken, d.rig.Stack.HomeserverURL,
		url.PathEscape(string(d.admin)))
	d.out.line("   as Ana    curl -d '{\"chat\":\"%s\",\"text\":\"When are you open on Saturday?\"}' %s/say", ana, d.rig.Network.URL)
	d.out.line("   to Ana    curl '%s/delivered?chat=%s'", d.rig.Network.URL, ana)
	d.out.line("   the page  http://%s; /web in the admin room gives the link that signs you in", d.settings.Page)
	d.out.line("   logs      %s", strings.Join([]string{d.multis.Log, filepath.Join(d.dir, "bridge.log"), d.rig.Stack.SynapseLog}, " "))
	d.out.line("Ctrl-C ends it and cleans up.")
}

// await waits until check succeeds, and shows meanwhile that it waits for what.
func (d *demo) await(ctx context.Context, what string, check func(context.Context) (bool, error)) error {
	err := d.out.showWhile("waiting for "+what, func() error { return rig.Await(ctx, what, check) })
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not come within %s", what, rig.AwaitTimeout)
	}
	return err
}
