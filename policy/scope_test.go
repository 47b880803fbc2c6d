package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScopeSetting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		scope Scope
		want  string
	}{
		{"a contact sees public data and his chat", ContactScope(42), "public,user:42"},
		{"a contact on two networks sees both chats", ContactScope(42, 7), "public,user:42,user:7"},
		{"the same chat twice is one role", ContactScope(42, 42), "public,user:42"},
		{"the owner sees public data and his own", OwnerScope(), "public,admin"},
		{"the owner sees the chat he named", OwnerScope(9), "public,admin,user:9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			setting, err := test.scope.Setting()
			require.NoError(t, err)
			require.Equal(t, test.want, setting)
			require.Equal(t, test.want, test.scope.String())
		})
	}
}

func TestScope_EmptyIsRefused(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]Scope{
		"the zero scope":                    {},
		"a contact without a chat":          ContactScope(),
		"a contact's chat that cannot be":   ContactScope(0),
		"one good chat and one that cannot": ContactScope(1, -1),
		"the owner and a chat that cannot":  OwnerScope(0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setting, err := scope.Setting()
			require.ErrorIs(t, err, ErrNoScope)
			require.Empty(t, setting)
			require.Empty(t, scope.String())
			require.Empty(t, scope.Roles())
			require.False(t, scope.Allows(RolePublic))
		})
	}
}

func TestScopeAllows(t *testing.T) {
	t.Parallel()
	contact := ContactScope(42)
	require.True(t, contact.Allows(RolePublic) && contact.Allows(UserRole(42)))
	require.False(t, contact.Allows(RoleAdmin) || contact.Allows(UserRole(4)) || contact.Allows(UserRole(421)))
	require.Equal(t, []string{"public", "user:42"}, contact.Roles())
}

func TestRoleValid(t *testing.T) {
	t.Parallel()
	for _, role := range []Role{RolePublic, RoleAdmin, UserRole(1), "user:9223372036854775807"} {
		require.True(t, role.Valid(), role)
	}
	for _, role := range []Role{
		"", "Public", "user:", "user:0", "user:-1", "user:+1", "user:01", "user:1,admin", "user:99999999999999999999",
		"kb",
	} {
		require.False(t, role.Valid(), role)
	}
}
