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

// loginAddress is where the owner's browser is sent when he has logged in. Nobody listens there: he pastes the address.
const loginAddress = "http://127.0.0.1:8931/login"

// Shelf keeps texts by the names of servers.
type Shelf interface {
	// Kept returns a server's text; empty if there is none.
	Kept(ctx context.Context, server string) (string, error)
	// Keep puts a server's text in place of what was there.
	Keep(ctx context.Context, server, text string) error
	// Replace does so only if the one that was there is still there; false: it is not.
	Replace(ctx context.Context, server, was, text string) (bool, error)
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
	errNone = errors.New("it wants a login")
	// errSealed: the secret is another one than when it was sealed, or somebody changed it.
	errSealed = errors.New("its login cannot be read with this as_token")
)

// of opens the login to a server, and returns it as it is kept as well: errNone, errSealed, or what the shelf says.
func (l Logins) of(ctx context.Context, s Server) (text string, known login, err error) {
	if text, err = l.Shelf.Kept(ctx, s.Name); err != nil {
		return "", login{}, err
	}
	if text == "" {
		return "", login{}, errNone
	}
	known, err = l.open(s, text)
	return text, known, err
}

func (l Logins) open(s Server, text string) (login, error) {
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

// keep keeps a login, whatever was there.
func (l Logins) keep(ctx context.Context, s Server, known login) error {
	text, err := l.seal(s, known)
	if err != nil {
		return err
	}
	return l.Shelf.Keep(ctx, s.Name, text)
}

// renew keeps a login in place of the one that was read. False: that is no longer there.
func (l Logins) renew(ctx context.Context, s Server, was string, known login) (bool, error) {
	text, err := l.seal(s, known)
	if err != nil {
		return false, err
	}
	return l.Shelf.Replace(ctx, s.Name, was, text)
}

func (l Logins) seal(s Server, known login) (string, error) {
	box, err := l.box()
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

// ErrNoLogin is returned by Login for a server that opens without one.
var ErrNoLogin = errors.New("it opens without a login")

// Login logs in to a server and keeps what it gave. show has the owner open an address in his browser, and returns the one where
// that ended. It returns how many tools the server has.
func Login(ctx context.Context, s Server, show func(ctx context.Context, address string) (ended string, err error)) (int, error) {
	client := plainClient(s.URL, "")
	client.Timeout = connectTime // of each request; the owner may take his time
	defer client.CloseIdleConnections()
	kept := false
	var failed error
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: loginAddress, RequestRefreshToken: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			ended, err := show(ctx, printable(args.URL))
			if err != nil {
				failed = err
				return nil, err
			}
			result, err := readEnded(ended)
			failed = err
			return result, err
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			kept = true
			return oauth2.StaticTokenSource(token), s.Logins.keep(ctx, s, login{URL: s.URL, Client: *c, Token: token})
		},
	}
	register(config, s)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return 0, fmt.Errorf("prepare the login: %w", err)
	}
	session, err := newClient(nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: client, OAuthHandler: &once{OAuthHandler: handler}, MaxRetries: -1, MaxEventSize: maxBody, DisableStandaloneSSE: true,
	}, nil)
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, errors.New(problem(err))
	}
	defer session.Close()
	ctx, cancel := context.WithTimeout(ctx, connectTime)
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

// once logs in at most once, however often the server is tried: nobody is asked again, and what went wrong is not covered up.
type once struct {
	auth.OAuthHandler

	tried bool
	err   error
}

func (o *once) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
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

// register says how a server knows multis: as the owner registered it there, else as it makes itself known.
func register(config *auth.AuthorizationCodeHandlerConfig, s Server) {
	if s.ClientID == "" {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "multis", RedirectURIs: []string{loginAddress}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
		return
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.ClientID}
	if s.ClientSecret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.ClientSecret}
	}
}

// printable is an address as it can be shown in a terminal: the server wrote it, and a terminal obeys some signs.
func printable(address string) string {
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

// readEnded reads the address that a browser ended at.
func readEnded(text string) (*auth.AuthorizationResult, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("that is no address; paste the whole one that the browser ended at")
	}
	q := address.Query()
	switch {
	case q.Get("error") != "":
		return nil, fmt.Errorf("the login was refused: %s", clean(strings.TrimSpace(q.Get("error")+" "+q.Get("error_description"))))
	case q.Get("code") == "" || q.Get("state") == "":
		return nil, fmt.Errorf("that is not where the login ended; paste the whole address, which begins with %s?", loginAddress)
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
