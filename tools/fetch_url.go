package tools

import (
	"context"
	_ "embed"
	"errors"
	"net/url"
	"path"
	"strings"

	"multis/fetch"
)

//go:embed fetch_url.md
var fetchURLText string

// FetchURL reads pages of the open internet. An address can carry away what was read, and whoever wrote that may have put the
// address there: so one that the owner neither named nor allowed is asked about.
type FetchURL struct {
	Client    *fetch.Client
	Documents Extractor
	// Domains are read without asking, with those below them.
	Domains []string
}

type fetchURLArgs struct {
	URL  string `json:"url" jsonschema:"the address, with https://"`
	From int    `json:"from,omitempty" jsonschema:"first line to read, from 1"`
}

// maxPageLines of a page are read at once.
const maxPageLines = 400

// Spec describes it.
func (FetchURL) Spec() Spec {
	return Spec{Name: "fetch_url", Description: fetchURLText, Schema: Schema[fetchURLArgs](), Tier: Confirm, Can: []string{"web"}}
}

// TierOf lets what the owner named or allowed be read at once.
func (t FetchURL) TierOf(c Call) Tier {
	args, err := Decode[fetchURLArgs](c)
	if err != nil || !t.allows(c, args.URL) {
		return Confirm
	}
	return Read
}

// allows tells whether an address may be read without asking: the owner named it, or its domain is one that may.
func (t FetchURL) allows(c Call, address string) bool {
	return inDomains(address, t.Domains) || inDomains(address, c.Domains) || mentionsURL(c.Asked, address)
}

// Run fetches.
func (t FetchURL) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[fetchURLArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	// Within one site a page may move, because the site that was allowed chose where to.
	page, err := t.Client.GetWithin(ctx, args.URL, "", func(hop string) bool { return siteOf(hop) == siteOf(args.URL) || t.allows(c, hop) })
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, err
		}
		if elsewhere, is := errors.AsType[fetch.ElsewhereError](err); is {
			return Failed("It was not read: "+elsewhere.Error()+". To read that, call fetch_url with its address; the owner is asked.", false), nil
		}
		var status fetch.StatusError
		return Failed("It cannot be read: "+err.Error()+".", errors.As(err, &status) && status.Temporary()), nil
	}
	text, err := t.Documents.Text(ctx, fileNameOf(page.Address), page.Type, page.Data)
	if err != nil {
		return Failed("It cannot be read: "+err.Error()+".", false), nil //nolint:nilerr // the model reads it
	}
	return Result{ForLLM: lineRange(text, args.From, maxPageLines), ForUser: "read " + hostOf(page.Address), Ref: page.Address}, nil
}

// inDomains tells whether an address is in one of the domains.
func inDomains(address string, domains []string) bool {
	name := hostOf(address)
	for _, domain := range domains {
		domain = strings.ToLower(strings.TrimPrefix(domain, "*."))
		if domain != "" && (name == domain || strings.HasSuffix(name, "."+domain)) {
			return true
		}
	}
	return false
}

// mentionsURL tells whether a text holds an address, to the letter.
func mentionsURL(text, address string) bool {
	address = strings.TrimRight(strings.TrimSpace(address), "/")
	for word := range strings.FieldsSeq(text) {
		if hostOf(address) != "" && strings.TrimRight(strings.Trim(word, "<>()[]\"'`,.;!?"), "/") == address {
			return true
		}
	}
	return false
}

func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// siteOf is the host of an address, with or without a www in front.
func siteOf(address string) string { return strings.TrimPrefix(hostOf(address), "www.") }

// fileNameOf is what a document under an address is called.
func fileNameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || path.Ext(u.Path) == "" {
		return hostOf(address) + ".html"
	}
	return path.Base(u.Path)
}
