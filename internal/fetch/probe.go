package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxProbeBody is how many bytes of a body Probe reads.
const maxProbeBody = 1 << 20

// Response is what a server answers, whatever its status.
type Response struct {
	Status int
	Body   []byte // its first MiB
	// CertificateEnds is the end of the first of the server's certificates to end. Zero means that the connection was not encrypted.
	CertificateEnds time.Time
}

// Probe requests a page and returns the response, also one with an error status. It follows a redirect unless accepts its status. The
// time is that of ctx.
func (c *Client) Probe(ctx context.Context, address string, accepts func(status int) bool) (Response, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return Response{}, ErrAddress
	}
	if err := checkURL(target); err != nil {
		return Response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return Response{}, ErrAddress
	}
	req.Header.Set("User-Agent", c.agent)
	client := c.http
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if accepts(next.Response.StatusCode) {
			return http.ErrUseLastResponse
		}
		if len(via) > maxRedirects {
			return ErrRedirects
		}
		return checkURL(next.URL)
	}
	resp, err := client.Do(req)
	if err != nil {
		return Response{}, readableError(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProbeBody))
	if err != nil {
		return Response{}, readableError(ctx, err)
	}
	found := Response{Status: resp.StatusCode, Body: body}
	if resp.TLS != nil {
		for _, certificate := range resp.TLS.PeerCertificates {
			if found.CertificateEnds.IsZero() || certificate.NotAfter.Before(found.CertificateEnds) {
				found.CertificateEnds = certificate.NotAfter
			}
		}
	}
	return found, nil
}
