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
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// loginAddress is where the owner's browser is sent when he has logged in. Nobody listens there: he pastes the address.
const loginAddress = "http://127.0.0.1:8931/login"

// Shelf keeps texts by the names of servers.
type Shelf interface {
	// Kept returns a server's text; empty if there is none.
	Kept(ctx context.Context, server string) (string, error)
	// Keep puts a server's text in place of what was there.
	Keep(ctx context.Context, server, text string) error
}

// Logins are what servers gave when the owner logged in to them (OAuth), sealed with a secret that the shelf does not know.
type Logins struct {
	Shelf  Shelf
	Secret string
}

// login is what a server gave, and how it is made new.
type login struct {
	URL    string        `json:"url"` // of the server: what has another address is another server
	Client oauth2.Config `json:"client"`
	Token  *oauth2.Token `json:"token"`
}

var (
	// errLogin is what stands in the way of a server that wants one; nothing was sent to it.
	errLogin = errors.New("a login is needed")
	errNone  = errors.New("it wants a login")
	// errSealed: the secret is another one than when it was sealed, or somebody changed it.
	errSealed = errors.New("its login cannot be read with this as_token")
)

// of opens the login to a server: errNone, errSealed, or what the shelf says.
func (l Logins) of(ctx context.Context, s Server) (login, error) {
	text, err := l.Shelf.Kept(ctx, s.Name)
	if err != nil {
		return login{}, err
	}
	if text == "" {
		return login{}, errNone
	}
	box, err := l.box()
	if err != nil {
		return login{}, err
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < box.NonceSize() {
		return login{}, errSealed
	}
	plain, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], []byte(s.Name))
	if err != nil {
		return login{}, errSealed
	}
	var known login
	if err := json.Unmarshal(plain, &known); err != nil || known.Token == nil {
		return login{}, errSealed
	}
	if known.URL != s.URL {
		return login{}, errNone
	}
	return known, nil
}

func (l Logins) keep(ctx context.Context, s Server, known login) error {
	box, err := l.box()
	if err != nil {
		return err
	}
	plain, err := json.Marshal(known)
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	return l.Shelf.Keep(ctx, s.Name, base64.StdEncoding.EncodeToString(box.Seal(nonce, nonce, plain, []byte(s.Name))))
}

func (l Logins) box() (cipher.AEAD, error) {
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

// door shows a server the token of the owner's login, and has it made new when its time is over. It never asks for a login by
// itself: that takes the owner.
type door struct {
	server Server
	client *http.Client
	mu     sync.Mutex // one at a time makes a token new: some servers take back the older ones
}

// TokenSource is asked before each request, so that a login is seen as soon as it was kept.
func (d *door) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	token, err := d.token(ctx)
	return oauth2.StaticTokenSource(token), err
}

// token is one that is good now. A new one is kept before it is used: the older ones may open nothing any more.
func (d *door) token(ctx context.Context) (*oauth2.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, err := d.server.Logins.of(ctx, d.server)
	if errors.Is(err, errNone) || errors.Is(err, errSealed) {
		return nil, d.ask(err)
	}
	if err != nil {
		return nil, err
	}
	token, err := known.Client.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, d.client), known.Token).Token()
	if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused || err != nil && known.Token.RefreshToken == "" {
		return nil, d.ask(errors.New("its login is over"))
	}
	if err != nil {
		return nil, fmt.Errorf("renew the login: %w", err)
	}
	if token.AccessToken != known.Token.AccessToken {
		known.Token = token
		if err := d.server.Logins.keep(ctx, d.server, known); err != nil {
			return nil, err
		}
	}
	return token, nil
}

// tokens is a source of what a function gives.
type tokens func() (*oauth2.Token, error)

// Token is that of oauth2.TokenSource.
func (t tokens) Token() (*oauth2.Token, error) { return t() }

// Authorize is asked when the server refused the token.
func (d *door) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
	defer resp.Body.Close()
	return d.ask(fmt.Errorf("it refused the login (%d)", resp.StatusCode))
}

func (d *door) ask(why error) error {
	return fmt.Errorf("%w: run multis mcp login %s where multis runs", why, d.server.Name)
}

// ErrNoLogin is returned by Login for a server that opens without one.
var ErrNoLogin = errors.New("it opens without a login")

// Login logs in to a server and keeps what it gave. show has the owner open an address in his browser, and returns the one where
// that ended. It returns how many tools the server has.
func Login(ctx context.Context, s Server, show func(ctx context.Context, address string) (ended string, err error)) (int, error) {
	client := plainClient("")
	kept := false
	var asked *auth.AuthorizationResult // once, however often the server is tried
	var failed error
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: loginAddress, RequestRefreshToken: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if asked == nil && failed == nil {
				var ended string
				if ended, failed = show(ctx, args.URL); failed == nil {
					asked, failed = readEnded(ended)
				}
			}
			return asked, failed
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			kept = true
			d := &door{server: s, client: client}
			return tokens(func() (*oauth2.Token, error) { return d.token(ctx) }), s.Logins.keep(ctx, s, login{URL: s.URL, Client: *c, Token: token})
		},
	}
	if s.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "multis", RedirectURIs: []string{loginAddress}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	} else {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.ClientID}
		if s.ClientSecret != "" {
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.ClientSecret}
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return 0, fmt.Errorf("prepare the login: %w", err)
	}
	defer client.CloseIdleConnections()
	session, err := newClient(nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: client, OAuthHandler: handler, MaxRetries: -1, MaxEventSize: maxBody, DisableStandaloneSSE: true,
	}, nil)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, err
	}
	defer session.Close()
	n := 0
	for _, err := range session.Tools(ctx, nil) {
		if err != nil {
			return 0, fmt.Errorf("ask what it has: %w", err)
		}
		n++
	}
	if !kept {
		return n, ErrNoLogin
	}
	return n, nil
}

// readEnded reads the address that a browser ended at.
func readEnded(text string) (*auth.AuthorizationResult, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("that is no address; paste the whole one that the browser ended at")
	}
	q := address.Query()
	switch {
	case q.Get("error") != "":
		return nil, fmt.Errorf("the login was refused: %s", strings.TrimSpace(q.Get("error")+" "+q.Get("error_description")))
	case q.Get("code") == "" || q.Get("state") == "":
		return nil, fmt.Errorf("that is not where the login ended; paste the whole address, which begins with %s?", loginAddress)
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
