package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/admin"
)

// account is what multis can do as the owner, as a homeserver would say it.
type account admin.Account

func (a account) Account(context.Context) (admin.Account, error) { return admin.Account(a), nil }

func TestAccount_ShowsRightsAndRevocation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/account"), "There's no `/account`", "there is none without a homeserver")
	acc := account{
		Owner:        "@you:x",
		Bot:          "@multis:x",
		Registration: "multis",
		Devices: []admin.AccountDevice{
			{User: "@you:x", ID: "ABCDEF", State: "not verified (multis verify does that)"},
			{User: "@multis:x", ID: "GHIJKL", State: "verified"},
		},
	}
	r.accounts = &acc
	r.restart()
	r.chat("Ana", "whatsapp")
	shown := r.asOwner("/account")
	for _, part := range []string{
		"`as_token` of the registration `multis`: everything that `@you:x` can do", "`multis -g` make a new token",
		"**Session** `ABCDEF` of `@you:x`: not verified", "end it in your Matrix client",
		"**Session** `GHIJKL` of `@multis:x`: verified. To revoke: it is not yours, so your Matrix client does not list it",
		"**Chats**", "**Bridge**", "I am logged in nowhere else",
	} {
		require.Contains(t, shown, part)
	}
	acc.Logins, acc.Clients = []string{"desk"}, []string{"My MCP server at 127.0.0.1:8082."}
	shown = r.asOwner("/account")
	require.Contains(t, shown, "`multis mcp logout desk`")
	require.Contains(t, shown, "My MCP server")
	require.NotContains(t, shown, "nowhere else")
	require.NotContains(t, r.asOperator("/account"), "ABCDEF", "operators do not see it")
}
