// Package bridgebridge reads what bridges write: what a room is (Describe), who speaks in it (Classify), what was said
// (ReadMessage) and whether it arrived (DeliveryStatus). Everything is pure over Matrix events, and nothing in an event is
// believed because it is there: rooms are believed when their bridge bot made the claim, people by their Matrix id.
//
// It shares the vocabulary of package policy (kinds, authors, encryption) and imports nothing else of multis.
package bridgebridge

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/text"
)

// Portal is a room that a bridge keeps in step with a chat on a network.
//
// Protocol, ChannelID and Receiver identify the chat. Any Matrix user can make a room and be its "bridge bot", so whoever
// knows the chat from before must only accept a Portal for it that has the same BridgeBot.
type Portal struct {
	Protocol  string // the bridge's name for its network: whatsapp, signal, ...
	Network   string // the same for people: WhatsApp, Signal, ...
	ChannelID string // the chat's id on the network
	Receiver  string // the owner's login that the chat belongs to; empty where chats are shared

	Kind       policy.Kind // dm, group or self
	Name       string      // what to call the chat; never empty
	OwnerName  string      // as the owner's profile in the room says; may be empty
	BridgeBot  id.UserID
	Contact    id.UserID // the other side of a dm; empty for other kinds, and as long as nobody is there
	SelfGhost  id.UserID // the ghost of the owner's own login; empty when there is none or it cannot be told
	Members    []Member  // the people on the network, without the owner and without bots
	Encryption policy.Encryption
	Tombstoned bool // the room was replaced by another
	Features   policy.Features
	// ClaimedAt is when the bridge last said that the chat lives here. Of two rooms that it said so of, the later is the chat's.
	ClaimedAt time.Time
}

// Member is a person in a portal.
type Member struct {
	ID   id.UserID
	Name string // as the person or the bridge set it: to be shown, never to be believed; may be empty
}

// Describe reads a room's whole state and says which portal the room is. It is false for everything that is not a chat with
// people: rooms without a bridge (rooms with the bridge's bot are), rooms whose bridge claim cannot be believed, spaces,
// status broadcasts and newsletters, and rooms that the owner is not in. owner and bot are the owner's and our own Matrix ids.
func Describe(state []*event.Event, owner, bot id.UserID) (Portal, bool) {
	room := newRoom(state)
	claim, claimedAt, ok := room.bridgeClaim()
	if !ok || claim.BridgeBot == owner || claim.BridgeBot == bot || room.member(owner).Membership != event.MembershipJoin {
		return Portal{}, false
	}
	if room.isSpace() || room.isBroadcast(claim, owner) {
		return Portal{}, false
	}
	portal := Portal{
		Protocol: claim.Protocol.ID, Network: NetworkName(claim.Protocol.ID), ChannelID: claim.Channel.ID, Receiver: claim.Channel.Receiver,
		Kind: kindOf(claim), BridgeBot: claim.BridgeBot, Encryption: room.encryption(), Tombstoned: room.has(event.StateTombstone),
		Features: room.features(claim.BridgeBot), ClaimedAt: claimedAt, OwnerName: cleanName(room.member(owner).Displayname),
	}
	people := room.people(owner, bot, claim.BridgeBot)
	portal.SelfGhost = selfGhost(people, portal)
	portal.Members = slices.DeleteFunc(people, func(m Member) bool { return m.ID == portal.SelfGhost })
	if portal.Kind == policy.KindDM {
		portal.Contact = contactOf(portal.Members, portal.ChannelID)
	}
	portal.Name = portal.chooseName(room.name(), cleanName(claim.Channel.DisplayName))
	return portal, true
}

// kindOf goes by the bridge's own word for the room and never by the number of its members. The newer word comes first; what
// is not understood is a group.
func kindOf(claim bridgeClaim) policy.Kind {
	if claim.roomType() != "dm" {
		return policy.KindGroup
	}
	if receiver := claim.Channel.Receiver; receiver != "" && networkID(claim.Channel.ID) == networkID(receiver) {
		return policy.KindSelf
	}
	return policy.KindDM
}

// isBroadcast reports whether a room carries one-way news, or holds other rooms, instead of a conversation. Bridges give communities the
// type of a space and channels none at all, but do not let a reader of a channel write: a group in which the owner may not write is a
// channel. WhatsApp's status and broadcast lists, where the owner may write, are told by their address.
func (r room) isBroadcast(claim bridgeClaim, owner id.UserID) bool {
	kind, channel := claim.roomType(), strings.ToLower(claim.Channel.ID)
	switch {
	case strings.HasSuffix(kind, "space"), kind == "channel", kind == "community", kind == "newsletter", kind == "broadcast":
		return true
	case strings.HasSuffix(channel, "@broadcast"), strings.HasSuffix(channel, "@newsletter"):
		return true
	case kind == "dm", kind == "group_dm": // who blocked a contact may not write either
		return false
	default:
		return !r.mayWrite(owner)
	}
}

