package fetch

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site starts a web server whose paths give different responses.
func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "hello ", r.UserAgent())
	})
	mux.HandleFunc("/dated", func(w http.ResponseWriter, r *http.Request) {
		const then = "Fri, 20 Nov 2026 17:00:00 GMT"
		w.Header().Set("Last-Modified", then)
		if r.Header.Get("If-Modified-Since") == then {
			w.WriteHeader(http.StatusNotModified)
		}
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/page", http.StatusFound) })
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		for range 11 {
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
		}
	})
	mux.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 16 {
			fmt.Fprint(z, strings.Repeat("x", 1<<20))
		}
		z.Close()
	})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestGet_UnchangedForKnownValidator(t *testing.T) {
	t.Parallel()
	c, address := New(Options{UserAgent: "multis/1", AllowPrivate: true}), site(t)
	page, err := c.Get(t.Context(), address+"/moved#part", "")
	require.NoError(t, err)
	require.Equal(t, Page{
		Address:   address + "/page",
		Type:      "text/html; charset=utf-8",
		Data:      []byte("hello multis/1"),
		Validator: `"one"`,
	}, page)
	_, err = c.Get(t.Context(), address+"/page", page.Validator)
	require.ErrorIs(t, err, ErrUnchanged)

	page, err = c.Get(t.Context(), address+"/dated", `"other"`)
	require.NoError(t, err)
	_, err = c.Get(t.Context(), address+"/dated", page.Validator)
	require.ErrorIs(t, err, ErrUnchanged)
}

func TestGet_IgnoresInvalidValidators(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]Validator{
		`"one"`: `"one"`, `W/"a b"`: `W/"a b"`, "\"\xff\"": "", "\"é\"": "", `"` + strings.Repeat("x", 1000) + `"`: "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", tag) }))
		t.Cleanup(server.Close)
		page, err := New(Options{AllowPrivate: true}).Get(t.Context(), server.URL, "")
		require.NoError(t, err)
		require.Equal(t, want, page.Validator, tag)
	}
}

func TestGet_Errors(t *testing.T) {
	t.Parallel()
	address := site(t)
	for _, test := range []struct {
		name, address string
		loopback      bool
		want          error
	}{
		{"this machine", address + "/page", false, ErrPrivate},
		{"this machine by name", strings.Replace(address, "127.0.0.1", "localhost", 1) + "/page", false, ErrPrivate},
		{"this machine, written as IPv6", strings.Replace(address, "127.0.0.1", "[::ffff:127.0.0.1]", 1) + "/page", false, ErrPrivate},
		{"sent on to a cloud's inside", address + "/inside", true, ErrPrivate},
		{"sent on to a file", address + "/file", true, ErrAddress},
		{"sent round and round", address + "/round", true, ErrRedirects},
		{"too big", address + "/big", true, ErrTooBig},
		{"too big when unpacked", address + "/packed", true, ErrTooBig},
		{"not there", address + "/nothing", true, StatusError{Code: http.StatusNotFound}},
		{"nobody listens", "http://127.0.0.1:1/", true, ErrUnreachable},
		{"a file", "file:///etc/passwd", true, ErrAddress},
		{"no address", "prices", true, ErrAddress},
		{"no name", "https:///x", true, ErrAddress},
	} {
		_, err := New(Options{AllowPrivate: test.loopback}).Get(t.Context(), test.address, "")
		require.ErrorIs(t, err, test.want, test.name)
	}
	require.True(t, StatusError{Code: http.StatusServiceUnavailable}.Temporary())
	require.False(t, StatusError{Code: http.StatusNotFound}.Temporary())
	require.EqualError(t, StatusError{Code: http.StatusNotFound}, "the server says 404 Not Found")
}

