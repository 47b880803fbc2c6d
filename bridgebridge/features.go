package bridgebridge

import (
	"cmp"
	"slices"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// features returns the limits of the network from the newest state event of the room's bridge bot. It ignores events of other senders.
func (r room) features(bridgeBot id.UserID) policy.Features {
	var said []*event.Event
	for _, evt := range r[event.StateBeeperRoomFeatures.Type] {
		if evt.Sender == bridgeBot {
			said = append(said, evt)
		}
	}
	if len(said) == 0 {
		return policy.Features{}
	}
	content := decode[event.RoomFeatures](slices.MaxFunc(said, func(a, b *event.Event) int {
		return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), strings.Compare(a.GetStateKey(), b.GetStateKey()))
	}))
	f := policy.Features{
		Known: true, MaxText: max(0, content.MaxTextLength), NoEdits: !content.Edit.Partial(), NoReactions: !content.Reaction.Partial(),
	}
	for kind, rule := range content.File {
		if rule == nil {
			continue
		}
		if f.Files == nil {
			f.Files = map[string]policy.FileRule{}
		}
		f.Files[cleanName(string(kind))] = fileRule(rule)
	}
	return f
}

func fileRule(rule *event.FileFeatures) policy.FileRule {
	own := policy.FileRule{MaxSize: max(0, rule.MaxSize), Captions: rule.Caption.Partial(), MaxCaption: max(0, rule.MaxCaptionLength)}
	for kind, level := range rule.MimeTypes {
		if level.Partial() {
			own.Types = append(own.Types, cleanName(kind))
		}
	}
	slices.Sort(own.Types)
	return own
}
