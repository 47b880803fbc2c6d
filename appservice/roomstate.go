package appservice

import (
	"context"
	"slices"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeState applies a state event to its chat. Encryption and tombstones are stored at once. A Describe job handles
// changes that need the room's whole state.
func (b stateIntake) storeState(ctx context.Context, e incoming) error {
	chat, evt := e.chat, e.Event.Event
	if chat.Kind == policy.KindAdmin {
		return b.storeAdminState(ctx, e)
	}
	switch evt.Type.Type {
	case event.StateEncryption.Type:
		if err := store.MarkEncrypted(ctx, b.tx, chat.ID); err != nil {
			return err
		}
		chat.Encryption = policy.EncryptionYes
	case event.StateTombstone.Type:
		if room, by := bridgebridge.Successor([]*event.Event{evt}); room != "" {
			// The new room's own state decides whether it becomes the room of the chat, or the chat a part of the new room's chat.
			b.jobs = append(b.jobs, jobs.DescribeArgs{RoomID: room})
			if by == chat.BridgeBot {
				if err := store.SetSuccessor(ctx, b.tx, chat.ID, room); err != nil {
					return err
				}
			}
		}
		return store.CloseChat(ctx, b.tx, chat.ID, store.ClosedTombstone)
	case event.StateMember.Type:
		who := id.UserID(*evt.StateKey)
		// In a dm each ghost matters: the contact's may join after the owner's own, or replace another one.
		if chat.Kind != policy.KindDM && who != b.inbox.settings.Owner && who != chat.BridgeBot {
			return nil
		}
		b.jobs = append(b.jobs, jobs.DescribeArgs{RoomID: evt.RoomID})
	case event.StateBridge.Type, event.StateHalfShotBridge.Type, event.StateRoomName.Type, event.StatePowerLevels.Type,
		event.StateBeeperRoomFeatures.Type:
		b.jobs = append(b.jobs, jobs.DescribeArgs{RoomID: evt.RoomID})
	}
	return nil
}

// storeAdminState handles a state event of an admin room. It closes a room that was replaced, that the owner left, that a
// stranger joined, or that others can join or read.
func (b stateIntake) storeAdminState(ctx context.Context, e incoming) error {
	if why := b.inbox.settings.reasonToClose(ctx, e.Event.Event); why != "" {
		return b.closeAdminRoom(ctx, e.chat, why)
	}
	if e.Type.Type != event.StateEncryption.Type {
		return nil
	}
	e.chat.Encryption = policy.EncryptionYes // from now on unencrypted commands are refused
	return store.MarkEncrypted(ctx, b.tx, e.chat.ID)
}

// reasonToClose returns why a state event closes an admin room; empty if it does not.
func (s Settings) reasonToClose(ctx context.Context, evt *event.Event) string {
	switch evt.Type.Type {
	case event.StateTombstone.Type:
		return store.ClosedTombstone
	case event.StateJoinRules.Type, event.StateHistoryVisibility.Type:
		if isOpenToOthers(evt) {
			return store.ClosedOpen
		}
	case event.StateMember.Type:
		c, ok := parseContent[event.MemberEventContent](ctx, evt)
		if !ok {
			return ""
		}
		who := id.UserID(*evt.StateKey)
		isIn := c.Membership == event.MembershipJoin || c.Membership == event.MembershipInvite // who knocks is not in the room
		switch left := c.Membership == event.MembershipLeave || c.Membership == event.MembershipBan; {
		case who == s.Owner && left:
			return store.ClosedLeft
		case isIn && who != s.Owner && who != s.Bot && !slices.Contains(s.Operators, who):
			return store.ClosedStranger
		}
	}
	return ""
}

// isOpenToOthers reports whether a state event of a room lets people join or read the room whom nobody has invited.
func isOpenToOthers(evt *event.Event) bool {
	if evt.Content.Parsed == nil && evt.Content.ParseRaw(evt.Type) != nil {
		return evt.Type.Type == event.StateJoinRules.Type || evt.Type.Type == event.StateHistoryVisibility.Type // nobody knows what it says
	}
	switch c := evt.Content.Parsed.(type) {
	case *event.JoinRulesEventContent:
		return c.JoinRule != event.JoinRuleInvite && c.JoinRule != event.JoinRulePrivate && c.JoinRule != event.JoinRuleKnock
	case *event.HistoryVisibilityEventContent:
		return c.HistoryVisibility == event.HistoryVisibilityWorldReadable
	default:
		return false
	}
}

// closeAdminRoom closes an admin room: from the next event on, nothing that is written there has an effect. It enqueues
// the jobs that make a new room, move the threads of open escalations to it, and notify the owner.
func (b stateIntake) closeAdminRoom(ctx context.Context, chat *store.Chat, why string) error {
	b.jobs = append(b.jobs, jobs.AdminRoomArgs{})
	if chat.ClosedReason == "" {
		b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicAdminRoomClosed, SubjectID: int64(chat.ID)})
		open, err := store.EscalationsIn(ctx, b.tx, chat.ID)
		if err != nil {
			return err
		}
		for _, escalation := range open {
			b.jobs = append(b.jobs, jobs.UpdateEscalationArgs{EscalationID: escalation})
		}
	}
	chat.ClosedReason = why // later events of the batch are decided with the room closed
	return store.CloseChat(ctx, b.tx, chat.ID, why)
}
