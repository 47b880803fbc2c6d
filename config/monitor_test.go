package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMonitors_DefaultsAndValues(t *testing.T) {
	t.Parallel()
	c := parse(t, least+`
monitors:
  shop: {url: "https://shop.example.org/health?key=abc", status: [200-204, 301], certificate_days: 14, contains: ok, every: 30s}
  disk: {command: [df, /], read_paths: [/var/log], cooldown: 1h, failures: 1}
`)
	shop, disk := c.Monitors["shop"], c.Monitors["disk"]
	require.Equal(t, []StatusRange{{200, 204}, {301, 301}}, shop.Status)
	require.True(t, shop.Accepts(301))
	require.False(t, shop.Accepts(302))
	require.Equal(t, "https://shop.example.org", shop.Target(), "without what may be a key")
	require.Equal(t, 30*time.Second, shop.Every)
	require.Equal(t, 2, shop.Failures)
	require.Equal(t, time.Minute, disk.Every)
	require.Equal(t, 10*time.Second, disk.Timeout)
	require.Equal(t, time.Hour, disk.Cooldown)
	require.Equal(t, MonitorAdmin, disk.Room)
	require.Equal(t, "df", disk.Target())
	require.True(t, disk.Accepts(204))
	require.False(t, disk.Accepts(304))
	require.True(t, c.RunsCommands())
	require.Contains(t, c.Secrets(), "https://shop.example.org/health?key=abc")
}

func TestMonitors_MistakesAreExplained(t *testing.T) {
	t.Parallel()
	for add, want := range map[string]string{
		`{}`: "monitors.m: needs either url or command",
		`{url: "https://x.example/", command: [df]}`:          "monitors.m: needs either url or command",
		`{command: [df], private: true}`:                      "monitors.m: has private, status or certificate_days, which only work with a url",
		`{url: "https://x.example/", read_paths: [/tmp]}`:     "monitors.m.read_paths: only works with a command",
		`{url: "http://x.example/", certificate_days: 3}`:     "monitors.m.certificate_days: needs a url with https://",
		`{url: "x.example"}`:                                  "monitors.m.url: is not a web address",
		`{url: "https://x.example/", status: [ok]}`:           `monitors.m.status[0]: "ok" is not a status of HTTP; write one such as 200, or a range such as 200-299`,
		`{url: "https://x.example/", status: [299-200]}`:      "is not a status of HTTP",
		`{url: "https://x.example/", every: 1s}`:              "monitors.m.every: \"1s\" is not possible here; write a time from 10 s to 24 h",
		`{url: "https://x.example/", every: 10s}`:             "monitors.m.timeout: is not shorter than every",
		`{url: "https://x.example/", timeout: 2m, every: 1h}`: "monitors.m.timeout: \"2m\" is not possible here",
		`{url: "https://x.example/", failures: 0}`:            "monitors.m.failures: \"0\" is not possible here",
		`{url: "https://x.example/", room: "!a:example.org"}`: "monitors.m.room: \"!a:example.org\" is not known here; write one of: admin, operators",
		`{url: "https://x.example/", room: operators}`:        "monitors.m.room: is operators, and there is no such room",
		`{command: [df], read_paths: [.]}`:                    "monitors.m.read_paths: would let the command read a file of multis itself",
		`{url: "https://x.example/", interval_sec: 60}`:       "monitors.m.interval_sec: unknown key; ",
		`{url: "https://you:pass@x.example/"}`:                "monitors.m.url: has a user name or password in it",
	} {
		t.Run(add, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("config.yaml", []byte(least+"monitors: {m: "+add+"}\n"), noEnv)
			require.ErrorContains(t, err, want)
		})
	}
	_, err := Parse("config.yaml", []byte(least+"monitors: {http: [{id: api, url: \"https://x.example/\"}]}\n"), noEnv)
	require.ErrorContains(t, err, "monitors.http: it is called monitors here: write a section for each under its name")
}
