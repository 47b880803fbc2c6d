package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprint_CoversSharedSettings(t *testing.T) {
	t.Parallel()
	of := func(more string) string {
		text := "homeserver: {address: \"http://a:8008\", domain: example.org}\nappservice: {sender_localpart: as_x, as_token: one, hs_token: two}\nowner: \"@you:example.org\"\n" + more
		c, err := Parse(filepath.Join(t.TempDir(), "config.yaml"), []byte(text), os.LookupEnv)
		require.NoError(t, err)
		fingerprint, err := c.Fingerprint()
		require.NoError(t, err)
		return fingerprint
	}
	usual := of("time_zone: Europe/Berlin\n")
	require.Equal(t, usual, of("time_zone: Europe/Berlin\n"))
	require.Equal(t, usual,
		of("time_zone: Europe/Berlin\nlogging: {level: debug}\nbackup: {folder: /srv/backups}\ndatabase: {url: \"postgres://a@b/c\"}\n"))
	for _, other := range []string{
		"time_zone: Europe/Vienna\n", "time_zone: Europe/Berlin\nbudget: {per_day: 7}\n",
		"time_zone: Europe/Berlin\nchats: {networks: {whatsapp: {mode: business}}}\n",
		"time_zone: Europe/Berlin\nagents: {ada: {}}\nhooks: {h: {url: \"https://example.org/h\", secret: 0123456789abcdefghijklmnop, events: [escalation]}}\nmcp: {m: {command: [x]}}\ncommand_hooks: {guard: {command: [sh], before: [tool]}}\nmonitors: {m: {command: [sh]}}\n" +
			"policy: {rules: [{tool: read_file, path: /srv, decision: deny}]}\n",
	} {
		t.Run(other, func(t *testing.T) {
			require.NotEqual(t, usual, of(other), other)
		})
	}
}