func TestGet_EndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := New(Options{AllowPrivate: true}).Get(ctx, site(t)+"/slow", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAddressKind(t *testing.T) {
	t.Parallel()
	_, mine, err := net.ParseCIDR("93.184.216.35/24")
	require.NoError(t, err)
	mine.IP = net.ParseIP("93.184.216.35")
	own := []net.Addr{
		mine, &net.IPNet{IP: net.ParseIP("2606:4700::99"), Mask: net.CIDRMask(64, 128)},
		&net.IPNet{IP: net.ParseIP("192.168.1.9"), Mask: net.CIDRMask(24, 32)},
	}
	for want, addresses := range map[AddressKind][]string{
		Public:       {"1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1", "100.128.0.1", "168.63.129.17"},
		OwnInterface: {"93.184.216.35", "::ffff:93.184.216.35", "2606:4700::99", "192.168.1.9"},
		Private:      {"10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::ffff:10.0.0.1", "fc00::1", "fd12::1"},
		Loopback:     {"0.0.0.0", "127.0.0.1", "127.9.9.9", "::", "::1", "::ffff:127.0.0.1", "::ffff:0.0.0.0"},
		Blocked: {
			"0.1.2.3", "100.64.0.1", "100.100.100.200", "168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "169.254.169.254",
			"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
			"192.0.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::127.0.0.1", "64:ff9b::7f00:1",
			"64:ff9b::5db8:d823", "64:ff9b:1::1", "fd00:ec2::254",
			"fd20:ce::254", "fd00:c1::a9fe:a9fe", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
			"2002:a83f:8110::",
		},
	} {
		for _, a := range addresses {
			require.Equal(t, want, addressKind(netip.MustParseAddr(a), own), a)
		}
	}
	require.Equal(t, Blocked, addressKind(netip.Addr{}, own))
}

func TestFetch_RefusesOwnInterfaces(t *testing.T) {
	t.Parallel()
	own, err := net.InterfaceAddrs()
	require.NoError(t, err)
	require.NotEmpty(t, own)
	for _, o := range own {
		p, err := netip.ParsePrefix(o.String())
		require.NoError(t, err)
		require.ErrorIs(t, Control(Public, Private)("tcp", netip.AddrPortFrom(p.Addr(), 80).String(), nil), ErrPrivate)
	}
	require.NoError(t, Control(Public)("tcp", "1.1.1.1:443", nil))
	require.NoError(t, Control(Public, Loopback)("tcp", "[::ffff:127.0.0.1]:80", nil))
	require.ErrorIs(t, Control(Public)("tcp", "localhost:80", nil), ErrPrivate)
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"localhost", "LOCALHOST", "localhost.", "app.LocalHost", "127.0.0.1", "127.3.2.1", "0.0.0.0", "::", "::1",
		"::ffff:0.0.0.0", "::ffff:127.0.0.1",
	} {
		require.True(t, IsLoopback(host), host)
	}
	for _, host := range []string{"", "localhost.example.com", "notlocalhost", "10.0.0.1", "example.com"} {
		require.False(t, IsLoopback(host), host)
	}
}

func TestFetch_ChecksRedirects(t *testing.T) {
	t.Parallel()
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/on", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/next", http.StatusFound) })
	mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/end?x=1", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c := New(Options{AllowPrivate: true})
	may := func(address string) bool { return strings.HasPrefix(address, server.URL) }
	_, err := c.GetAllowed(t.Context(), server.URL+"/on", "", may)
	require.Equal(t, NotAllowedError{Address: other.URL + "/end?x=1"}, err)
	require.False(t, reached)
	_, err = c.GetAllowed(t.Context(), other.URL, "", may)
	require.Equal(t, NotAllowedError{Address: other.URL}, err)
	require.False(t, reached)
	_, err = c.Get(t.Context(), server.URL+"/on", "")
	require.NoError(t, err)
	require.True(t, reached)
}

func TestRetryAfter_Header(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "0": 0, "-5": 0, "soon": 0, "1e9": 0, "99999999999999999999": 0, "Fri, 20 Nov 2020 17:00:00 GMT": 0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): time.Hour,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		t.Cleanup(server.Close)
		_, err := New(Options{AllowPrivate: true}).Get(t.Context(), server.URL, "")
		var status StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, http.StatusTooManyRequests, status.Code)
		require.InDelta(t, want, status.RetryAfter, float64(5*time.Second), value)
	}
}

func TestPost_Timeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a closed connection only after the body was read
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	client := New(Options{AllowPrivate: true})
	require.Equal(t, 10*time.Second, client.postTimeout)
	client.postTimeout = 200 * time.Millisecond
	begin := time.Now()
	_, err := client.Post(t.Context(), server.URL, nil, []byte("hello"))
	require.ErrorIs(t, err, ErrTooSlow)
	require.Less(t, time.Since(begin), 5*time.Second)
}
