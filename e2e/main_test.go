//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/deploy/devstack"
	"multis/e2e/rig"
	"multis/migrations"
)

// The worlds that the tests share. One test at a time has a world for itself, and the worlds run side by side.
var (
	plainWorlds     = newWorlds("plain-1", "plain-2")
	encryptedWorlds = newWorlds("encrypted")            // whose bridge encrypts
	unusedWorlds    = newWorlds("unused-1", "unused-2") // for the two tests that need a world without chats; plain worlds from then on
)

// worlds lends worlds of one kind to tests.
type worlds struct {
	free chan *world

	mu   sync.Mutex
	lent map[*testing.T]*scene
}

// maxWorlds is more than there are.
const maxWorlds = 10

// world is a scene that is started when it is lent for the first time.
type world struct {
	name  string
	scene *scene // nil until then
}

func newWorlds(names ...string) *worlds {
	w := &worlds{free: make(chan *world, maxWorlds), lent: map[*testing.T]*scene{}}
	for _, name := range names {
		w.free <- &world{name: name}
	}
	return w
}

// claim waits for a free world and lends it to t until its end. Called again by the same test, it returns the same world.
func (w *worlds) claim(t *testing.T) *scene {
	t.Helper()
	w.mu.Lock()
	lent := w.lent[t]
	w.mu.Unlock()
	if lent != nil {
		return lent
	}
	t.Parallel()
	waiting := time.Now()
	got := <-w.free
	returnTo := w
	if w == unusedWorlds {
		returnTo = plainWorlds
	}
	t.Cleanup(func() { returnTo.free <- got })
	if got.scene == nil {
		var err error
		got.scene, err = open(context.WithoutCancel(t.Context()), filepath.Join(dir, got.name), w == encryptedWorlds)
		require.NoError(t, err)
	}
	t.Logf("waited %.1f s for the world %s", time.Since(waiting).Seconds(), got.name)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lent[t] = got.scene
	return got.scene
}

// close stops the worlds, which must all be free.
func (w *worlds) close() error {
	var errs []error
	for len(w.free) > 0 {
		errs = append(errs, (<-w.free).scene.close())
	}
	return errors.Join(errs...)
}

// dir holds the data and logs of all worlds. It is kept when a test failed.
var dir string

// scene is a running world without multis.
type scene struct {
	*rig.Rig
	// front forwards Synapse's requests to the process under test.
	front *pushProxy
	// tokens are the part of config.yaml that is in the registration as well.
	tokens config.Appservice
	// password is that of databaseRole.
	password  string
	databases int
	// aside is a room of the owner's without a bridge, where settle writes; empty before its first use.
	aside id.RoomID
}

// databaseRole is the database role of multis. It is no superuser, because row-level security does not apply to superusers.
const databaseRole = "multis"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// The tests wait for a free world, not for a processor.
	err := flag.Set("test.parallel", "100")
	if err != nil {
		return fail(err)
	}
	if dir, err = os.MkdirTemp("", "multis-e2e-"); err != nil {
		return fail(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the database runs as another user
		return fail(err)
	}
	code := m.Run()
	if err := errors.Join(plainWorlds.close(), encryptedWorlds.close(), unusedWorlds.close()); err != nil {
		return fail(err)
	}
	if code != 0 {
		fmt.Fprintln(os.Stderr, "The logs are in", dir)
		return code
	}
	if err := os.RemoveAll(dir); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

// open starts everything but multis.
func open(ctx context.Context, dir string, encrypted bool) (*scene, error) {
	ports, err := devstack.FreePorts(1)
	if err != nil {
		return nil, err
	}
	w := &scene{password: rand.Text(), tokens: config.Appservice{
		Address: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), ID: "multis", Bot: config.Bot{Username: "multis", DisplayName: "multis"},
		SenderLocalpart: "as_multis_e2e", ASToken: config.Secret(rand.Text()), HSToken: config.Secret(rand.Text()),
	}}
	registration, err := config.Registration(&config.Config{
		Homeserver: config.Homeserver{Domain: devstack.Domain}, Owner: rig.OwnerID, Appservice: w.tokens,
	})
	if err != nil {
		return nil, err
	}
	if w.front, err = openPushProxy(ports[0]); err != nil {
		return nil, err
	}
	w.Rig, err = rig.Start(ctx, rig.Options{Dir: dir, Out: os.Stdout, Registrations: [][]byte{registration}, Encrypted: encrypted})
	if err != nil {
		return nil, err
	}
	if err := w.makeTemplate(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *scene) close() error {
	if w == nil {
		return nil // never used
	}
	err := w.Stop()
	w.front.close()
	return err
}

// settle waits until Synapse has pushed all that was said so far, which the proxy discards while no process is its target. So a new multis
// gets nothing of an earlier test.
func (w *scene) settle(ctx context.Context) error {
	if w.aside == "" {
		made, err := w.Owner.CreateRoom(ctx, &mautrix.ReqCreateRoom{Preset: "private_chat"})
		if err != nil {
			return err
		}
		w.aside = made.RoomID
	}
	var sent []id.EventID
	var saidAt time.Time
	return rig.Await(ctx, "the end of what was said before", func(ctx context.Context) (bool, error) {
		if time.Since(saidAt) > sayAgain {
			last, err := w.Owner.SendText(ctx, w.aside, "this comes after all of it")
			if err != nil {
				return false, err
			}
			sent, saidAt = append(sent, last.EventID), time.Now()
		}
		return slices.ContainsFunc(sent, func(event id.EventID) bool { return len(w.front.acknowledged(event)) > 0 }), nil
	})
}

// sayAgain is after how long settle says again what comes after all of it: a transaction that Synapse makes in the moment in
// which it ends the retries of an earlier one stays unsent until it retries the next one.
const sayAgain = 10 * time.Second

const templateDatabase = "multis_template"

// makeTemplate creates the role and a migrated template database.
func (w *scene) makeTemplate(ctx context.Context) error {
	err := w.administer(ctx,
		fmt.Sprintf("create role %s login createrole password '%s'", databaseRole, w.password),
		fmt.Sprintf("create database %s owner %s", templateDatabase, databaseRole))
	if err != nil {
		return err
	}
	dsn, err := w.dsn(templateDatabase)
	if err != nil {
		return err
	}
	return migrations.Run(ctx, dsn)
}

// newDatabase creates a migrated database and returns its DSN.
func (w *scene) newDatabase(ctx context.Context) (string, error) {
	w.databases++
	name := fmt.Sprintf("multis_%d", w.databases)
	if err := w.administer(ctx, fmt.Sprintf("create database %s owner %s template %s", name, databaseRole, templateDatabase)); err != nil {
		return "", err
	}
	return w.dsn(name)
}

func (w *scene) administer(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, w.Stack.PostgresDSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// dsn returns the DSN of a database for databaseRole.
func (w *scene) dsn(database string) (string, error) {
	address, err := url.Parse(w.Stack.PostgresDSN(database))
	if err != nil {
		return "", err
	}
	address.User = url.UserPassword(databaseRole, w.password)
	return address.String(), nil
}

// slowClient returns a client for requests that a test delays.
func slowClient() *http.Client { return &http.Client{Timeout: 5 * time.Minute} }
