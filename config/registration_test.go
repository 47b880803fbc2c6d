package config

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/appservice"
)

func TestRegistration_MatchesExampleFile(t *testing.T) {
	t.Parallel()
	c := parse(t, strings.NewReplacer(
		"as_multis_7hq2c9xk", "as_multis_random",
		"as-secret", "random-and-known-to-both",
		"hs-secret", "another-and-known-to-both",
	).Replace(least))
	got, err := Registration(c)
	require.NoError(t, err)
	want, err := os.ReadFile("../registration.yaml.example")
	require.NoError(t, err)
	require.Equal(t, string(want), strings.ReplaceAll(string(got), "example\\.org", "example\\.com"))
}

// The library that homeserver tests use must read the file as it was meant.
func TestRegistration_ClaimsOnlyBotAndOwner(t *testing.T) {
	t.Parallel()
	c := parse(t, strings.NewReplacer("example.org", "matrix.example.org", "@you:", "@an.n+x:").Replace(
		strings.Replace(least, "appservice:\n", "appservice:\n  address: http://multis:29399/\n", 1)))
	data, err := Registration(c)
	require.NoError(t, err)
	path := t.TempDir() + "/registration.yaml"
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := appservice.LoadRegistration(path)
	require.NoError(t, err)

	require.Equal(t, "multis", r.ID)
	require.Equal(t, "http://multis:29399", r.URL)
	require.Equal(t, "as-secret", r.AppToken)
	require.Equal(t, "hs-secret", r.ServerToken)
	require.Equal(t, "as_multis_7hq2c9xk", r.SenderLocalpart)
	require.False(t, *r.RateLimited)
	require.True(t, r.EphemeralEvents)
	require.True(t, r.MSC4190)
	require.False(t, r.SoruEphemeralEvents)
	require.False(t, r.MSC3202)
	require.Empty(t, r.Namespaces.RoomIDs)
	require.Empty(t, r.Namespaces.RoomAliases)
	require.Len(t, r.Namespaces.UserIDs, 2)

	bot, owner := r.Namespaces.UserIDs[0], r.Namespaces.UserIDs[1]
	require.True(t, bot.Exclusive)
	require.False(t, owner.Exclusive, "an exclusive owner would lose their push notifications")
	require.True(t, regexp.MustCompile(bot.Regex).MatchString("@multis:matrix.example.org"))
	require.True(t, regexp.MustCompile(owner.Regex).MatchString("@an.n+x:matrix.example.org"))
	for _, other := range []string{
		"@multis:matrixXexample.org", "@multis2:matrix.example.org", "@an.n+x:matrix.example.org.evil.org",
		"x@an.n+x:matrix.example.org", "@anXn+x:matrix.example.org", "@an.nnx:matrix.example.org",
	} {
		t.Run(other, func(t *testing.T) {
			require.False(t, regexp.MustCompile(bot.Regex).MatchString(other), other)
			require.False(t, regexp.MustCompile(owner.Regex).MatchString(other), other)
		})
	}
}

func TestRegistration_NeedsTokens(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*Appservice){
		"no as_token":         func(a *Appservice) { a.ASToken = "" },
		"an hs_token to come": func(a *Appservice) { a.HSToken = Placeholder },
		"no sender_localpart": func(a *Appservice) { a.SenderLocalpart = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parse(t, least)
			forget(&c.Appservice)
			_, err := Registration(c)
			require.ErrorContains(t, err, "are not all set")
		})
	}
}
