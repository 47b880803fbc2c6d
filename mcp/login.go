package mcp

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// redirectURL is where the owner's browser ends after the login. Nothing listens there: he pastes the address from the browser.
const redirectURL = "http://127.0.0.1:8931/login"

// LoginStore stores a sealed login for each server.
type LoginStore interface {
	// Load returns a server's sealed login; empty if there is none.
	Load(ctx context.Context, server string) (string, error)
	// Save stores a server's sealed login, whatever was there.
	Save(ctx context.Context, server, text string) error
	// Replace stores text if what is stored is still was. It is false if it is not.
	Replace(ctx context.Context, server, was, text string) (bool, error)
}

// Logins are the owner's OAuth logins to servers, sealed with a secret that the store does not know.
type Logins struct {
	Store  LoginStore
	Secret string
}

// login is a token, and what is needed to refresh it.
type login struct {
	URL    string        `json:"url"` // of the server; a login is for this address only
	Client oauth2.Config `json:"client"`
	Token  *oauth2.Token `json:"token"`
}

var (
	errNoLogin = errors.New("it wants a login")
	// errUnsealable is returned for a login that was sealed with another secret, or changed.
	errUnsealable = errors.New("its login cannot be read with this as_token")
)

// load returns the login to a server, and text as it is stored. It returns errNoLogin, errUnsealable, or the store's error.
func (l Logins) load(ctx context.Context, s Server) (text string, known login, err error) {
	if text, err = l.Store.Load(ctx, s.Name); err != nil {
		return "", login{}, err
	}
	if text == "" {
		return "", login{}, errNoLogin
	}
	known, err = l.unseal(s, text)
	return text, known, err
}

func (l Logins) unseal(s Server, text string) (login, error) {
	box, err := l.aead()
	if err != nil {
		return login{}, err
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < box.NonceSize() {
		return login{}, errUnsealable
	}
	plain, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], []byte(s.Name))
	if err != nil {
		return login{}, errUnsealable
	}
	var known login
	if err := json.Unmarshal(plain, &known); err != nil || known.Token == nil {
		return login{}, errUnsealable
	}
	if known.URL != s.URL {
		return login{}, errNoLogin
	}
	return known, nil
}

// save seals and stores a login, whatever was there.
func (l Logins) save(ctx context.Context, s Server, known login) error {
	text, err := l.seal(s, known)
	if err != nil {
		return err
	}
	return l.Store.Save(ctx, s.Name, text)
}

// replace stores a login in place of the one that was loaded. It is false if that is no longer stored.
func (l Logins) replace(ctx context.Context, s Server, was string, known login) (bool, error) {
	text, err := l.seal(s, known)
	if err != nil {
		return false, err
	}
	return l.Store.Replace(ctx, s.Name, was, text)
}

func (l Logins) seal(s Server, known login) (string, error) {
	box, err := l.aead()
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(known)
	if err != nil {
		return "", fmt.Errorf("keep the login: %w", err)
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	return base64.StdEncoding.EncodeToString(box.Seal(nonce, nonce, plain, []byte(s.Name))), nil
}

func (l Logins) aead() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(l.Secret), nil, "multis: logins to MCP servers", 32)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return cipher.NewGCM(block)
}

// ErrNoLogin is returned by Login for a server that needs no login.
var ErrNoLogin = errors.New("it opens without a login")

// Login logs in to a server and stores the login. show has the owner open an address in his browser, and returns the address at which
// the browser ended. Login returns how many tools the server has.
func Login(ctx context.Context, s Server, show func(ctx context.Context, address string) (ended string, err error)) (int, error) {
	client := plainClient(s.URL, "")
	client.Timeout = connectTimeout // of each request; the owner has all the time he needs
	defer client.CloseIdleConnections()
	kept := false
	var failed error
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirectURL, RequestRefreshToken: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			ended, err := show(ctx, escapeURL(args.URL))
			if err != nil {
				failed = err
				return nil, err
			}
			result, err := parseRedirect(ended)
			failed = err
			return result, err
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			kept = true
			return oauth2.StaticTokenSource(token), s.Logins.save(ctx, s, login{URL: s.URL, Client: *c, Token: token})
		},
	}
	setClient(config, s)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return 0, fmt.Errorf("prepare the login: %w", err)
	}
	session, err := newClient(nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: client, OAuthHandler: &singleLogin{OAuthHandler: handler}, MaxRetries: -1, MaxEventSize: maxBody, DisableStandaloneSSE: true,
	}, nil)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, errors.New(problem(err))
	}
	defer session.Close()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	n := 0
	for _, err := range session.Tools(ctx, nil) {
		if err != nil {
			return 0, errors.New(problem(fmt.Errorf("ask what it has: %w", err)))
		}
		n++
	}
	if !kept {
		return n, ErrNoLogin
	}
	return n, nil
}

// singleLogin logs in at most once, however often the server is tried, so that the owner is asked once and the first error is the one returned.
type singleLogin struct {
	auth.OAuthHandler

	tried bool
	err   error
}

func (o *singleLogin) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	if !o.tried {
		o.tried, o.err = true, o.OAuthHandler.Authorize(ctx, r, resp)
		return o.err
	}
	_ = resp.Body.Close()
	if o.err != nil {
		return o.err
	}
	return fmt.Errorf("it refused the login that it just gave (%d)", resp.StatusCode)
}

// setClient configures the OAuth client: the one that the owner registered at the server, else multis registers itself.
func setClient(config *auth.AuthorizationCodeHandlerConfig, s Server) {
	if s.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "multis", RedirectURIs: []string{redirectURL}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
		return
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.ClientID}
	if s.ClientSecret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.ClientSecret}
	}
}

// escapeURL makes an address safe for a terminal: the server wrote it, and terminals obey control characters.
func escapeURL(address string) string {
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// parseRedirect reads the address at which the browser ended.
func parseRedirect(text string) (*auth.AuthorizationResult, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("that is no address; paste the whole one that the browser ended at")
	}
	q := address.Query()
	switch {
	case q.Get("error") != "":
		return nil, fmt.Errorf("the login was refused: %s", singleLine(strings.TrimSpace(q.Get("error")+" "+q.Get("error_description"))))
	case q.Get("code") == "" || q.Get("state") == "":
		return nil, fmt.Errorf("that is not where the login ended; paste the whole address, which begins with %s?", redirectURL)
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
