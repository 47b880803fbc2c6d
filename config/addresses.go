package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"maunium.net/go/mautrix/id"
)

func userID(s string) (id.UserID, error) {
	if err := checkVisible(s); err != nil {
		return "", err
	}
	user := id.UserID(s)
	if name, _, err := user.ParseAndValidateRelaxed(); err != nil || name == "" || hasSpace(s) {
		return "", fmt.Errorf(`%.60q is not a Matrix id; write it like "`+exampleOwner+`"`, s)
	}
	return user, nil
}

func roomID(s string) (string, error) {
	if err := checkVisible(s); err != nil {
		return "", err
	}
	if len(s) < 2 || len(s) > 255 || s[0] != '!' || hasSpace(s) {
		return "", fmt.Errorf(`%.60q is not the id of a room; write it like "!abc:example.com" (in Element: room settings, Advanced)`, s)
	}
	return s, nil
}

func localpart(s string) (string, error) {
	if s == Placeholder {
		return s, nil
	}
	if err := id.ValidateUserLocalpart(s); err != nil || len(s) > 100 {
		return "", fmt.Errorf("%.60q is not the first half of a Matrix id; write small letters, digits or ._=-/ without @", s)
	}
	return s, nil
}

func serverName(s string) (string, error) {
	if !id.ValidateServerName(s) {
		return "", fmt.Errorf("%.60q is not a server name; write what stands after the colon in your Matrix id, such as example.com", s)
	}
	return s, nil
}

// webAddress returns a parser of an http(s) URL without credentials, query or fragment. like is the example in its
// errors. They never quote the text, which may contain a password.
func webAddress(like string) func(string) (string, error) {
	return func(s string) (string, error) {
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || hasSpace(s) {
			return "", errors.New("is not a web address; write it like " + like)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return "", errors.New("has a password, a ? or a # in it; write scheme, host, port and path only")
		}
		return strings.TrimRight(s, "/"), nil
	}
}

// secretURL parses an http(s) URL that may have a query. Errors never quote it, because it may contain a secret.
func secretURL(s string) (Secret, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || hasSpace(s) {
		return "", errors.New("is not a web address; write it like https://example.com/multis")
	}
	if u.User != nil {
		return "", errors.New("has a user name or password in it, which is not sent; remove it, and put a key into the path")
	}
	return Secret(s), nil
}

// mcpURL parses a secretURL and removes trailing slashes.
func mcpURL(s string) (Secret, error) {
	address, err := secretURL(s)
	return Secret(strings.TrimRight(address.Value(), "/")), err
}

// environmentName returns an error for a text that is no name of an environment variable.
func environmentName(s string) error {
	if !variableName.MatchString(strings.ToUpper(s)) {
		return errors.New("has a name that is not an environment variable; write letters, digits and underscores, such as GITHUB_TOKEN")
	}
	return nil
}

// headerName returns an error for a text that is no name of an HTTP header, or one that multis sets itself.
func headerName(s string) error {
	if !httpguts.ValidHeaderFieldName(s) {
		return errors.New("has a name that is not an HTTP header; write it like X-Api-Key")
	}
	if slices.Contains([]string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection"},
		textproto.CanonicalMIMEHeaderKey(s)) {
		return errors.New("has a header that multis sets itself; remove it")
	}
	return nil
}

// signingSecret parses a secret of at least 24 characters, so that it cannot be guessed.
func signingSecret(s string) (Secret, error) {
	const least = 24
	if n := len(s); n < least {
		return "", fmt.Errorf("has %d characters; write at least %d, such as whsec_ and what openssl rand -base64 32 prints", n, least)
	}
	if encoded, ok := strings.CutPrefix(s, "whsec_"); ok {
		if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
			return "", errors.New("begins with whsec_ but is not base64 after it; write what openssl rand -base64 32 prints there")
		}
	}
	return Secret(s), nil
}

func listenHost(s string) (string, error) {
	if s == "" || hasSpace(s) || strings.ContainsAny(s, "/@") {
		return "", fmt.Errorf("%.60q is not an address to listen on; write 127.0.0.1, or 0.0.0.0 for every interface", s)
	}
	return s, nil
}

// pageAddress parses the address of the web page, without a path. Without TLS, browsers must be on this machine, or behind ssh -L.
func pageAddress(s string) (string, error) {
	const like = "; write it like https://multis.example.com or, on this machine, http://127.0.0.1:29400"
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || hasSpace(s) {
		return "", errors.New("is not a web address" + like)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("has more than scheme, host and port in it" + like)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", errors.New("is not encrypted, and everybody on the way could read and change the page" + like)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// localAddress parses a host of this machine and a port.
func localAddress(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	n, portErr := strconv.Atoi(port)
	ip := net.ParseIP(host)
	isLocal := host == "localhost" || ip != nil && ip.IsLoopback()
	if err != nil || portErr != nil || n < 1 || n > 65535 || !isLocal {
		return "", fmt.Errorf("%.60q is not an address of this machine only; write 127.0.0.1 and a port, such as 127.0.0.1:29400", s)
	}
	return s, nil
}
