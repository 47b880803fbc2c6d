package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// target is where a file is stored.
type target struct {
	row   index.Document // what is to be written, without its format
	old   index.Document // what is stored from the same origin; the zero value if nothing is
	scope policy.Scope   // the scope of the transaction that writes row
}

// targetOf decides where a file is stored, and with which role.
func (l *Library) targetOf(ctx context.Context, f File) (target, error) {
	row := index.Document{
		Origin:      cmp.Or(f.Origin, f.Name),
		Name:        f.Name,
		Role:        f.Role,
		Kind:        index.KindKnowledge,
		Size:        int64(len(f.Data)),
		Validator:   withReaderVersion(f.validator),
		Hash:        l.hash(f),
		RoleSetAt:   f.RoleSetAt,
		FoundInBulk: f.FoundInBulk,
	}
	if len(row.Origin) > maxOrigin {
		return target{}, ErrLongName
	}
	old, err := index.DocumentByOrigin(ctx, l.st.DB(), row.Origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return target{}, err
	}
	if old.RoleSetAt.After(f.RoleSetAt) || old.ID != 0 && old.KeepsRole(row) {
		row.Role, row.RoleSetAt = old.Role, old.RoleSetAt
	}
	if old.ID == 0 {
		copied, err := l.isPrivateCopy(ctx, f)
		if err != nil {
			return target{}, err
		}
		if copied {
			row.Role = policy.RoleAdmin
		}
	}
	scope, err := scopeOf(row.Role)
	return target{row: row, old: old, scope: scope}, err
}

// isPrivateCopy reports whether a file that was found in a folder or by a pattern has the content of a private document: a private file
// does not become public when it is renamed or moved into a public folder.
func (l *Library) isPrivateCopy(ctx context.Context, f File) (bool, error) {
	if !f.FoundInBulk || f.Role == policy.RoleAdmin {
		return false, nil
	}
	private, err := index.PrivateDocumentsOfSize(ctx, l.st.DB(), int64(len(f.Data)))
	return slices.ContainsFunc(private, func(d index.Document) bool {
		other := f
		other.Name = d.Name
		return d.Hash == l.hash(other)
	}), err
}

// hash returns a hash of a file's content and name and of how it is read. A file with the same hash need not be read again.
func (l *Library) hash(f File) string {
	return digest(ReaderVersion, strconv.FormatBool(l.options.UnidocKey != ""), f.Name, f.Type, string(f.Data))
}

// digest returns a hash of a list of strings. Lists with the same concatenation have different hashes.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + "\x1f" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// scopeOf returns the scope in which data of a role is written.
func scopeOf(role policy.Role) (policy.Scope, error) {
	if !role.Valid() {
		return policy.Scope{}, fmt.Errorf("%w: %q", ErrRole, role)
	}
	if role == policy.RolePublic || role == policy.RoleAdmin {
		return policy.OwnerScope(), nil
	}
	chat, err := strconv.ParseInt(strings.TrimPrefix(string(role), "user:"), 10, 64)
	if err != nil {
		return policy.Scope{}, fmt.Errorf("%w: %q", ErrRole, role)
	}
	return policy.OwnerScope(store.ChatID(chat)), nil
}
