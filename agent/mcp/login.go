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

// redirectURL is the address to which the authorization server redirects the owner's browser. No server listens there: the owner copies the
// address from the browser.
const redirectURL = "http://127.0.0.1:8931/login"

// LoginStore stores a sealed login for each server.
type LoginStore interface {
	// Load returns a server's sealed login; empty if there is none.
	Load(ctx context.Context, server string) (string, error)
	// Save stores a server's sealed login in place of any other.
	Save(ctx context.Context, server, sealed string) error
	// Replace stores a server's sealed login if the stored one is still old. It reports whether it did.
	Replace(ctx context.Context, server, old, sealed string) (bool, error)
}

// Logins reads and writes the owner's OAuth logins to servers. They are encrypted with a secret that the store does not have.
type Logins struct {
	Store  LoginStore
	Secret string
}

// login is a token, and what is needed to refresh it.
type login struct {
	URL    string        `json:"url"` // of the server; the login is not used for any other address
	Client oauth2.Config `json:"client"`
	Token  *oauth2.Token `json:"token"`
}

var (
	errLoginRequired = errors.New("it wants a login")
	// errUnsealable is returned for a login that was sealed with another secret, or changed.
	errUnsealable = errors.New("its login cannot be read with this as_token")
)

// load returns the login to a server, and sealed, the form in which it is stored. It returns errLoginRequired,
// errUnsealable, or the store's error.
func (l Logins) load(ctx context.Context, s Server) (sealed string, current login, err error) {
	if sealed, err = l.Store.Load(ctx, s.Name); err != nil {
		return "", login{}, err
	}
	if sealed == "" {
		return "", login{}, errLoginRequired
	}
	current, err = l.unseal(s, sealed)
	return sealed, current, err
}

// unseal decrypts a stored login.
func (l Logins) unseal(s Server, text string) (login, error) {
	aead, err := l.aead()
	if err != nil {
		return login{}, err
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < aead.NonceSize() {
		return login{}, errUnsealable
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(s.Name))
	if err != nil {
		return login{}, errUnsealable
	}
	var stored login
	if err := json.Unmarshal(plain, &stored); err != nil || stored.Token == nil {
		return login{}, errUnsealable
	}
	if stored.URL != s.URL {
		return login{}, errLoginRequired
	}
	return stored, nil
}

// save encrypts and stores a login in place of any other.
func (l Logins) save(ctx context.Context, s Server, next login) error {
	sealed, err := l.seal(s, next)
	if err != nil {
		return err
	}
	return l.Store.Save(ctx, s.Name, sealed)
}

// replace encrypts and stores a login if old is still the stored one. It reports whether it did.
func (l Logins) replace(ctx context.Context, s Server, old string, next login) (bool, error) {
	sealed, err := l.seal(s, next)
	if err != nil {
		return false, err
	}
	return l.Store.Replace(ctx, s.Name, old, sealed)
}

// seal encrypts a login.
func (l Logins) seal(s Server, plainLogin login) (string, error) {
	aead, err := l.aead()
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(plainLogin)
	if err != nil {
		return "", fmt.Errorf("keep the login: %w", err)
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	return base64.StdEncoding.EncodeToString(aead.Seal(nonce, nonce, plain, []byte(s.Name))), nil
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

// ErrLoginNotNeeded is returned by Login for a server that needs no login.
var ErrLoginNotNeeded = errors.New("it opens without a login")

// Login logs in to a server, stores the login and returns how many tools the server has. browse asks the owner to open an address in the
// browser, and returns the address to which the browser was redirected.
func Login(ctx context.Context, s Server, browse func(ctx context.Context, address string) (redirected string, err error)) (int, error) {
	client := plainClient(s.URL, "")
	client.Timeout = connectTimeout // of each request; the owner's answer has no timeout
	defer client.CloseIdleConnections()
	saved := false
	var failed error
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirectURL, RequestRefreshToken: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			redirected, err := browse(ctx, escapeURL(args.URL))
			if err != nil {
				failed = err
				return nil, err
			}
			result, err := parseRedirect(redirected)
			failed = err
			return result, err
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			saved = true
			return oauth2.StaticTokenSource(token), s.Logins.save(ctx, s, login{URL: s.URL, Client: *c, Token: token})
		},
	}
	setClient(config, s)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return 0, fmt.Errorf("prepare the login: %w", err)
	}
	session, err := newClient(nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             s.URL,
		HTTPClient:           client,
		OAuthHandler:         &singleLogin{OAuthHandler: handler},
		MaxRetries:           -1,
		MaxEventSize:         maxBody,
		DisableStandaloneSSE: true,
	}, nil)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, errors.New(problemText(err))
	}
	defer session.Close()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	n := 0
	for _, err := range session.Tools(ctx, nil) {
		if err != nil {
			return 0, errors.New(problemText(fmt.Errorf("ask what it has: %w", err)))
		}
		n++
	}
	if !saved {
		return n, ErrLoginNotNeeded
	}
	return n, nil
}

// singleLogin is an OAuth handler that logs in at most once, so that the owner is asked once and the first error is returned.
type singleLogin struct {
	auth.OAuthHandler

	tried bool
	err   error
}

// Authorize logs in with the first request and fails with all later ones.
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

// setClient configures the OAuth client. It is the one that the owner registered at the server; without one, multis registers itself.
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

// escapeURL escapes control characters in an address, because the server wrote it and a terminal would execute them.
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

// parseRedirect reads the address to which the browser was redirected.
func parseRedirect(text string) (*auth.AuthorizationResult, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("that is not an address; paste the whole one that the browser ended at")
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
