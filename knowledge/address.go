package knowledge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/fetch"
	"multis/store"
	"multis/store/index"
)

// IsAddress reports whether a name is a web address and not a file.
func IsAddress(where string) bool {
	where = strings.ToLower(where)
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// AddressName returns the name of a page in citations: its host and path.
func AddressName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.Host == "" {
		return address
	}
	path := u.Path
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		path = u.EscapedPath()
	}
	return strings.TrimPrefix(u.Hostname(), "www.") + strings.TrimSuffix(path, "/")
}

// IndexAddress fetches the page or file at the address f.Origin and indexes it as Index does, unless its server says that it is unchanged.
// Name, Type and Data of f are ignored.
func (l *Library) IndexAddress(ctx context.Context, f File) (Report, error) {
	report, err := l.indexAddress(ctx, f)
	if err != nil {
		return Report{}, fmt.Errorf("index %s: %w", AddressName(f.Origin), err)
	}
	return report, nil
}

func (l *Library) indexAddress(ctx context.Context, f File) (Report, error) {
	old, err := index.DocumentByOrigin(ctx, l.st.DB(), f.Origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Report{}, err
	}
	known := fetch.Validator("")
	stays := old.Role == f.Role || old.RoleSetAt.After(f.RoleSetAt)
	if version, validator, found := strings.Cut(old.Validator, " "); found && version == ReaderVersion && stays {
		known = fetch.Validator(validator)
	}
	isAllowed := f.isAllowed
	if isAllowed == nil {
		isAllowed = func(string) bool { return true }
	}
	page, err := l.options.Fetch.GetAllowed(ctx, f.Origin, known, isAllowed)
	if errors.Is(err, fetch.ErrUnchanged) {
		old.RoleSetAt = f.RoleSetAt
		return Report{Name: old.Name, Role: old.Role, Chunks: old.Chunks, Unchanged: true}, index.ConfirmRole(ctx, l.st.Writer(), old)
	}
	if err != nil {
		return Report{}, err
	}
	f.Name = AddressName(page.Address)
	f.Type = page.Type
	f.Data = page.Data
	f.validator = page.Validator
	return l.index(ctx, f)
}

// Lines returns the lines of a page, as they would be indexed.
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

// withReaderVersion appends ReaderVersion to a validator before it is stored, so that a new version of the reader fetches the page again.
func withReaderVersion(v fetch.Validator) string {
	if v == "" {
		return ""
	}
	return ReaderVersion + " " + string(v)
}

// isPermanent reports whether an error means that fetching the page again would also fail.
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
