// Package policy makes decisions without any I/O: what to do with an incoming message (Admit), whether a message may be sent (Gate), and
// which data a reader may see (Scope). Functions do not read the clock: the time is a parameter. A decision has a stable code and a
// sentence for people. A zero input is refused.
package policy

import (
	"fmt"
	"slices"
)

// Mode says what multis does in a chat. The zero value is not valid and is treated as ModeOff.
type Mode string

// The modes, from the most to the least talkative.
const (
	ModeBusiness Mode = "business" // stored, answered automatically
	ModePersonal Mode = "personal" // stored, answered only when the assistant is called by its name
	ModeSilent   Mode = "silent"   // stored, never answered
	ModeOff      Mode = "off"      // nothing is stored or sent
)

// Modes returns all modes, from the most to the least talkative. The check of the column mode in the database has the same list.
func Modes() []Mode { return []Mode{ModeBusiness, ModePersonal, ModeSilent, ModeOff} }

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return slices.Contains(Modes(), m) }

// IsStricterThan reports whether m is less talkative than other. A mode that is not valid counts as ModeOff.
func (m Mode) IsStricterThan(other Mode) bool {
	return other.Valid() && (!m.Valid() || slices.Index(Modes(), m) > slices.Index(Modes(), other))
}

// Answers reports whether the assistant may answer without approval of a person in this mode.
func (m Mode) Answers() bool { return m == ModeBusiness || m == ModePersonal }

// Delivery says whether what multis writes to a contact is sent at once, waits as a draft, or is only shown to the owner.
// The zero value counts as DeliveryAuto.
type Delivery string

// The deliveries.
const (
	DeliveryAuto  Delivery = "auto"  // sent at once
	DeliveryDraft Delivery = "draft" // sent after the owner approved it
	// DeliveryShadow means that the text is never sent. The owner answers himself, and can compare his answer with the text.
	DeliveryShadow Delivery = "shadow"
)

// Deliveries returns all deliveries.
func Deliveries() []Delivery { return []Delivery{DeliveryAuto, DeliveryDraft, DeliveryShadow} }

// Valid reports whether d is one of the deliveries.
func (d Delivery) Valid() bool { return slices.Contains(Deliveries(), d) }

// NeedsApproval reports whether a text of this purpose waits as a draft for the owner's approval. With DeliveryDraft and
// DeliveryShadow every text to a contact waits, except texts of PurposeDraft, which are approved already, and texts that
// are never sent (IsShadow). A follow-up always waits, whatever the delivery.
func (d Delivery) NeedsApproval(p Purpose) bool {
	if d.IsShadow(p) || p == PurposeDraft {
		return false
	}
	return p == PurposeFollowUp || ((d == DeliveryDraft || d == DeliveryShadow) && p.isForContact())
}

// IsShadow reports whether a text of this purpose is never sent. With DeliveryShadow these are all texts that no person wrote or approved.
func (d Delivery) IsShadow(p Purpose) bool { return d == DeliveryShadow && p.isAutomatic() }

// Kind says what sort of room a chat is. The zero value is not valid. Use KindGroup if the kind cannot be determined,
// because groups have the strictest rules.
type Kind string

// The kinds of rooms.
const (
	KindDM    Kind = "dm"    // one contact
	KindGroup Kind = "group" // several people, or not known
	KindSpace Kind = "space" // a folder of rooms, never a chat
	KindSelf  Kind = "self"  // the owner's notes to himself on a network
	KindAdmin Kind = "admin" // the room in which the owner commands multis
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

// isPortal reports whether rooms of this kind are bridged chats with people.
func (k Kind) isPortal() bool { return k == KindDM || k == KindGroup }

// Author says who wrote an event. It depends on the Matrix id, never on a display name. The zero value is an unknown author, whose events
// are ignored.
type Author string

// The kinds of authors.
const (
	AuthorContact     Author = "contact"      // a person on the network, or another Matrix user in the room
	AuthorOwnerClient Author = "owner_client" // the owner, in a Matrix client
	AuthorOwnerPhone  Author = "owner_phone"  // the owner, in the network's own app
	AuthorMultisOwner Author = "multis_owner" // multis, speaking as the owner
	AuthorMultisBot   Author = "multis_bot"   // multis' own bot
	AuthorOperator    Author = "operator"     // a person whom the owner allows to reply
	AuthorBridgeBot   Author = "bridge_bot"   // the bridge itself
	AuthorOtherBot    Author = "other_bot"    // any other bot
)

// IsOwner reports whether the owner wrote the event himself, in any client.
func (a Author) IsOwner() bool { return a == AuthorOwnerClient || a == AuthorOwnerPhone }

// IsCapped reports whether it is limited how many messages of this author are stored. The limit applies to contacts and other bots.
func (a Author) IsCapped() bool { return a == AuthorContact || a == AuthorOtherBot }

// Encryption is what is known about a room's encryption. The zero value counts as EncryptionUnknown.
type Encryption string

// The states of a room's encryption.
const (
	EncryptionYes     Encryption = "yes"
	EncryptionNo      Encryption = "no"
	EncryptionUnknown Encryption = "unknown"
)

// Profile is the owner's choice at setup for the mode of new chats.
type Profile string

// The profiles.
const (
	ProfilePersonal Profile = "personal" // new chats are silent
	ProfileBusiness Profile = "business" // new direct chats are business, groups silent
)

// DefaultMode returns the mode of a chat for which the owner set none, and a sentence that says where it comes from. network is the mode
// configured for the chat's network; empty means none. A group is silent where a direct chat would be answered. Rooms that are not
// chats, and unknown values, are off.
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
