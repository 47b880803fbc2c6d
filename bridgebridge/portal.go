// Package bridgebridge reads the events of bridges: what a room is (Describe), what an event says (Parse), who wrote it (Event.Author) and
// whether a message was delivered (Event.DeliveryBy). It has no I/O. It does not trust the content of an event: a room is trusted if its
// bridge bot claimed it, a person by the Matrix id.
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

	"multis/internal/text"
	"multis/policy"
)

// Portal is the Matrix room of a chat on a bridged network. Protocol, ChannelID and Login identify the chat. Any Matrix user can create a
// room and pose as a bridge bot, so a room that claims a known chat counts only if its BridgeBot is the bot of that chat.
type Portal struct {
	Protocol  string // the bridge's name for its network: whatsapp, signal, ...
	Network   string // its name for people: WhatsApp, Signal, ...
	ChannelID string // the chat's id on the network
	Login     string // the id of the owner's login on the network, which mautrix calls the receiver; empty if all logins share the chat

	Kind       policy.Kind // dm, group or self
	Name       string      // display name of the chat; never empty
	OwnerName  string      // the owner's display name in the room; may be empty
	BridgeBot  id.UserID
	Contact    id.UserID // the other person of a dm; empty for other kinds, and before that person has joined
	SelfGhost  id.UserID // the ghost of the owner's own login; empty if there is none or it is unknown
	Members    []Member  // the people on the network, without the owner and without bots
	Encryption policy.Encryption
	Tombstoned bool // another room replaced this one
	Features   policy.Features
	// ClaimedAt is when the bridge last claimed the room for the chat. If a bridge claimed two rooms, the later claim counts.
	ClaimedAt time.Time
}

// Evidence is what earlier claims of the bridge showed about the ghosts in a room.
type Evidence struct {
	OwnGhosts []id.UserID // ghosts of the owner's login in its other chats
	Contacts  []id.UserID // ghosts that are or were the contact of this chat
	IsSelf    bool        // it was a chat of the owner with himself
}

// Member is a person in a portal.
type Member struct {
	ID   id.UserID
	Name string // set by that person or the bridge, for display only; may be empty
}

// Describe returns the portal that a room with this state is. owner and bot are the Matrix ids of the owner and of multis. It returns
// false for a room that is not a chat with people: one without a trusted bridge claim, a management room, a space, a status broadcast or
// newsletter, and a room that the owner has not joined.
func Describe(state []*event.Event, owner, bot id.UserID) (Portal, bool) {
	return DescribeWith(state, owner, bot, Evidence{})
}

// DescribeWith is Describe with what earlier claims showed, which tells the people in the room apart.
func DescribeWith(state []*event.Event, owner, bot id.UserID, known Evidence) (Portal, bool) {
	room := newRoom(state)
	claim, claimedAt, ok := room.bridgeClaim()
	if !ok || claim.BridgeBot == owner || claim.BridgeBot == bot || room.member(owner).Membership != event.MembershipJoin {
		return Portal{}, false
	}
	if room.isSpace() || room.isBroadcast(claim, owner) {
		return Portal{}, false
	}
	portal := Portal{
		Protocol: claim.Protocol.ID, Network: NetworkName(claim.Protocol.ID), ChannelID: claim.Channel.ID, Login: claim.Channel.Receiver,
		Kind: kindOf(claim), BridgeBot: claim.BridgeBot, Encryption: room.encryption(), Tombstoned: room.has(event.StateTombstone),
		Features: room.features(claim.BridgeBot), ClaimedAt: claimedAt, OwnerName: cleanName(room.member(owner).Displayname),
	}
	portal.identify(room.people(owner, bot, claim.BridgeBot), known)
	portal.Name = portal.chooseName(room.name(), cleanName(claim.Channel.DisplayName))
	return portal, true
}

// kindOf returns the kind of a chat by the room type that the bridge declares, never by the number of members. The newer field takes
// precedence; an unknown type is a group.
func kindOf(claim bridgeClaim) policy.Kind {
	if claim.roomType() != "dm" {
		return policy.KindGroup
	}
	if receiver := claim.Channel.Receiver; receiver != "" && networkUserID(claim.Channel.ID) == networkUserID(receiver) {
		return policy.KindSelf
	}
	return policy.KindDM
}

// isBroadcast reports whether a room is no conversation, because it carries one-way news or holds other rooms. Bridges declare communities
// as spaces. They give channels no type, but do not let readers of a channel write, so a group in which the owner may not write is a
// channel. In WhatsApp's status and broadcast lists the owner may write; these are recognized by the channel id.
func (r room) isBroadcast(claim bridgeClaim, owner id.UserID) bool {
	kind, channel := claim.roomType(), strings.ToLower(claim.Channel.ID)
	switch {
	case strings.HasSuffix(kind, "space"), kind == "channel", kind == "community", kind == "newsletter", kind == "broadcast":
		return true
	case strings.HasSuffix(channel, "@broadcast"), strings.HasSuffix(channel, "@newsletter"):
		return true
	case kind == "dm", kind == "group_dm": // somebody who blocked a contact may not write there either
		return false
	default:
		return !r.mayWrite(owner)
	}
}

// networkUserID returns the user part of a network address: "4917" for "4917@s.whatsapp.net", "7" for "user:7".
func networkUserID(address string) string {
	user, _, _ := strings.Cut(address, "@")
	return strings.ToLower(user[strings.LastIndexByte(user, ':')+1:])
}

