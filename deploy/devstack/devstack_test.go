//go:build e2e

package devstack_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"

	"multis/deploy/devstack"
)

func TestStack_KeepsUsersOverCrash(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	root, err := devstack.Prepare(ctx, t.Output())
	require.NoError(t, err)
	stack, err := devstack.Start(ctx, devstack.Options{Root: root, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop()) })

	user, err := stack.RegisterUser(ctx, "owner", "secret")
	require.NoError(t, err)
	require.Equal(t, "@owner:"+stack.Domain, user.String())

	require.NoError(t, stack.StopSynapse(syscall.SIGKILL))
	_, err = http.Get(stack.HomeserverURL + "/health")
	require.Error(t, err, "a killed Synapse must not answer")
	require.NoError(t, stack.StartSynapse(ctx))

	client, err := mautrix.NewClient(stack.HomeserverURL, "", "")
	require.NoError(t, err)
	_, err = client.Login(ctx, &mautrix.ReqLogin{
		Type:       mautrix.AuthTypePassword,
		Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: "owner"},
		Password:   "secret",
	})
	require.NoError(t, err)
}
