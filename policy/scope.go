package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// ErrNoScope is returned by Scope.Setting for a scope without roles: the zero value, or one made with a chat id that is not positive. It
// shows a mistake of the caller: a read without a scope must fail.
var ErrNoScope = errors.New("no scope: say whose data may be read")

// ChatID identifies a chat: a row of chats in the database.
type ChatID int64

// Role says who may see a piece of data: everybody (Public), the owner (Admin), or the people of one chat (UserRole).
type Role string

// The roles that do not belong to one chat.
const (
	RolePublic Role = "public" // everybody, customers too
	RoleAdmin  Role = "admin"  // the owner
)

// UserRole is the role of the people in one chat, "user:<chat id>".
func UserRole(chatID ChatID) Role { return Role("user:" + strconv.FormatInt(int64(chatID), 10)) }

// Valid reports whether r is Public, Admin, or the role of a chat with a positive id, written as UserRole writes it.
func (r Role) Valid() bool {
	if r == RolePublic || r == RoleAdmin {
		return true
	}
	_, of := r.Chat()
	return of
}

// Chat returns the chat of a UserRole; false for any other role.
func (r Role) Chat() (ChatID, bool) {
	digits, found := strings.CutPrefix(string(r), "user:")
	if !found {
		return 0, false
	}
	chatID, err := strconv.ParseInt(digits, 10, 64)
	return ChatID(chatID), err == nil && chatID > 0 && UserRole(ChatID(chatID)) == r
}

// Scope is the set of roles that limits what a read returns. Only PublicScope, ContactScope and OwnerScope build one; the zero value allows
// nothing, and Setting refuses it.
type Scope struct {
	roles []Role
}

// ContactScope returns the scope of a contact: public data and the contact's own chats. It is the zero scope if no chat is given or a
// chat id is not positive.
func ContactScope(chatIDs ...ChatID) Scope {
	if len(chatIDs) == 0 {
		return Scope{}
	}
	return newScope([]Role{RolePublic}, chatIDs)
}

// PublicScope returns the scope of public data. An answer to a contact may cite nothing else.
func PublicScope() Scope { return newScope([]Role{RolePublic}, nil) }

// OwnerScope returns the scope of the owner: public data, his own, and the given chats. It is the zero scope if a chat id is not
// positive.
func OwnerScope(alsoChats ...ChatID) Scope {
	return newScope([]Role{RolePublic, RoleAdmin}, alsoChats)
}

func newScope(roles []Role, chatIDs []ChatID) Scope {
	for _, chatID := range chatIDs {
		if chatID <= 0 {
			return Scope{}
		}
		if role := UserRole(chatID); !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	return Scope{roles: roles}
}

// Roles lists the roles as text, for a SQL array; nil for the zero scope.
func (s Scope) Roles() []string {
	if len(s.roles) == 0 {
		return nil
	}
	roles := make([]string, len(s.roles))
	for i, role := range s.roles {
		roles[i] = string(role)
	}
	return roles
}

// Chats lists the chats whose roles are in the scope.
func (s Scope) Chats() []ChatID {
	var chats []ChatID
	for _, role := range s.roles {
		if chatID, of := role.Chat(); of {
			chats = append(chats, chatID)
		}
	}
	return chats
}

// Allows reports whether data of the given role may be seen.
func (s Scope) Allows(role Role) bool { return slices.Contains(s.roles, role) }

// String returns the roles, separated by commas; empty for the zero scope. Use Setting where the list grants access.
func (s Scope) String() string { return strings.Join(s.Roles(), ",") }

// Setting returns String, as the value of the database setting multis.scope. It returns ErrNoScope for the zero scope.
func (s Scope) Setting() (string, error) {
	if len(s.roles) == 0 {
		return "", ErrNoScope
	}
	for _, role := range s.roles {
		if !role.Valid() {
			return "", ErrNoScope
		}
	}
	return s.String(), nil
}
