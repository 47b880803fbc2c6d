package bridgebridge

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// room is the state of a room by event type and state key.
type room map[string]map[string]*event.Event

func newRoom(state []*event.Event) room {
	r := room{}
	for _, evt := range state {
		if evt == nil || evt.StateKey == nil {
			continue
		}
		if r[evt.Type.Type] == nil {
			r[evt.Type.Type] = map[string]*event.Event{}
		}
		r[evt.Type.Type][*evt.StateKey] = evt
	}
	return r
}

func (r room) get(t event.Type) *event.Event { return r[t.Type][""] }

func (r room) has(t event.Type) bool { return r.get(t) != nil }

func (r room) name() string {
	return cleanName(decode[event.RoomNameEventContent](r.get(event.StateRoomName)).Name)
}

func (r room) isSpace() bool {
	return decode[event.CreateEventContent](r.get(event.StateCreate)).Type == event.RoomTypeSpace
}

// encryption returns whether the room is encrypted. A state without a create event is incomplete, so then it is unknown.
func (r room) encryption() policy.Encryption {
	switch {
	case r.has(event.StateEncryption):
		return policy.EncryptionYes
	case r.has(event.StateCreate):
		return policy.EncryptionNo
	default:
		return policy.EncryptionUnknown
	}
}

func (r room) member(user id.UserID) event.MemberEventContent {
	return decode[event.MemberEventContent](r[event.StateMember.Type][user.String()])
}

// people lists who is in the room, sorted by id, without the given ids and the room's own service members. As long as nobody
// else has joined, it lists who is invited, because a bridge invites its ghosts a moment before they join.
func (r room) people(without ...id.UserID) []Member {
	without = append(without, decode[event.ElementFunctionalMembersContent](r.get(event.StateElementFunctionalMembers)).ServiceMembers...)
	var joined, invited []Member
	for key, evt := range r[event.StateMember.Type] {
		content := decode[event.MemberEventContent](evt)
		member := Member{ID: id.UserID(key), Name: cleanName(content.Displayname)}
		switch {
		case slices.Contains(without, member.ID) || member.ID.Localpart() == "":
		case content.Membership == event.MembershipJoin:
			joined = append(joined, member)
		case content.Membership == event.MembershipInvite:
			invited = append(invited, member)
		}
	}
	if len(joined) == 0 {
		joined = invited
	}
	slices.SortFunc(joined, func(a, b Member) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return joined
}

// bridgeClaim is the content of a bridge's claim to a room, in m.bridge or uk.half-shot.bridge.
type bridgeClaim struct {
	BridgeBot  id.UserID    `json:"bridgebot"`
	Protocol   claimSection `json:"protocol"`
	Channel    claimSection `json:"channel"`
	RoomType   string       `json:"com.beeper.room_type"`
	RoomTypeV2 string       `json:"com.beeper.room_type.v2"`
}

// roomType returns the room type that the bridge declares, from the newer field if it is set: dm, group_dm, space, or
// empty for a group or a channel.
func (c bridgeClaim) roomType() string { return cmp.Or(c.RoomTypeV2, c.RoomType) }

type claimSection struct {
	ID          string `json:"id"`
	DisplayName string `json:"displayname"`
	Receiver    string `json:"fi.mau.receiver"`
}

// bridgeClaim returns the trusted claim of a bridge to this room, and its time. It checks all state keys, because bridges
// use different ones. A claim is trusted if it was sent by the bot that it names, and that bot is in the room and has the
// power to set state. If there are several, the stable event type takes precedence, then the bot with more power, then
// the newer event.
func (r room) bridgeClaim() (claim bridgeClaim, at time.Time, ok bool) {
	for _, eventType := range []event.Type{event.StateBridge, event.StateHalfShotBridge} {
		claims := make([]*event.Event, 0, 1)
		for _, evt := range r[eventType.Type] {
			if r.isTrustedClaim(evt) {
				claims = append(claims, evt)
			}
		}
		if len(claims) > 0 {
			evt := slices.MinFunc(claims, r.compareClaims)
			return decode[bridgeClaim](evt), time.UnixMilli(evt.Timestamp), true
		}
	}
	return bridgeClaim{}, time.Time{}, false
}

func (r room) isTrustedClaim(evt *event.Event) bool {
	claim := decode[bridgeClaim](evt)
	level, needed := r.power(evt.Sender)
	return claim.BridgeBot != "" && claim.BridgeBot == evt.Sender && level >= needed &&
		r.member(evt.Sender).Membership == event.MembershipJoin &&
		isIdentifier(claim.Protocol.ID) && isIdentifier(claim.Channel.ID) &&
		(claim.Channel.Receiver == "" || isIdentifier(claim.Channel.Receiver))
}

func (r room) compareClaims(a, b *event.Event) int {
	powerA, _ := r.power(a.Sender)
	powerB, _ := r.power(b.Sender)
	return cmp.Or(cmp.Compare(powerB, powerA), cmp.Compare(b.Timestamp, a.Timestamp), strings.Compare(a.GetStateKey(), b.GetStateKey()))
}

// isIdentifier reports whether a string can be a part of a chat's identity: not empty, at most maxID bytes, without control characters
// and without replacement characters. Decoding replaces invalid UTF-8 by these, so that different ids could become equal.
func isIdentifier(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == unicode.ReplacementChar
	})
}

