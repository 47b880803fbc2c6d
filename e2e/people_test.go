//go:build e2e

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/rig"
)

// Who is who on Matrix.
const (
	owner            = rig.OwnerID
	bot    id.UserID = "@multis:" + devstack.Domain
	bridge           = rig.BridgeBotID
)

// person is the client of another Matrix user on the same server. Worlds are shared: where it matters in which rooms
// somebody has been, no other test has that name.
func (a *app) person(t *testing.T, name string) *mautrix.Client {
	t.Helper()
	user := id.NewUserID(name, devstack.Domain)
	if _, err := a.Stack.RegisterUser(t.Context(), name, name); !errors.Is(err, mautrix.MUserInUse) {
		require.NoError(t, err)
	}
	client, err := mautrix.NewClient(a.Stack.HomeserverURL, "", "")
	require.NoError(t, err)
	_, err = client.Login(t.Context(), &mautrix.ReqLogin{
		Type: mautrix.AuthTypePassword, Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: string(user)},
		Password: name, StoreCredentials: true,
	})
	require.NoError(t, err)
	return client
}

// ghost acts as a contact's Matrix user, as only the bridge can.
func (a *app) ghost(t *testing.T, contact string) *mautrix.Client {
	t.Helper()
	return a.bridged(t, id.NewUserID("demo_"+contact, devstack.Domain))
}

// bridged acts as a user of the bridge's.
func (a *app) bridged(t *testing.T, user id.UserID) *mautrix.Client {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Dir, "bridge.yaml"))
	require.NoError(t, err)
	var config struct {
		Appservice struct {
			Token string `yaml:"as_token"`
		} `yaml:"appservice"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	client, err := mautrix.NewClient(a.Stack.HomeserverURL, user, config.Appservice.Token)
	require.NoError(t, err)
	client.SetAppServiceUserID = true
	return client
}
