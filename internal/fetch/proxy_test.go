package fetch_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
)

// newProxyClient returns an HTTP client that uses the proxy at an address.
func newProxyClient(t *testing.T, address string) *http.Client {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(u), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestProxy_AllowedPortsAndDomainsOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	get := func(o fetch.ProxyOptions, target string, change func(string) string) (string, error) {
		p, err := fetch.StartProxy(t.Context(), o)
		require.NoError(t, err)
		defer p.Close()
		require.NotZero(t, p.Port())
		address := p.URL()
		if change != nil {
			address = change(address)
		}
		response, err := newProxyClient(t, address).Get(target)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	here := "https://127.0.0.1:" + port
	body, err := get(fetch.ProxyOptions{Ports: []int{number}, AllowPrivate: true}, here, nil)
	require.NoError(t, err)
	require.Equal(t, "hello", body)
	body, err = get(fetch.ProxyOptions{
		Ports:        []int{number},
		Domains:      []string{"localhost"},
		AllowPrivate: true,
	}, "https://localhost:"+port, nil)
	require.NoError(t, err)
	require.Equal(t, "hello", body)

	_, err = get(fetch.ProxyOptions{Ports: []int{number}}, here, nil)
	require.ErrorContains(t, err, "Forbidden", "this machine and private networks are out of reach")
	_, err = get(fetch.ProxyOptions{Ports: []int{number}}, "https://localhost:"+port, nil)
	require.ErrorContains(t, err, "Forbidden", "also by a name that leads there")
	_, err = get(fetch.ProxyOptions{AllowPrivate: true}, here, nil)
	require.ErrorContains(t, err, "Forbidden", "443 unless told")
	_, err = get(fetch.ProxyOptions{Ports: []int{number}, Domains: []string{"example.com"}, AllowPrivate: true}, here, nil)
	require.ErrorContains(t, err, "Forbidden")
	_, err = get(fetch.ProxyOptions{Ports: []int{number}, AllowPrivate: true}, here, func(string) string {
		return "http://multis:wrong@" + "127.0.0.1:1"
	})
	require.Error(t, err)
	_, err = get(fetch.ProxyOptions{Ports: []int{number}, AllowPrivate: true}, here, func(s string) string {
		u, err := url.Parse(s)
		require.NoError(t, err)
		u.User = url.UserPassword("multis", "wrong")
		return u.String()
	})
	require.ErrorContains(t, err, "Proxy Authentication Required")
	for _, metadata := range []string{"https://169.254.169.254", "https://[::ffff:169.254.169.254]", "https://[fd00:ec2::254]"} {
		_, err = get(fetch.ProxyOptions{AllowPrivate: true}, metadata, nil)
		require.ErrorContains(t, err, "Forbidden", "no option reaches a metadata service")
	}
	p, err := fetch.StartProxy(t.Context(), fetch.ProxyOptions{AllowPrivate: true})
	require.NoError(t, err)
	defer p.Close()
	response, err := newProxyClient(t, p.URL()).Get("http://example.com/")
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, "plain http is not forwarded")
}