// networkID is the bare part of a network's address: "4917" of "4917@s.whatsapp.net", "7" of "user:7".
func networkID(address string) string {
	bare, _, _ := strings.Cut(address, "@")
	return strings.ToLower(bare[strings.LastIndexByte(bare, ':')+1:])
}

// selfGhost finds the ghost of the owner's own login. How ghosts are named is the bridge's configuration, so it takes the one
// that ends in the login's id while all the others begin like it; alone with one other person there is nothing to compare,
// and only in a note to oneself that one is the owner.
func selfGhost(people []Member, portal Portal) id.UserID {
	if portal.Kind == policy.KindSelf && len(people) == 1 {
		return people[0].ID
	}
	if portal.Receiver == "" || len(people) < 2 {
		return ""
	}
	for _, self := range people {
		prefix, found := strings.CutSuffix(self.ID.Localpart(), ghostSuffix(portal.Receiver))
		others := slices.DeleteFunc(slices.Clone(people), func(m Member) bool { return m.ID == self.ID })
		if found && self.ID.Homeserver() == portal.BridgeBot.Homeserver() &&
			!slices.ContainsFunc(others, func(m Member) bool { return !strings.HasPrefix(m.ID.Localpart(), prefix+"_") }) {
			return self.ID
		}
	}
	return ""
}

// contactOf picks the other side of a dm: the only one there, or else the one named like the channel.
func contactOf(people []Member, channelID string) id.UserID {
	if len(people) == 1 {
		return people[0].ID
	}
	for _, person := range people {
		if strings.HasSuffix(person.ID.Localpart(), ghostSuffix(networkID(channelID))) {
			return person.ID
		}
	}
	return ""
}

// ghostSuffix is how the Matrix id of a ghost ends, before the server's name.
func ghostSuffix(networkUser string) string { return "_" + id.EncodeUserLocalpart(networkUser) }

func (p Portal) chooseName(roomName, channelName string) string {
	contactName := ""
	for _, m := range p.Members {
		if m.ID == p.Contact {
			contactName = m.Name
		}
	}
	return cmp.Or(roomName, contactName, channelName, cleanName(p.ChannelID), p.Network)
}

// DisplayName is the name that a contact or a group gave itself as it may stand in a label: on one line, and without the signs
// that labels are made of, so that no name reads as another chat's label or as its mode.
func DisplayName(name string) string {
	name = text.OneLine(strings.Map(func(r rune) rune {
		switch r {
		case '·', '•', '∙', '⋅', '・', '･', '‧', '᛫', '—', '―', '⸺':
			return '-'
		default:
			return r
		}
	}, name))
	if name == "" {
		return "Somebody"
	}
	return name
}

// NetworkName is what people call a network, by the protocol name that bridges use. Networks it does not know keep their
// name with a capital letter.
func NetworkName(protocol string) string {
	switch strings.ToLower(protocol) {
	case "":
		return "Matrix"
	case "whatsapp":
		return "WhatsApp"
	case "facebook", "facebookgo", "messenger":
		return "Messenger"
	case "gmessages":
		return "Google Messages"
	case "googlechat":
		return "Google Chat"
	case "gvoice":
		return "Google Voice"
	case "imessage", "imessagego":
		return "iMessage"
	case "instagram", "instagramgo":
		return "Instagram"
	case "linkedin":
		return "LinkedIn"
	case "slack", "slackgo":
		return "Slack"
	case "discord", "discordgo":
		return "Discord"
	case "twitter":
		return "X"
	case "irc":
		return "IRC"
	default:
		name := cleanName(protocol)
		first, size := utf8.DecodeRuneInString(name)
		return string(unicode.ToUpper(first)) + name[size:]
	}
}

// maxName is the longest name shown, in characters.
const maxName = 100

// cleanName makes a name that somebody chose fit to be shown.
func cleanName(name string) string { return cleanLine(name, maxName) }

// cleanLine puts s on one clean line of at most maxRunes. It drops the marks of characters that could not be decoded.
func cleanLine(s string, maxRunes int) string {
	return text.Clip(text.OneLine(strings.ReplaceAll(s, "\uFFFD", "")), maxRunes)
}
