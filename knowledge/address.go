package knowledge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/fetch"
	"multis/policy"
	"multis/store"
)

// IsAddress tells whether somebody named a page of the web, and no file.
func IsAddress(where string) bool {
	where = strings.ToLower(where)
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// AddressName is what a page is called until it is read, and in citations: its address without what does not tell it apart.
func AddressName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	path := u.Path
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		path = u.EscapedPath()
	}
	return strings.TrimPrefix(u.Hostname(), "www.") + strings.TrimSuffix(path, "/")
}

// IndexAddress fetches a page, or a file on a server, and indexes it as Index does. One that its server calls unchanged is
// no work.
func (l *Library) IndexAddress(ctx context.Context, address string, role policy.Role, progress func(done, all int)) (Report, error) {
	report, err := l.indexAddress(ctx, address, role, progress)
	if err != nil {
		return Report{}, fmt.Errorf("index %s: %w", AddressName(address), err)
	}
	return report, nil
}

func (l *Library) indexAddress(ctx context.Context, address string, role policy.Role, progress func(done, all int)) (Report, error) {
	old, err := store.DocumentByOrigin(ctx, l.st.DB(), address)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Report{}, err
	}
	known := fetch.Validator("")
	if version, validator, found := strings.Cut(old.Validator, " "); found && version == cutVersion && old.Role == role {
		known = fetch.Validator(validator)
	}
	page, err := l.options.Fetch.Get(ctx, address, known)
	if errors.Is(err, fetch.ErrUnchanged) {
		return Report{Name: old.Name, Role: role, Chunks: old.Chunks, Unchanged: true}, nil
	}
	if err != nil {
		return Report{}, err
	}
	return l.index(ctx, File{
		Name: AddressName(page.Address), Origin: address, Type: page.Type, Data: page.Data, Role: role, Progress: progress, validator: page.Validator,
	})
}

// Lines gives the text of a page line by line, as it would be indexed.
func (l *Library) Lines(ctx context.Context, p fetch.Page) ([]string, error) {
	doc, err := l.read(ctx, File{Name: AddressName(p.Address), Type: p.Type, Data: p.Data})
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, s := range doc.Sections {
		if len(s.Path) > 0 {
			lines = append(lines, s.Path[len(s.Path)-1])
		}
		lines = append(lines, strings.Split(s.Text, "\n")...)
	}
	return lines, nil
}

// versioned is a validator as it is kept: with the way the page was cut, because another way would make it worth another look.
func versioned(v fetch.Validator) string {
	if v == "" {
		return ""
	}
	return cutVersion + " " + string(v)
}

// goneForGood tells whether a page cannot be had now nor later.
func goneForGood(err error) bool {
	if status, ok := errors.AsType[fetch.StatusError](err); ok {
		return !status.Temporary()
	}
	for _, final := range []error{fetch.ErrAddress, fetch.ErrPrivate, fetch.ErrRedirects, fetch.ErrTooBig, fetch.ErrNoServer} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
