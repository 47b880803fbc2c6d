package fetch_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"multis/internal/fetch"
)

// rebindingAnswers are what a name resolves to, one answer after the other: the name server of an attacker gives another
// one each time, or several at once.
var rebindingAnswers = [][]string{
	{"127.0.0.1"},
	{"10.0.0.1"},
	{"169.254.169.254"},
	{"::1"},
	{"::ffff:127.0.0.1"},
	{"fd00:ec2::254"},
	{"127.0.0.1", "::1", "192.168.0.1"},
	{"0.0.0.0"},
	{"100.64.0.1"},
	{"::"},
}

// serveRebinding serves DNS on a port of this machine. Each name gets the next of rebindingAnswers; asked counts the questions.
func serveRebinding(t *testing.T) (address string, asked *atomic.Int64) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	asked = &atomic.Int64{}
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil {
				continue
			}
			m.Response = true
			m.RecursionAvailable = true
			m.Additionals = nil
			for _, q := range m.Questions {
				for _, one := range rebindingAnswers[int(asked.Add(1)-1)/2%len(rebindingAnswers)] { // A and AAAA are asked for at once
					header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
					ip := net.ParseIP(one)
					switch four := ip.To4(); {
					case q.Type == dnsmessage.TypeA && four != nil:
						m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: [4]byte(four)}})
					case q.Type == dnsmessage.TypeAAAA:
						m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip.To16())}})
					}
				}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return conn.LocalAddr().String(), asked
}

func TestFetch_RebindingReachesNothing(t *testing.T) { //nolint:paralleltest // it replaces the resolver of the program
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	dns, asked := serveRebinding(t)
	system := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", dns)
	}}
	t.Cleanup(func() { net.DefaultResolver = system })

	client := fetch.New(fetch.Options{})
	for range 2 * len(rebindingAnswers) {
		_, err := client.Get(t.Context(), "http://rebind.example.com:"+u.Port()+"/", "")
		require.ErrorIs(t, err, fetch.ErrPrivate)
	}
	proxy, err := fetch.StartProxy(t.Context(), fetch.ProxyOptions{Ports: []int{port}, Domains: []string{"rebind.example.com"}})
	require.NoError(t, err)
	defer proxy.Close()
	for range 2 * len(rebindingAnswers) {
		_, err := newProxyClient(t, proxy.URL()).Get("https://rebind.example.com:" + u.Port() + "/")
		require.ErrorContains(t, err, "Forbidden", "a command with a network, by its proxy")
	}
	require.GreaterOrEqual(t, asked.Load(), int64(4*len(rebindingAnswers)))
	require.Zero(t, reached)
}