// identify tells the people apart: the owner's own ghost, the contact and the members.
func (p *Portal) identify(people []Member, known Evidence) {
	p.SelfGhost = p.findSelfGhost(people, known)
	if p.Kind == policy.KindDM && (known.IsSelf || p.SelfGhost != "" && isGhostOf(p.SelfGhost, p.ChannelID)) {
		p.Kind = policy.KindSelf
	}
	p.Members = slices.DeleteFunc(people, func(m Member) bool { return m.ID == p.SelfGhost })
	p.Contact = ""
	if p.Kind == policy.KindDM {
		p.Contact = contactOf(p.Members, p.ChannelID)
	}
}

// findSelfGhost returns the ghost of the owner's own login; empty if it cannot be determined. The names of ghosts depend on the
// bridge's configuration, so the ghost is recognized by its end, the login's id, if the ids of all others have the same prefix. A network
// may have two ids for one person, such as a number and a LID of WhatsApp. Then the ghost is the one known from other chats, or the only
// other one beside the contact of a dm. With a single other person there is nothing to compare, and that person is the owner only in
// KindSelf.
func (p *Portal) findSelfGhost(people []Member, known Evidence) id.UserID {
	if p.Kind == policy.KindSelf && len(people) == 1 {
		return people[0].ID
	}
	for _, m := range people {
		if slices.Contains(known.OwnGhosts, m.ID) && !slices.Contains(known.Contacts, m.ID) {
			return m.ID
		}
	}
	if p.Login == "" || len(people) < 2 {
		return ""
	}
	for _, self := range people {
		if p.isGhost(self.ID) && strings.HasSuffix(self.ID.Localpart(), ghostSuffix(p.Login)) &&
			haveOnePrefix(people, self.ID, ghostSuffix(p.Login)) {
			return self.ID
		}
	}
	if p.Kind != policy.KindDM || len(people) != 2 {
		return ""
	}
	contact := contactOf(people, p.ChannelID)
	if contact == "" {
		return ""
	}
	other := people[0].ID
	if other == contact {
		other = people[1].ID
	}
	if !p.isGhost(other) || !shareTemplate(contact, other) || slices.Contains(known.Contacts, other) {
		return ""
	}
	return other
}

// isGhost reports whether a user is on the bridge's homeserver, as its ghosts are.
func (p *Portal) isGhost(user id.UserID) bool { return user.Homeserver() == p.BridgeBot.Homeserver() }

// haveOnePrefix reports whether the ids of all people begin with that of self without its suffix.
func haveOnePrefix(people []Member, self id.UserID, suffix string) bool {
	prefix := strings.TrimSuffix(self.Localpart(), suffix) + "_"
	return !slices.ContainsFunc(people, func(m Member) bool { return !strings.HasPrefix(m.ID.Localpart(), prefix) })
}

// shareTemplate reports whether two ids begin with the same word and an underscore, as the ids of a bridge's ghosts do.
func shareTemplate(a, b id.UserID) bool {
	template, _, found := strings.Cut(a.Localpart(), "_")
	return found && strings.HasPrefix(b.Localpart(), template+"_")
}

// contactOf returns the contact of a dm: the only person in it, or else the one whose id ends in the channel id. It is empty if there is
// none, or more than one.
func contactOf(people []Member, channelID string) id.UserID {
	if len(people) == 1 {
		return people[0].ID
	}
	var found []id.UserID
	for _, person := range people {
		if isGhostOf(person.ID, channelID) {
			found = append(found, person.ID)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// isGhostOf reports whether a ghost is of the person with a network address: "@whatsapp_4917:x" of "4917@s.whatsapp.net",
// "@whatsapp_lid-9988:x" of "9988@lid".
func isGhostOf(ghost id.UserID, address string) bool {
	user, server, _ := strings.Cut(strings.ToLower(address), "@")
	user = user[strings.LastIndexByte(user, ':')+1:]
	return strings.HasSuffix(ghost.Localpart(), ghostSuffix(user)) || strings.HasSuffix(ghost.Localpart(), ghostSuffix(server+"-"+user))
}

// ghostSuffix returns the end of the localpart of a ghost's Matrix id.
func ghostSuffix(networkUser string) string { return "_" + id.EncodeUserLocalpart(networkUser) }

func (p *Portal) chooseName(roomName, channelName string) string {
	contactName := ""
	for _, m := range p.Members {
		if m.ID == p.Contact {
			contactName = m.Name
		}
	}
	return cmp.Or(roomName, contactName, channelName, cleanName(p.ChannelID), p.Network)
}

// DisplayName returns a name of a contact or a group for use in a label: on one line and without the characters that separate the parts of
// a label, so that a name cannot imitate the label or the mode of another chat. An empty name becomes "Somebody".
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

// NetworkName returns the display name of the network of a bridge's protocol. For an unknown protocol it is the protocol's
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

// maxName is the maximum length of a shown name, in characters.
const maxName = 100

// cleanName returns an untrusted name on one line, cut to maxName.
func cleanName(name string) string { return cleanLine(name, maxName) }

// cleanLine returns s on one line of at most maxRunes characters, without the replacement characters of invalid UTF-8.
func cleanLine(s string, maxRunes int) string {
	return text.Clip(text.OneLine(strings.ReplaceAll(s, "\uFFFD", "")), maxRunes)
}
