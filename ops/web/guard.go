package web

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBody  = 64 << 10 // bytes of a form
	maxTries = 10       // links to sign in that are opened, and as many that are used, by address and minute
	maxPosts = 60       // POSTs, by session and minute
)

// contentPolicy allows what comes from this page only, and no script within a page.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// setHeaders sets the headers that every answer has.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// refuse returns the status with which a request is refused, or 0 for one that may go on. Other sites may only link here, and only forms of
// this page may change something.
func (s *Site) refuse(r *http.Request) int {
	if !strings.EqualFold(r.Host, s.host) {
		return http.StatusMisdirectedRequest
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return refuseForeignGet(r.Header)
	case http.MethodPost:
		return s.refusePost(r)
	default:
		return http.StatusMethodNotAllowed
	}
}

// refuseForeignGet refuses what another site does with this page, except for a link that a person follows.
func refuseForeignGet(h http.Header) int {
	site := h.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || site == "none" {
		return 0
	}
	if h.Get("Sec-Fetch-Mode") != "navigate" || h.Get("Sec-Fetch-Dest") != "document" {
		return http.StatusForbidden
	}
	return 0
}

// refusePost refuses what is no form of this page. A browser says where a form comes from by Sec-Fetch-Site, an old one by Origin.
func (s *Site) refusePost(r *http.Request) int {
	origin := r.Header.Get("Origin")
	if origin == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return http.StatusForbidden
	}
	if origin != "" && origin != "null" && origin != s.Address { // without a referrer, a form of this page has the origin null
		return http.StatusForbidden
	}
	if err := s.origin.Check(r); err != nil {
		return http.StatusForbidden
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return http.StatusUnsupportedMediaType
	}
	_, pattern := s.mux.Handler(r)
	isUpload := pattern == uploadPattern && kind == "multipart/form-data"
	if kind != "application/x-www-form-urlencoded" && !isUpload {
		return http.StatusUnsupportedMediaType
	}
	return 0
}

// clientAddress returns where a request comes from. The listener is of this machine only, so what a reverse proxy says is its own word: it
// adds the address that it sees behind those that the client names.
func clientAddress(r *http.Request) string {
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if address, err := netip.ParseAddr(strings.TrimSpace(forwarded[len(forwarded)-1])); err == nil {
		return address.WithZone("").String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// browserOf names a browser in words of ours.
func browserOf(agent string) string {
	first := func(names [][2]string, other string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return other
	}
	name := first([][2]string{
		{"Firefox/", "Firefox"}, {"Edg/", "Edge"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	}, "A browser")
	system := first([][2]string{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	}, "")
	if system == "" {
		return name
	}
	return name + " on " + system
}

// parseID parses the number of a row, or returns 0.
func parseID(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	if n < 1 || strconv.FormatInt(n, 10) != s {
		return 0
	}
	return n
}

// limiter counts what is done in a minute, by a key such as an address.
type limiter struct {
	limit int
	now   func() time.Time

	mu     sync.Mutex
	minute time.Time
	counts map[string]int
}

func newLimiter(limit int, now func() time.Time) *limiter {
	return &limiter{limit: limit, now: now, counts: map[string]int{}}
}

// allow counts one, and reports whether the limit allows it.
func (l *limiter) allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := l.now().Truncate(time.Minute); !minute.Equal(l.minute) {
		l.minute = minute
		clear(l.counts)
	}
	l.counts[key]++
	return l.counts[key] <= l.limit
}
