package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store"
)

const (
	sessionLifetime = 12 * time.Hour
	// useInterval is how often the last use of a session is stored.
	useInterval = time.Minute
	tokenLength = 64 // hexadecimal digits
)

// cookieName returns the name of the cookie with the token. Browsers take the one with the prefix only over TLS, for this host and all
// paths.
func (s *Site) cookieName() string {
	if s.secure {
		return "__Host-multis"
	}
	return "multis"
}

// setCookie gives the browser a token, or takes it back if it is empty.
func (s *Site) setCookie(v *visit, token string) {
	c := &http.Cookie{ //nolint:gosec // it is secure wherever there is TLS
		Name: s.cookieName(), Value: token, Path: "/",
		MaxAge: int(sessionLifetime.Seconds()), Secure: s.secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v, c)
}

// hashOf returns what is stored of a token; nil if it is no token by its form.
func hashOf(token string) []byte {
	if len(token) != tokenLength {
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// sessionOf returns the session of a request. ok is false if it has none.
func (s *Site) sessionOf(v *visit) (_ store.WebSession, ok bool, err error) {
	cookie, err := v.r.Cookie(s.cookieName())
	if err != nil {
		return store.WebSession{}, false, nil //nolint:nilerr // there is no cookie
	}
	hash := hashOf(cookie.Value)
	if hash == nil {
		return store.WebSession{}, false, nil
	}
	found, err := store.WebSessionByHash(v.r.Context(), v.db, hash, v.now)
	if errors.Is(err, store.ErrNotFound) {
		return store.WebSession{}, false, nil
	}
	if err != nil {
		return store.WebSession{}, false, err
	}
	isOwner := subtle.ConstantTimeCompare([]byte(found.Person), []byte(s.Owner)) == 1
	return found, isOwner && subtle.ConstantTimeCompare(found.Hash, hash) == 1, nil
}

// isSignedIn reports whether a visitor is signed in, and within the limit of POSTs. If not, it has answered.
func (s *Site) isSignedIn(v *visit) bool {
	session, ok, err := s.sessionOf(v)
	isPost := v.r.Method == http.MethodPost
	switch {
	case err != nil:
		s.report500(v, err)
		return false
	case !ok && isPost:
		s.show(v, http.StatusUnauthorized, "conflict", "You are signed out", conflict{
			"You are signed out. Write /web in the admin room to sign in again.",
			cmp.Or(v.r.PostFormValue("text"), v.r.PostFormValue("why")),
		})
		return false
	case !ok && isFromOtherSite(v.r) && v.r.URL.Query().Get("hop") == "":
		sessionPages{s}.showHop(v)
		return false
	case !ok:
		http.Redirect(v, v.r, "/sign-in", http.StatusSeeOther)
		return false
	case isPost && !s.posts.allow(strconv.FormatInt(int64(session.ID), 10)):
		s.fail(v, v.r, http.StatusTooManyRequests)
		return false
	}
	v.session = session
	isPoll := v.r.Pattern == livePattern // a page that is only open is not used
	if isPoll || v.now.Sub(session.UsedAt) < useInterval {
		return true
	}
	if err := store.MarkWebSessionUsed(v.r.Context(), s.Store.AsyncCommit(), session.ID, v.now); err != nil {
		s.report500(v, err)
		return false
	}
	return true
}

// isFromOtherSite reports whether a link of another site led here. The browser sends no strict cookie then.
func isFromOtherSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// sessionPages are the pages by which one signs in and out.
type sessionPages struct{ *Site }

// showHop shows a page that leads to the page that was asked for: for that step the browser sends the cookie.
func (s sessionPages) showHop(v *visit) {
	s.show(v, http.StatusOK, "hop", "multis", v.r.URL.EscapedPath()+"?hop=1")
}

// signInSteps says how to sign in.
func (s sessionPages) signInSteps(v *visit) error {
	s.show(v, http.StatusOK, "sign-in", "Sign in", nil)
	return nil
}

// pending is what the page with the button shows.
type pending struct {
	Link, Browser, Address string
	Person                 id.UserID
	Until, Expires         time.Time
}

// askToSignIn shows the button that signs in. It changes nothing: the first to look may be a program that previews links.
func (s sessionPages) askToSignIn(v *visit) error {
	if !s.looks.allow(clientAddress(v.r)) {
		s.fail(v, v.r, http.StatusTooManyRequests)
		return nil
	}
	token := v.r.PathValue("link")
	link, err := store.ReadWebLink(v.r.Context(), v.db, hashOf(token), v.now)
	if errors.Is(err, store.ErrNotFound) || (err == nil && link.Person != s.Owner) {
		s.show(v, http.StatusNotFound, "link-expired", "This link no longer works", nil)
		return nil
	}
	if err != nil {
		return err
	}
	s.show(v, http.StatusOK, "sign-in-link", "Sign in", pending{
		Link: token, Browser: browserOf(v.r.UserAgent()), Address: clientAddress(v.r), Person: link.Person,
		Until: v.now.Add(sessionLifetime), Expires: link.ExpiresAt,
	})
	return nil
}

// errSpent rolls a sign-in back: the link was spent, has expired, or is of somebody who is not the owner.
var errSpent = errors.New("the link does not sign in")

// signIn spends a link and begins a session, in place of the session that this browser had.
func (s sessionPages) signIn(v *visit) error {
	if !s.tries.allow(clientAddress(v.r)) {
		s.fail(v, v.r, http.StatusTooManyRequests)
		return nil
	}
	hash := hashOf(v.r.PostFormValue("link"))
	old, had, err := s.sessionOf(v)
	if err != nil {
		return err
	}
	var secret [tokenLength / 2]byte
	_, _ = rand.Read(secret[:]) // it never fails
	token := hex.EncodeToString(secret[:])
	err = s.Store.InTx(v.r.Context(), func(tx store.Tx) error {
		ctx := v.r.Context()
		if had {
			if _, err := store.EndWebSession(ctx, tx, old.Person, old.ID); err != nil {
				return err
			}
		}
		return s.begin(ctx, tx, v, hash, token)
	})
	if errors.Is(err, errSpent) {
		s.show(v, http.StatusNotFound, "link-expired", "This link no longer works", nil)
		return nil
	}
	if err != nil {
		return err
	}
	s.setCookie(v, token)
	return v.see("/")
}

// begin spends the link with a hash and begins the session of a token.
func (s sessionPages) begin(ctx context.Context, tx store.Tx, v *visit, hash []byte, token string) error {
	link, err := store.SpendWebLink(ctx, tx, hash, v.now)
	if errors.Is(err, store.ErrNotFound) || (err == nil && link.Person != s.Owner) {
		return errSpent
	}
	if err != nil {
		return err
	}
	session := store.WebSession{
		Hash: hashOf(token), Person: link.Person, Browser: browserOf(v.r.UserAgent()), Address: clientAddress(v.r),
		CreatedAt: v.now, ExpiresAt: v.now.Add(sessionLifetime),
	}
	if session.ID, err = store.InsertWebSession(ctx, tx, session); err != nil {
		return err
	}
	return s.Room.SignedIn(ctx, tx, session)
}

// signOut ends the session of this browser.
func (s sessionPages) signOut(v *visit) error {
	if err := s.end(v, v.session.ID); err != nil {
		return err
	}
	s.setCookie(v, "")
	return v.see("/sign-in")
}

// endSession ends a session of the owner.
func (s sessionPages) endSession(v *visit) error {
	if err := s.end(v, store.WebSessionID(v.id())); err != nil {
		return err
	}
	return v.see("/sessions")
}

// end ends a session, if there still is one.
func (s sessionPages) end(v *visit, session store.WebSessionID) error {
	ctx := v.r.Context()
	return s.Store.InTx(ctx, func(tx store.Tx) error {
		ended, err := store.EndWebSession(ctx, tx, v.session.Person, session)
		if err != nil {
			return err
		}
		if !ended {
			return nil
		}
		return s.Room.SignedOut(ctx, tx, v.session.Person, session)
	})
}

// endSessions ends every session, this one as well.
func (s sessionPages) endSessions(v *visit) error {
	ctx := v.r.Context()
	err := s.Store.InTx(ctx, func(tx store.Tx) error {
		if _, err := store.EndWebSessions(ctx, tx, v.session.Person); err != nil {
			return err
		}
		return s.Room.SignedOut(ctx, tx, v.session.Person, 0)
	})
	if err != nil {
		return err
	}
	s.setCookie(v, "")
	return v.see("/sign-in")
}

// sessions lists who is signed in.
func (s sessionPages) sessions(v *visit) error {
	list, err := store.WebSessions(v.r.Context(), v.db, v.session.Person, v.now)
	if err != nil {
		return err
	}
	s.show(v, http.StatusOK, "sessions", "Sessions", list)
	return nil
}
