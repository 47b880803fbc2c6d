package admin_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestWatch_Pages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/watch"), "I watch nothing.")
	require.Contains(t, r.asOwner("/watch https://www.example.com/jobs/"),
		"I look at **example.com-jobs** every 6 h and tell you what is new.")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'check_page'"))
	require.Contains(t, r.asOwner("/watch https://www.example.com/jobs/"), "I watch that page already")
	require.Contains(t, r.asOwner("/watch https://example.com/Jobs every 2d"), "**example.com-jobs-2** every 2 days")
	for _, line := range []string{
		"/watch https://example.com/x every now", "/watch https://example.com/x soon",
		"/watch https://example.com/x 6h",
	} {
		require.Contains(t, r.asOwner(line), "I don't know", line)
	}
	require.Contains(t, r.asOwner("/watch https://example.com/x every 1m"), "no more often than every 15 minutes")
	require.Contains(t, r.asOwner("/watch https://example.com/x every -1h"), "no more often than every 15 minutes")
	require.Contains(t, r.asOwner("/watch the weather"), "Try `/watch https")

	watched, err := store.WatchByName(r.ctx, r.st.DB(), "example.com-jobs")
	require.NoError(t, err)
	require.Equal(t, int64((6 * time.Hour).Seconds()), watched.Interval)
	r.exec("update watches set failures = 1, error = 'the server says 500' where id = $1", watched.ID)
	list := r.asOwner("/watch")
	require.Contains(t, list, "every 6 h · ⚠️ cannot be read (the server says 500)")
	require.Contains(t, list, "every 2 days · nothing new so far")
	require.Equal(t, "I don't watch **example.com-jobs** any more.", r.asOwner("/watch remove Example.com-jobs"))
	require.Contains(t, r.asOwner("/watch remove nothing"), "I watch no `nothing`, only example")
	require.Contains(t, r.asOperator("/watch"), "Only the owner can use")
}

func TestWatch_InboxAddressIsSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/watch inbox ci"), "set `watches.port` in config.yaml")
	r.settings.WebhookAddress = "https://hooks.example.com"
	r.restart()
	require.Contains(t, r.asOwner("/watch inbox Build Server"), "small letters, digits and dashes")
	require.Contains(t, r.asOwner("/watch inbox"), "small letters, digits and dashes")
	made := regexp.MustCompile("`https://hooks.example.com/watch/ci/([A-Z2-7]{26})`").FindStringSubmatch(r.asOwner("/watch inbox ci"))
	require.Len(t, made, 2)
	watch, err := store.WatchByName(r.ctx, r.st.DB(), "ci")
	require.NoError(t, err)
	require.Equal(t, store.HashToken(made[1]), watch.Token)
	require.Zero(t, r.count("select count(*) from watches where position(convert_to($1, 'UTF8') in token) > 0", made[1]),
		"the token itself is not kept")
	require.Contains(t, r.asOwner("/watch inbox ci"), "There is a **ci** already.")
	require.Contains(t, r.asOwner("/watch"), "**ci** — for programs that call in · nothing new so far")
}
