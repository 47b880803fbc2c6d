package admin_test

import (
	"context"
	"crypto/sha256"
	"regexp"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

// webLink is the link in an answer to /web.
var webLink = regexp.MustCompile(`^https://multis\.example\.com/sign-in/([0-9a-f]{64})\n`)

func newWebRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.settings.WebAddress = "https://multis.example.com"
	r.restart()
	return r
}

// session begins a session of the owner.
func (r *rig) session(token string) (s store.WebSession) {
	r.t.Helper()
	hash := sha256.Sum256([]byte(token))
	s = store.WebSession{
		Hash:      hash[:],
		Person:    owner,
		Browser:   "Firefox on Linux",
		Address:   "192.0.2.17",
		CreatedAt: r.now,
		ExpiresAt: r.now.Add(12 * time.Hour),
	}
	r.tx(func(tx store.Tx) (err error) {
		if s.ID, err = store.InsertWebSession(r.ctx, tx, s); err != nil {
			return err
		}
		return r.admin.Web.SignedIn(r.ctx, tx, s)
	})
	return s
}

func TestWeb_IsOffByDefault(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/web"), "The web page is off. Set `ops.listen` and `ops.web` in config.yaml")
}

func TestWeb_LinkSignsInWhoAsked(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	first := webLink.FindStringSubmatch(r.asOwner("/web"))
	require.NotNil(t, first)
	second := webLink.FindStringSubmatch(r.asOwner("/web"))
	require.NotEqual(t, first[1], second[1])
	r.tx(func(tx store.Tx) error {
		hash := sha256.Sum256([]byte(first[1]))
		_, err := store.SpendWebLink(r.ctx, tx, hash[:], r.now)
		require.ErrorIs(t, err, store.ErrNotFound, "the newer one replaced it")
		hash = sha256.Sum256([]byte(second[1]))
		link, err := store.SpendWebLink(r.ctx, tx, hash[:], r.now)
		require.Equal(t, owner, link.Person)
		require.Equal(t, 5*time.Minute, link.ExpiresAt.Sub(r.now))
		return err
	})
}

func TestWeb_LinkOnlyWhereNobodyElseReads(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	r.homeserver.others = []id.UserID{operator}
	require.Contains(t, r.asOwner("/web"), "No link here: @eva:example.com can read this room")
	require.Contains(t, r.asOperator("/web"), "Only the owner can use `/web`")
	require.Zero(t, r.count("select count(*) from web_links"))
}

func TestWeb_ListsAndEndsSessions(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	require.Contains(t, r.asOwner("/web sessions"), "Nobody is signed in")
	s := r.session("a")
	require.Contains(t, r.sendQueued()[0].Body,
		"Signed in to the web page: Firefox on Linux, 192.0.2.17, until Sat 21 Nov, 06:00. Not you? `/web end 1`")
	require.Contains(t, r.asOwner("/web sessions"),
		"**1** Firefox on Linux, 192.0.2.17 · since 18:00, last used 18:00, until Sat 21 Nov, 06:00")
	require.Contains(t, r.asOwner("/web end 7"), "There is no session 7.")
	require.Contains(t, r.asOperator("/web end 1"), "Only the owner can use `/web`")
	require.Equal(t, int64(1), int64(s.ID))
	require.Contains(t, r.asOwner("/web end 1"), "Session 1 ended.")
	require.Zero(t, r.count("select count(*) from web_sessions"))

	r.session("b")
	r.session("c")
	r.asOwner("/web")
	require.Contains(t, r.asOwner("/web end all"), "2 sessions ended. The last link is void, too.")
	require.Zero(t, r.count("select count(*) from web_sessions")+r.count("select count(*) from web_links"))
	require.Equal(t, 5, r.count("select count(*) from audit_entries where kind = 'login' and action = 'web'"), "each is in the audit log")
}

// openDraft is the draft that waits.
func (r *rig) openDraft() (draft uuid.UUID) {
	r.t.Helper()
	require.NoError(r.t, r.st.DB().QueryRow(r.ctx,
		"select id from outbox where state = 'draft' and coalesce(part_of = id, true)").Scan(&draft))
	return draft
}

func TestWeb_DraftIsDecidedOnceAsInTheRoom(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	ana, _ := r.addDraft()
	s := r.session("a")
	first := r.openDraft()

	done, err := r.admin.Web.ChangeDraft(r.ctx, s, first, "See you at eight")
	require.NoError(t, err)
	require.True(t, done)
	second := r.openDraft()
	require.NotEqual(t, first, second, "other words are another draft")
	done, err = r.admin.Web.SendDraft(r.ctx, s, first)
	require.NoError(t, err)
	require.False(t, done, "the form showed the first one")
	r.sendQueued()
	require.Empty(t, r.sentTo(ana))

	done, err = r.admin.Web.SendDraft(r.ctx, s, second)
	require.NoError(t, err)
	require.True(t, done)
	r.sendQueued()
	require.Len(t, r.sentTo(ana), 1)
	require.Contains(t, r.sentTo(ana)[0], "See you at eight")
	for _, decide := range []func(context.Context, store.WebSession, uuid.UUID) (bool, error){r.admin.Web.SendDraft, r.admin.Web.DropDraft} {
		done, err = decide(r.ctx, s, second)
		require.NoError(t, err)
		require.False(t, done, "it is sent once")
	}
	done, err = r.admin.Web.DropDraft(r.ctx, s, uuid.New())
	require.NoError(t, err)
	require.False(t, done)
	require.Equal(t, 2, r.count("select count(*) from audit_entries where kind = 'command' and action = 'drafts' and rule = 'web_session_1'"))
}
