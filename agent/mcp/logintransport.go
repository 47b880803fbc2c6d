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

// loginTransport is an HTTP transport to a server that needs an OAuth login. It adds the access token, and refreshes a
// token that has expired or that the server refused. If that fails, the error says how to log in.
type loginTransport struct {
	bearerTransport // used for the server and for its authorization server

	server Server
	mu     sync.Mutex // held while a token is refreshed, because some servers then revoke the older tokens
}

// RoundTrip loads the token for each request, so that a new login is used at once.
func (d *loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close() // copies of the body are sent
	}
	refused := ""
	for {
		token, err := d.token(r.Context(), refused)
		if err != nil {
			return nil, err
		}
		authorized := r.Clone(r.Context())
		authorized.Header.Set("Authorization", "Bearer "+token)
		if r.GetBody != nil {
			if authorized.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		resp, err := d.bearerTransport.RoundTrip(authorized)
		if err != nil {
			return resp, err
		}
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, nil
		}
		_ = resp.Body.Close() // the status is all that is needed
		if refused != "" || resp.StatusCode == http.StatusForbidden {
			return nil, d.needsLogin(fmt.Errorf("it refused the login (%d)", resp.StatusCode))
		}
		refused = token
	}
}

// token returns a valid access token other than the refused one, which may be empty. A refreshed token is saved before it
// is used, because the server may have revoked the older ones.
func (d *loginTransport) token(ctx context.Context, refused string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for range 3 { // a login or logout may happen meanwhile
		sealed, current, err := d.server.Logins.load(ctx, d.server)
		if errors.Is(err, errLoginRequired) || errors.Is(err, errUnsealable) {
			return "", d.needsLogin(err)
		}
		if err != nil {
			return "", err
		}
		if current.Token.AccessToken == refused {
			current.Token.Expiry = time.Unix(0, 1) // so that it is refreshed
		}
		client := &http.Client{Transport: d.bearerTransport, CheckRedirect: refuseRedirect}
		token, err := current.Client.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), current.Token).Token()
		switch {
		case err != nil && d.isReplaced(ctx, sealed):
			continue
		case err != nil:
			return "", d.refreshError(err, current.Token, refused)
		case token == current.Token:
			return token.AccessToken, nil
		}
		current.Token = token
		if replaced, err := d.server.Logins.replace(ctx, d.server, sealed, current); replaced || err != nil {
			return token.AccessToken, err
		}
	}
	return "", errors.New("its login changes all the time")
}

// isReplaced reports whether the stored login has changed since it was loaded.
func (d *loginTransport) isReplaced(ctx context.Context, loaded string) bool {
	stored, err := d.server.Logins.Store.Load(ctx, d.server.Name)
	return err == nil && stored != loaded
}

// refreshError returns why a token could not be refreshed. The server's own text is left out, because it cannot be trusted.
func (d *loginTransport) refreshError(err error, old *oauth2.Token, refused string) error {
	response, isResponse := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case old.RefreshToken == "" && refused != "":
		return d.needsLogin(fmt.Errorf("it refused the login (%d)", http.StatusUnauthorized))
	case old.RefreshToken == "":
		return d.needsLogin(errors.New("its login has ended"))
	case isResponse && response.Response.StatusCode < http.StatusInternalServerError &&
		response.Response.StatusCode != http.StatusTooManyRequests:
		return d.needsLogin(errors.New("its login has ended"))
	case isResponse:
		return fmt.Errorf("renew the login: it answers with %d", response.Response.StatusCode)
	default:
		return fmt.Errorf("renew the login: %w", err)
	}
}

// loginError is returned for a request that was not sent because the owner has to log in.
type loginError struct {
	why    error
	server string
}

// Error returns the reason, and the command that logs in.
func (e *loginError) Error() string {
	return fmt.Sprintf("%v: run multis mcp login %s where multis runs", e.why, e.server)
}

func (d *loginTransport) needsLogin(why error) error {
	return &loginError{why: why, server: d.server.Name}
}
