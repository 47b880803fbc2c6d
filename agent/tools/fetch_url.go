package tools

import (
	"context"
	_ "embed"
	"errors"
	"net/url"
	"path"
	"strings"

	"multis/internal/fetch"
	"multis/policy/rules"
)

//go:embed fetch_url.md
var fetchURLText string

// FetchURL is the tool that reads pages of the public internet. A model can be tricked into putting private data into an
// address, so an address that the owner neither wrote nor allowed needs the owner's approval.
type FetchURL struct {
	Client    *fetch.Client
	Documents Extractor
	// Domains are the domains that are read without approval, with their subdomains.
	Domains []string
}

type fetchURLArgs struct {
	URL  string `json:"url" jsonschema:"the address, with https://"`
	From int    `json:"from,omitempty" jsonschema:"first line to read, from 1"`
}

// maxPageLines is how many lines of a page one call returns.
const maxPageLines = 400

// Spec describes the tool.
func (FetchURL) Spec() Spec {
	return Spec{
		Name:        "fetch_url",
		Description: fetchURLText,
		Schema:      Schema[fetchURLArgs](),
		Tier:        Confirm,
		Class:       rules.ClassOutward,
		Foreign:     true,
		Kinds:       rules.Kinds{Domains: true},
	}
}

// TierOf returns Read for an address that the owner wrote or allowed, else Confirm.
func (t FetchURL) TierOf(c Call) Tier {
	args, err := Decode[fetchURLArgs](c)
	if err != nil {
		return Confirm
	}
	if !t.allows(c, args.URL) {
		return Confirm
	}
	return Read
}

// ResourceOf returns the host and the port.
func (FetchURL) ResourceOf(c Call) rules.Resource {
	args, err := Decode[fetchURLArgs](c)
	u, invalid := url.Parse(strings.TrimSpace(args.URL))
	if err != nil {
		return rules.Resource{}
	}
	if invalid != nil || hostOf(args.URL) == "" {
		return rules.Resource{}
	}
	port := u.Port()
	if port == "" && u.Scheme == "http" {
		port = "80"
	} else if port == "" {
		port = "443"
	}
	return rules.Resource{Domains: []string{hostOf(args.URL) + ":" + port}, OwnWords: mentionsURL(c.OwnerText, args.URL)}
}

// allows reports whether an address may be read without approval: the owner wrote it, or its domain is allowed.
func (t FetchURL) allows(c Call, address string) bool {
	return inDomains(address, t.Domains) || inDomains(address, c.Domains) || mentionsURL(c.OwnerText, address)
}

// Refusal returns why a call is never made: its arguments do not fit.
func (FetchURL) Refusal(c Call) string {
	_, err := Decode[fetchURLArgs](c)
	return refusalOfArguments(err)
}

// Run returns the lines of a page.
func (t FetchURL) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[fetchURLArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	// Redirects within one site need no approval, because the site was allowed.
	page, err := t.Client.GetAllowed(ctx, args.URL, "", func(hop string) bool { return siteOf(hop) == siteOf(args.URL) || t.allows(c, hop) })
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, err
		}
		if elsewhere, is := errors.AsType[fetch.NotAllowedError](err); is {
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

// inDomains reports whether an address is in one of the domains or their subdomains.
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

// mentionsURL reports whether one of the words of a text is the address.
func mentionsURL(text, address string) bool {
	address = strings.TrimRight(strings.TrimSpace(address), "/")
	for word := range strings.FieldsSeq(text) {
		if hostOf(address) != "" && strings.TrimRight(strings.Trim(word, "<>()[]\"'`,.;!?"), "/") == address {
			return true
		}
	}
	return false
}

// hostOf returns the host of an address, in lower case; empty if it has none.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// siteOf returns the host of an address without a leading www.
func siteOf(address string) string { return strings.TrimPrefix(hostOf(address), "www.") }

// fileNameOf returns a file name for the document at an address.
func fileNameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || path.Ext(u.Path) == "" {
		return hostOf(address) + ".html"
	}
	return path.Base(u.Path)
}
