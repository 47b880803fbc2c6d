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

// loginTransport is a transport to a server that needs an OAuth login. It adds the access token, and refreshes it when it has expired or the server
// refuses it. If that fails, its errors tell the owner to log in.
type loginTransport struct {
	bearer // to the server and to its authorization server

	server Server
	mu     sync.Mutex // held while a token is refreshed: some servers revoke the older ones
}

// RoundTrip loads the token for each request, so that a new login is used at once.
func (d *loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close() // copies of it are sent
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
		_ = resp.Body.Close() // the status is all that is needed
		if refused != "" || resp.StatusCode == http.StatusForbidden {
			return nil, d.needsLogin(fmt.Errorf("it refused the login (%d)", resp.StatusCode))
		}
		refused = token
	}
}

// token returns an access token that is valid now and not the refused one. A refreshed token is saved before it is used, because the older ones
// may be revoked by then.
func (d *loginTransport) token(ctx context.Context, refused string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for range 3 { // a login or logout may happen meanwhile
		text, known, err := d.server.Logins.load(ctx, d.server)
		if errors.Is(err, errNoLogin) || errors.Is(err, errUnsealable) {
			return "", d.needsLogin(err)
		}
		if err != nil {
			return "", err
		}
		if known.Token.AccessToken == refused {
			known.Token.Expiry = time.Unix(0, 1) // so that it is refreshed
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

// isReplaced reports whether a login is no longer the one that was loaded.
func (d *loginTransport) isReplaced(ctx context.Context, was string) bool {
	now, err := d.server.Logins.Store.Load(ctx, d.server.Name)
	return err == nil && now != was
}

// refreshError tells why a token could not be refreshed. The server's own text is left out, because it cannot be trusted.
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

// loginError is returned for a request that was not sent because the owner has to log in.
type loginError struct {
	why    error
	server string
}

// Error tells why, and how to log in.
func (e *loginError) Error() string {
	return fmt.Sprintf("%v: run multis mcp login %s where multis runs", e.why, e.server)
}

func (d *loginTransport) needsLogin(why error) error {
	return &loginError{why: why, server: d.server.Name}
}
