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

// IndexAddress fetches the page, or the file on a server, that is f.Origin, and indexes it as Index does. One that its server calls
// unchanged is no work. Of f it takes what the page does not say itself.
func (l *Library) IndexAddress(ctx context.Context, f File) (Report, error) {
	report, err := l.indexAddress(ctx, f)
	if err != nil {
		return Report{}, fmt.Errorf("index %s: %w", AddressName(f.Origin), err)
	}
	return report, nil
}

func (l *Library) indexAddress(ctx context.Context, f File) (Report, error) {
	old, err := store.DocumentByOrigin(ctx, l.st.DB(), f.Origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Report{}, err
	}
	known := fetch.Validator("")
	stays := old.Role == f.Role || old.RoleSaid.After(f.Said)
	if version, validator, found := strings.Cut(old.Validator, " "); found && version == ReaderVersion && stays {
		known = fetch.Validator(validator)
	}
	page, err := l.options.Fetch.Get(ctx, f.Origin, known)
	if errors.Is(err, fetch.ErrUnchanged) {
		old.RoleSaid = f.Said
		return Report{Name: old.Name, Role: old.Role, Chunks: old.Chunks, Unchanged: true}, store.SayRole(ctx, l.st.DB(), old)
	}
	if err != nil {
		return Report{}, err
	}
	f.Name, f.Type, f.Data, f.validator = AddressName(page.Address), page.Type, page.Data, page.Validator
	return l.index(ctx, f)
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
	return ReaderVersion + " " + string(v)
}

// isPermanent tells whether a page cannot be had now nor later.
func isPermanent(err error) bool {
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