// creatorPower is the power of a room's creators in the room versions in which it is above all power levels.
const creatorPower = 1 << 53

// powerLevels is the part of m.room.power_levels that multis reads. Levels may be strings, as in old rooms.
type powerLevels struct {
	Users         map[id.UserID]level `json:"users"`
	UsersDefault  level               `json:"users_default"`
	StateDefault  *level              `json:"state_default"`
	Events        map[string]level    `json:"events"`
	EventsDefault level               `json:"events_default"`
}

type level int

// UnmarshalJSON reads a number, or a number in a string. Anything else is 0.
func (l *level) UnmarshalJSON(data []byte) error {
	number, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if err != nil || math.IsNaN(number) {
		number = 0
	}
	*l = level(max(-creatorPower, min(creatorPower, number)))
	return nil
}

// power returns the power of a user, and the power that is needed to set state. The latter is at least 1, because in a
// room where everybody may set state, a bridge cannot be distinguished from other users.
func (r room) power(user id.UserID) (has, needs level) {
	create := r.get(event.StateCreate)
	content := decode[event.CreateEventContent](create)
	isCreator := create != nil && create.Sender == user
	levels := powerLevels{}
	needs = 1
	if evt := r.get(event.StatePowerLevels); evt != nil {
		levels, needs = decode[powerLevels](evt), 50
	} else if isCreator {
		return 100, needs
	}
	if levels.StateDefault != nil {
		needs = max(1, *levels.StateDefault)
	}
	if content.SupportsCreatorPower() && (isCreator || slices.Contains(content.AdditionalCreators, user)) {
		return creatorPower, needs
	}
	if own, found := levels.Users[user]; found {
		return own, needs
	}
	return levels.UsersDefault, needs
}

// mayWrite reports whether a user may send messages.
func (r room) mayWrite(user id.UserID) bool {
	levels := decode[powerLevels](r.get(event.StatePowerLevels))
	needs, special := levels.Events[event.EventMessage.Type]
	if !special {
		needs = levels.EventsDefault
	}
	has, _ := r.power(user)
	return has >= needs
}

// decode returns the content of an event as a T. Fields of the wrong type are left empty. For a nil event, the T is empty.
func decode[T any](evt *event.Event) T {
	var content T
	if evt == nil {
		return content
	}
	raw := evt.Content.VeryRaw
	if len(raw) == 0 {
		raw, _ = json.Marshal(&evt.Content) // the event was made in memory; invalid content is left empty
	}
	_ = json.Unmarshal(raw, &content) // decoding continues after a field of the wrong type
	return content
}
