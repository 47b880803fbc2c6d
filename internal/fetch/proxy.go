package fetch

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ProxyOptions configure a Proxy.
type ProxyOptions struct {
	// Ports are the ports that may be reached. Defaults to 443.
	Ports []int
	// Domains are the domains that may be reached, including their subdomains. Empty means all.
	Domains []string
	// AllowPrivate allows connections to this machine and private networks, for tests.
	AllowPrivate bool
}

// Proxy is an HTTP proxy that connects one program to public addresses. It supports only CONNECT, which programs use for
// HTTPS. It never connects to metadata services, this machine or private networks, even if a name resolves to them.
type Proxy struct {
	options  ProxyOptions
	token    string
	listener net.Listener
	server   *http.Server
	tunnels  sync.WaitGroup
	ctx      context.Context //nolint:containedctx // ends the tunnels, which outlive the requests that began them
	stop     context.CancelFunc
}

// StartProxy starts a proxy on a port of this machine. Close ends it.
func StartProxy(ctx context.Context, o ProxyOptions) (*Proxy, error) {
	if len(o.Ports) == 0 {
		o.Ports = []int{443}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	p := &Proxy{options: o, token: rand.Text(), listener: listener}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: maxTime, MaxHeaderBytes: 64 << 10, IdleTimeout: maxTime}
	p.tunnels.Go(func() { _ = p.server.Serve(listener) })
	return p, nil
}

// Port returns the port of the proxy.
func (p *Proxy) Port() int {
	if at, ok := p.listener.Addr().(*net.TCPAddr); ok {
		return at.Port
	}
	return 0
}

// URL returns the address of the proxy with its password, as programs expect it in HTTPS_PROXY.
func (p *Proxy) URL() string { return "http://multis:" + p.token + "@" + p.listener.Addr().String() }

// Close ends the proxy and all its connections.
func (p *Proxy) Close() {
	p.stop()
	_ = p.server.Close()
	p.tunnels.Wait()
}

// ServeHTTP connects a client to the host that its CONNECT request names.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("multis:"+p.token))
	switch {
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) != 1:
		w.Header().Set("Proxy-Authenticate", "Basic")
		http.Error(w, "this proxy belongs to a program of multis", http.StatusProxyAuthRequired)
		return
	case r.Method != http.MethodConnect:
		http.Error(w, "only https", http.StatusMethodNotAllowed)
		return
	case !p.allows(r.Host):
		http.Error(w, "multis does not allow this address", http.StatusForbidden)
		return
	}
	kinds := []AddressKind{Public}
	if p.options.AllowPrivate {
		kinds = append(kinds, Private, OwnInterface, Loopback)
	}
	dialer := &net.Dialer{Timeout: maxTime, Control: Control(kinds...)}
	upstream, err := dialer.DialContext(p.ctx, "tcp", r.Host) //nolint:contextcheck // the tunnel outlives the request
	if errors.Is(err, ErrPrivate) {
		http.Error(w, "multis does not allow this address", http.StatusForbidden)
		return
	}
	if err != nil {
		http.Error(w, "the server cannot be reached", http.StatusBadGateway)
		return
	}
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		upstream.Close()
		return
	}
	client, buffered, err := hijacker.Hijack()
	if err != nil {
		upstream.Close()
		return
	}
	p.tunnels.Go(func() { p.tunnel(client, upstream, buffered) })
}

// tunnel copies in both directions until one side or the proxy is closed.
func (p *Proxy) tunnel(client, upstream net.Conn, fromClient io.Reader) {
	end := context.AfterFunc(p.ctx, func() { client.Close(); upstream.Close() })
	defer end()
	defer client.Close()
	defer upstream.Close()
	_ = client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(upstream, fromClient)
		if tcp, ok := upstream.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	_, _ = io.Copy(client, upstream)
	client.Close()
	<-done
}

// allows reports whether a host and port may be reached.
func (p *Proxy) allows(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	number, err := strconv.Atoi(port)
	allowed := false
	for _, one := range p.options.Ports {
		allowed = allowed || err == nil && one == number
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	inDomain := len(p.options.Domains) == 0
	for _, domain := range p.options.Domains {
		inDomain = inDomain || host == domain || strings.HasSuffix(host, "."+domain)
	}
	return allowed && inDomain
}
