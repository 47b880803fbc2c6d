package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// ErrNoScope is returned by Scope.Setting for a scope that names nobody: the zero value, or one built for a chat that does
// not exist. It is a mistake of the caller; a read without a scope sees nothing and must fail.
var ErrNoScope = errors.New("no scope: say whose data may be read")

// ChatID identifies a chat: a row of chats in the database.
type ChatID int64

// Role is who may see a piece of data: Public, Admin, or the people of one chat.
type Role string

// The roles that do not belong to one chat.
const (
	Public Role = "public" // everybody, customers too
	Admin  Role = "admin"  // the owner
)

// UserRole is the role of the people in one chat, "user:<chat id>".
func UserRole(chatID ChatID) Role { return Role("user:" + strconv.FormatInt(int64(chatID), 10)) }

// Valid reports whether r is Public, Admin, or the role of a chat with a positive id in its one spelling.
func (r Role) Valid() bool {
	if r == Public || r == Admin {
		return true
	}
	_, of := r.Chat()
	return of
}

// Chat is the chat whose people r stands for; false if it does not stand for those of one.
func (r Role) Chat() (ChatID, bool) {
	digits, found := strings.CutPrefix(string(r), "user:")
	if !found {
		return 0, false
	}
	chatID, err := strconv.ParseInt(digits, 10, 64)
	return ChatID(chatID), err == nil && chatID > 0 && UserRole(ChatID(chatID)) == r
}

// Scope is the set of roles a read is made with. It can only be built by PublicScope, ContactScope and OwnerScope; the zero value sees
// nothing and is refused by Setting.
type Scope struct {
	roles []Role
}

// ContactScope is what a contact may see: public data and the contact's own chats. Without a chat, or with one that cannot
// exist, it is the zero scope.
func ContactScope(chatIDs ...ChatID) Scope {
	if len(chatIDs) == 0 {
		return Scope{}
	}
	return newScope([]Role{Public}, chatIDs)
}

// PublicScope is what anybody may see, and all that an answer to a contact may rest on.
func PublicScope() Scope { return newScope([]Role{Public}, nil) }

// OwnerScope is what the owner sees: public data, his own, and the chats he named. With a chat that cannot exist it is the
// zero scope.
func OwnerScope(alsoChats ...ChatID) Scope {
	return newScope([]Role{Public, Admin}, alsoChats)
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

// String is the comma separated list of roles; empty for the zero scope. Use Setting where the list becomes a right.
func (s Scope) String() string { return strings.Join(s.Roles(), ",") }

// Setting is String for the database's multis.scope setting. The zero scope gives ErrNoScope.
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
