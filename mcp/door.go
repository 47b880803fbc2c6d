package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// loginTransport is the way to a server that wants a login. It shows the token of the owner's, and has it made new when its time is over, or
// when the server takes it no more. It never asks for a login by itself: that takes the owner.
type loginTransport struct {
	bearer // to the server, and to who makes tokens new

	server Server
	mu     sync.Mutex // one at a time makes a token new: some servers take back the older ones
}

// RoundTrip looks for the token at each request, so that a login is seen as soon as it was kept.
func (d *loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close() // what is sent are copies of it
	}
	refused := ""
	for {
		token, err := d.token(r.Context(), refused)
		if err != nil {
			return nil, err
		}
		shown := r.Clone(r.Context())
		shown.Header.Set("Authorization", "Bearer "+token)
		if r.GetBody != nil {
			if shown.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		resp, err := d.bearer.RoundTrip(shown)
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		_ = resp.Body.Close() // it says nothing that we did not know
		if refused != "" || resp.StatusCode == http.StatusForbidden {
			return nil, d.needsLogin(fmt.Errorf("it refused the login (%d)", resp.StatusCode))
		}
		refused = token
	}
}

// token is one that is good now, and not the one that the server just refused. A new one is kept before it is used: the older ones may
// open nothing any more.
func (d *loginTransport) token(ctx context.Context, refused string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for range 3 { // multis mcp login and logout may come between
		text, known, err := d.server.Logins.load(ctx, d.server)
		if errors.Is(err, errNoLogin) || errors.Is(err, errUnsealable) {
			return "", d.needsLogin(err)
		}
		if err != nil {
			return "", err
		}
		if known.Token.AccessToken == refused {
			known.Token.Expiry = time.Unix(0, 1) // whatever it says of its time
		}
		client := &http.Client{Transport: d.bearer, CheckRedirect: refuseRedirect}
		token, err := known.Client.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), known.Token).Token()
		switch {
		case err != nil && d.isReplaced(ctx, text):
			continue
		case err != nil:
			return "", d.refreshError(err, known.Token, refused)
		case token == known.Token:
			return token.AccessToken, nil
		}
		known.Token = token
		if kept, err := d.server.Logins.replace(ctx, d.server, text, known); kept || err != nil {
			return token.AccessToken, err
		}
	}
	return "", errors.New("its login changes all the time")
}

// isReplaced tells whether a login is not what it was.
func (d *loginTransport) isReplaced(ctx context.Context, was string) bool {
	now, err := d.server.Logins.Store.Load(ctx, d.server.Name)
	return err == nil && now != was
}

// refreshError says why there is no new token. What a server said of it is not repeated: nothing is known of it.
func (d *loginTransport) refreshError(err error, old *oauth2.Token, refused string) error {
	said, is := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case old.RefreshToken == "" && refused != "":
		return d.needsLogin(fmt.Errorf("it refused the login (%d)", http.StatusUnauthorized))
	case old.RefreshToken == "":
		return d.needsLogin(errors.New("its login is over"))
	case is && said.Response.StatusCode < http.StatusInternalServerError && said.Response.StatusCode != http.StatusTooManyRequests:
		return d.needsLogin(errors.New("its login is over"))
	case is:
		return fmt.Errorf("renew the login: it answers with %d", said.Response.StatusCode)
	default:
		return fmt.Errorf("renew the login: %w", err)
	}
}

// loginError has the owner log in. Nothing was done by the server.
type loginError struct {
	why    error
	server string
}

// Error says why, and what to do.
func (e *loginError) Error() string {
	return fmt.Sprintf("%v: run multis mcp login %s where multis runs", e.why, e.server)
}

func (d *loginTransport) needsLogin(why error) error {
	return &loginError{why: why, server: d.server.Name}
}
