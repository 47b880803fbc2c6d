// Package policy decides, without any I/O: what is done with a message that came in (Admit), whether a message may go out
// (Gate), and whose data a reader may see (Scope). Every function is pure; the time is passed in. Every decision carries a
// stable code and a sentence for people, and the zero value of every input and every decision says no.
package policy

import "fmt"

// Mode says what multis does in a chat. The zero value is not valid and is treated as ModeOff.
type Mode string

// The modes, from the most to the least talkative.
const (
	ModeBusiness Mode = "business" // stored, answered by itself
	ModePersonal Mode = "personal" // stored, answered only when the assistant is called by its name
	ModeSilent   Mode = "silent"   // stored, never answered
	ModeOff      Mode = "off"      // nothing in, nothing out
)

// Valid reports whether m is one of the four modes.
func (m Mode) Valid() bool {
	switch m {
	case ModeBusiness, ModePersonal, ModeSilent, ModeOff:
		return true
	default:
		return false
	}
}

// Answers reports whether the assistant may speak by itself in this mode at all.
func (m Mode) Answers() bool { return m == ModeBusiness || m == ModePersonal }

// Delivery says how what multis says in a chat goes out. The zero value holds nothing, as DeliveryAuto.
type Delivery string

// The deliveries.
const (
	DeliveryAuto  Delivery = "auto"  // at once
	DeliveryDraft Delivery = "draft" // once the owner has read it and said yes
)

// Valid reports whether d is one of the two deliveries.
func (d Delivery) Valid() bool { return d == DeliveryAuto || d == DeliveryDraft }

// NeedsApproval reports whether a text of this purpose waits for the owner's yes: all that goes to a contact, but for what has it.
func (d Delivery) NeedsApproval(p Purpose) bool {
	return d == DeliveryDraft && p.isForContact() && p != PurposeDraft
}

// Kind says what sort of room a chat is. The zero value is not valid; whoever cannot tell uses KindGroup, which is the
// kind with the fewest surprises.
type Kind string

// The kinds of rooms.
const (
	KindDM    Kind = "dm"    // one contact
	KindGroup Kind = "group" // several people, or not known
	KindSpace Kind = "space" // a folder of rooms, never a chat
	KindSelf  Kind = "self"  // the owner's notes to himself on a network
	KindAdmin Kind = "admin" // the room the owner runs multis from
)

// Valid reports whether k is one of the five kinds.
func (k Kind) Valid() bool {
	switch k {
	case KindDM, KindGroup, KindSpace, KindSelf, KindAdmin:
		return true
	default:
		return false
	}
}

// isPortal reports whether people on a network are behind rooms of this kind.
func (k Kind) isPortal() bool { return k == KindDM || k == KindGroup }

// Author says who wrote an event. It is told by the Matrix id alone, never by a display name. The zero value is nobody we
// know, and is ignored.
type Author string

// The kinds of authors.
const (
	AuthorContact     Author = "contact"      // a person on the network, or another Matrix user in the room
	AuthorOwnerClient Author = "owner_client" // the owner, in a Matrix client
	AuthorOwnerPhone  Author = "owner_phone"  // the owner, in the network's own app
	AuthorMultisOwner Author = "multis_owner" // multis, speaking as the owner
	AuthorMultisBot   Author = "multis_bot"   // multis' own bot
	AuthorOperator    Author = "operator"     // somebody the owner lets reply
	AuthorBridgeBot   Author = "bridge_bot"   // the bridge itself
	AuthorOtherBot    Author = "other_bot"    // anything else automatic
)

// IsOwner reports whether the owner wrote it by hand, wherever he sat.
func (a Author) IsOwner() bool { return a == AuthorOwnerClient || a == AuthorOwnerPhone }

// Capped reports whether it is limited how much is kept of one author: of everybody in a chat who is neither the owner, nor an
// operator, nor multis, nor the bridge.
func (a Author) Capped() bool { return a == AuthorContact || a == AuthorOtherBot }

// Encryption is what is known about a room's encryption. The zero value counts as EncryptionUnknown.
type Encryption string

// The states of a room's encryption.
const (
	EncryptionYes     Encryption = "yes"
	EncryptionNo      Encryption = "no"
	EncryptionUnknown Encryption = "unknown"
)

// Profile is what the owner chose at setup for chats that nobody has decided about.
type Profile string

// The profiles.
const (
	ProfilePersonal Profile = "personal" // new chats are silent
	ProfileBusiness Profile = "business" // new direct chats are business, groups silent
)

// DefaultMode gives the mode of a chat that has none of its own, and a sentence that says where it comes from. network is
// the mode configured for the chat's network, empty when there is none. Groups never speak by default: a network's or a
// profile's answering mode makes them silent. Rooms that are no chats are off, and so is whatever is not understood.
func DefaultMode(profile Profile, kind Kind, network Mode) (mode Mode, why string) {
	if !kind.isPortal() {
		return ModeOff, "This kind of room is never listened to."
	}
	if network != "" {
		switch {
		case !network.Valid():
			return ModeOff, fmt.Sprintf("The mode %q of its network is unknown, so it is off.", network)
		case kind == KindGroup && network.Answers():
			return ModeSilent, fmt.Sprintf("Its network is %s, but groups start silent.", network)
		default:
			return network, fmt.Sprintf("Its network is %s.", network)
		}
	}
	switch {
	case profile == ProfileBusiness && kind == KindDM:
		return ModeBusiness, "New direct chats are business in the business profile."
	case profile == ProfileBusiness:
		return ModeSilent, "Groups start silent."
	case profile == ProfilePersonal:
		return ModeSilent, "New chats are silent in the personal profile."
	default:
		return ModeOff, "No profile is set, so it is off."
	}
}
