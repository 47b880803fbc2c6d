//go:build chaos

package web_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
)

// frontAddress is where a proxy of the tests listens.
const frontAddress = "127.0.0.1"

// front is a reverse proxy before a page, configured as docs/web.md says.
type front struct {
	*rig

	listener string // its host and port
	roots    *x509.CertPool
}

// exampleOf returns the first block of code below a line of docs/web.md, for the page at an address.
func exampleOf(t *testing.T, line, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/web.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n"+line)
	require.True(t, found, line)
	block := regexp.MustCompile("(?s)```\n(.*?)```").FindStringSubmatch(rest)
	require.NotNil(t, block, line)
	require.Contains(t, block[1], "127.0.0.1:29400")
	return strings.ReplaceAll(block[1], "127.0.0.1:29400", page)
}

// writeCertificate writes the certificate of a test server, which is valid for hosts of example.com, and its key.
func writeCertificate(t *testing.T, dir string) (certificate, key string, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	secret, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return certificate, key, roots
}

// openFront starts a proxy before a page.
func openFront(t *testing.T, program string) *front {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	path, err := exec.LookPath(program)
	require.NoError(t, err, "deploy/setup.sh proxies installs it")
	f := &front{rig: newRig(t)}
	page := httptest.NewServer(f.site)
	t.Cleanup(page.Close)
	taken, err := net.Listen("tcp", frontAddress+":0")
	require.NoError(t, err)
	f.listener = taken.Addr().String()
	require.NoError(t, taken.Close())
	dir := t.TempDir()
	var certificate, key string
	certificate, key, f.roots = writeCertificate(t, dir)
	_, port, err := net.SplitHostPort(f.listener)
	require.NoError(t, err)
	var config string
	var args []string
	file := filepath.Join(dir, "config")
	host := strings.TrimPrefix(address, "https://")
	switch program {
	case "nginx":
		config = fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s ssl;
		server_name %[3]s;
		ssl_certificate %[4]s;
		ssl_certificate_key %[5]s;
%[6]s	}
}
`, dir, f.listener, host, certificate, key, exampleOf(t, "nginx,", strings.TrimPrefix(page.URL, "http://")))
		args = []string{"-c", file, "-p", dir}
	case "caddy":
		site := exampleOf(t, "Caddy:", strings.TrimPrefix(page.URL, "http://"))
		require.Contains(t, site, host+" {\n")
		site = strings.Replace(site, host+" {\n", fmt.Sprintf("%s:%s {\n\tbind %s\n\ttls %s %s\n", host, port, frontAddress, certificate, key), 1)
		config = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site
		args = []string{"run", "--adapter", "caddyfile", "--config", file}
	}
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", f.listener)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}, 30*time.Second, 50*time.Millisecond)
	return f
}

// browser returns a browser at an address of this machine.
func (f *front) browser(from string) *http.Client {
	f.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(f.t, err)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: f.roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, f.listener)
			},
		},
	}
}

// ask sends a request through the proxy as a browser does, and returns the answer with its body.
func (f *front) ask(browser *http.Client, method, path, body string, options ...option) (*http.Response, string) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, address+path, strings.NewReader(body))
	require.NoError(f.t, err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		req.Header.Set("Origin", address)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, o := range options {
		o(req)
	}
	resp, err := browser.Do(req)
	require.NoError(f.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	return resp, string(text)
}

// TestProxies_PassWhatThePageNeeds uses the page through the real nginx and the real Caddy, configured as docs/web.md says.
func TestProxies_PassWhatThePageNeeds(t *testing.T) { //nolint:paralleltest // it sets PATH
	for _, program := range []string{"nginx", "caddy"} {
		t.Run(program, func(t *testing.T) {
			f := openFront(t, program)
			f.fill("Ana")
			const home = "127.0.0.7"
			browser := f.browser(home)
			resp, _ := f.ask(browser, http.MethodGet, "/", "")
			require.Equal(t, "/sign-in", resp.Header.Get("Location"))

			token := f.link(owner)
			_, page := f.ask(browser, http.MethodGet, "/sign-in/"+token, "")
			require.Contains(t, page, home)
			forged := with("X-Forwarded-For", "203.0.113.9")
			resp, page = f.ask(browser, http.MethodPost, "/sign-in", "link="+token, forged)
			require.Equal(t, http.StatusSeeOther, resp.StatusCode, page)
			require.Equal(t, []string{"in A browser " + home}, f.told, "the address is the browser's, whatever it says")
			resp, page = f.ask(browser, http.MethodGet, "/", "")
			requireSafeHeaders(t, resp.Header)
			require.Contains(t, page, marker)
			resp, _ = f.ask(browser, http.MethodGet, "/waiting", "")
			require.Equal(t, http.StatusOK, resp.StatusCode)

			question := url.Values{"q": {"What does it cost?"}}.Encode()
			resp, _ = f.ask(browser, http.MethodPost, "/preview", question)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, `preview "What does it cost?"`, f.told[len(f.told)-1])
			before := len(f.told)
			for _, foreign := range []option{with("Origin", "https://evil.example.com"), with("Sec-Fetch-Site", "cross-site")} {
				resp, _ = f.ask(browser, http.MethodPost, "/preview", question, foreign)
				require.Equal(t, http.StatusForbidden, resp.StatusCode)
			}
			require.Len(t, f.told, before, "another site does nothing")

			form, kind := uploadForm(t, "prices.md", strings.Repeat("x", knowledge.MaxSize), "public")
			resp, _ = f.ask(browser, http.MethodPost, "/documents", form, with("Content-Type", kind))
			require.Equal(t, http.StatusOK, resp.StatusCode, "the largest document passes")

			f.limitsTries(home)
		})
	}
}

// limitsTries checks that the tries to sign in are counted by the address that the proxy sees.
func (f *front) limitsTries(tried string) {
	f.t.Helper()
	status := 0
	for i := range 10 {
		resp, _ := f.ask(f.browser(tried), http.MethodPost, "/sign-in", "link=x", with("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)))
		status = resp.StatusCode
	}
	require.Equal(f.t, http.StatusTooManyRequests, status, "the eleventh try, whatever it says where it comes from")
	resp, _ := f.ask(f.browser("127.0.0.8"), http.MethodPost, "/sign-in", "link=x")
	require.Equal(f.t, http.StatusNotFound, resp.StatusCode, "others still may")
}
