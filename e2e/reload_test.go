//go:build e2e

package e2e

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A running multis takes over a changed configuration while contacts ask, and keeps the one that it has when the new one is wrong.
func TestReload_UnderLoadLosesNothing(t *testing.T) {
	a := start(t, setup{Profile: "business"})
	a.learn()
	load := a.startTalking("reload-ana", "reload-ben", "reload-cleo")
	load.awaitMore(6)
	right := string(a.config(a.port))
	configure := func(text string) {
		partial := a.process.Config + ".new"
		require.NoError(t, os.WriteFile(partial, []byte(text), 0o600))
		require.NoError(t, os.Rename(partial, a.process.Config))
	}
	answered := func(name string) {
		a.await("an answer by "+name, func(ctx context.Context) (bool, error) {
			return a.exists(ctx,
				"select exists (select from outbox where purpose = 'reply' and state = 'delivered' and content->>'body' like '[' || $1 || ']%')", name)
		})
	}
	answered("Nora")

	configure("name: Ada\n" + right)
	answered("Ada")
	load.awaitMore(6)

	configure("name: Eve\nchatz: {profile: business}\n" + right)
	a.await("the mistake in the log", func(context.Context) (bool, error) {
		return strings.Contains(a.log(), "The changed configuration cannot be used; keeping the old one") &&
			strings.Contains(a.log(), ":2: chatz: unknown key"), nil
	})
	a.await("the mistake in the admin room", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from outbox where event_id is not null and content->>'body' like '%:2: chatz: unknown key%')")
	})
	load.awaitMore(6)

	configure("name: Ida\n" + right)
	answered("Ida")
	load.awaitMore(6)
	load.finish()
	a.requireEachOnce(load)
	require.Zero(t, a.count("select count(*) from outbox where content->>'body' like '[Eve]%'"), "nothing of the wrong file is used")
}
