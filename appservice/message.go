package appservice

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// takeMessage stores a message with what is decided about it.
func (b *batch) takeMessage(ctx context.Context, chat store.Chat, evt *event.Event) error {
	author := b.author(chat, evt)
	if author == policy.AuthorBridgeBot {
		return b.takeNotice(ctx, chat, evt)
	}
	if err := b.noteOwn(ctx, evt, author); err != nil {
		return err
	}
	msg := bridgebridge.ReadMessage(evt)
	at := b.in.timeOf(evt)
	// Also an edit or a notice, and also where it cannot be read yet: the chat is theirs from now on, whatever it says.
	if !b.history && (author.IsOwner() || (author == policy.AuthorOtherBot && evt.Sender == b.in.rules.Owner)) {
		if err := b.ownerWrote(ctx, chat, at); err != nil {
			return err
		}
	}
	if msg.Replaces != "" && msg.Kind != bridgebridge.Encrypted {
		return b.takeEdit(ctx, chat, evt, author, msg)
	}
	edit, edited, err := store.TakeHeldEdit(ctx, b.tx, chat.ID, evt.ID, evt.Sender)
	if err != nil {
		return err
	}
	if edited {
		msg = msg.Reworded(edit.Body)
	}
	encrypted := evt.Type.Type == event.EventEncrypted.Type
	decision, err := b.admit(ctx, chat, said{author: author, sender: evt.Sender, msg: msg, at: at})
	if decision.Code == policy.CodeFlood && err == nil {
		return b.noteFlood(ctx, chat, evt, author, decision)
	}
	if err != nil || decision.Action == policy.ActionIgnore {
		return err
	}
	row := store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: author, Sender: evt.Sender, Kind: string(msg.Kind), Body: msg.Text, RelatesTo: msg.ReplyTo,
		At: at, Action: decision.Action, Code: decision.Code, Reason: decision.Why,
	}
	if encrypted {
		row.ParkedIn = evt.RoomID
		row.Parked, row.Action, row.Code, row.Reason = evt.Content.VeryRaw, policy.ActionArchive, policy.CodeEncrypted, policy.CodeEncrypted.Sentence()
		if b.history {
			row.Code = policy.CodeBackfill
		}
	}
	if edited {
		row.EditedAt = &edit.At
	}
	if msg.File != nil {
		file := store.Attachment(*msg.File)
		row.Attachment = &file
	}
	message, err := store.InsertMessage(ctx, b.tx, row)
	if err != nil {
		return err
	}
	if !b.history && b.in.rules.Keep.keeps(author, msg) {
		b.enqueue(jobs.KeepFileArgs{MessageID: message})
	}
	b.stored++
	if encrypted {
		b.enqueue(jobs.DecryptArgs{MessageID: message})
		return nil
	}
	return b.follow(ctx, chat, message, decision)
}

// takeNotice takes in what the bridge says: an error notice, or its chatter. A bridge may encrypt that, too: then it waits
// for its key like a message, and leaves nothing when it is read.
func (b *batch) takeNotice(ctx context.Context, chat store.Chat, evt *event.Event) error {
	if evt.Type.Type != event.EventEncrypted.Type {
		return b.takeStatus(ctx, chat, evt)
	}
	if b.history {
		return nil
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: policy.AuthorBridgeBot, Sender: evt.Sender, Kind: string(bridgebridge.Encrypted), At: b.in.timeOf(evt),
		Parked: evt.Content.VeryRaw, ParkedIn: evt.RoomID, Action: policy.ActionArchive, Code: policy.CodeEncrypted, Reason: policy.CodeEncrypted.Sentence(),
	})
	if err != nil {
		return err
	}
	b.enqueue(jobs.DecryptArgs{MessageID: message})
	return nil
}

// noteFlood keeps one empty row of a flood, so that it has its reason; the rest of it leaves nothing.
func (b *batch) noteFlood(ctx context.Context, chat store.Chat, evt *event.Event, author policy.Author, d policy.Admission) error {
	noted, err := store.Flooded(ctx, b.tx, chat.ID, evt.Sender)
	if err != nil || noted {
		return err
	}
	_, err = store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: author, Sender: evt.Sender, Kind: string(bridgebridge.Other), At: b.in.timeOf(evt),
		Action: policy.ActionArchive, Code: d.Code, Reason: d.Why,
	})
	return err
}

// takeEdit changes the text of an earlier message. One that still waits is judged anew, because what it says now is what
// gets answered; any other only changes the record.
func (b *batch) takeEdit(ctx context.Context, chat store.Chat, evt *event.Event, author policy.Author, msg bridgebridge.Message) error {
	asEdit, err := b.admit(ctx, chat, said{author: author, sender: evt.Sender, msg: msg, at: b.in.timeOf(evt), edits: true})
	if err != nil {
		return err
	}
	if asEdit.Code == policy.CodeFlood {
		return b.noteFlood(ctx, chat, evt, author, asEdit)
	}
	edited, err := store.EditMessage(ctx, b.tx, chat.ID, msg.Replaces, evt.Sender, msg.Text, b.in.timeOf(evt))
	if err != nil {
		return err
	}
	if !edited {
		if asEdit.Action == policy.ActionIgnore {
			return nil
		}
		return b.holdEdit(ctx, chat, evt, author, msg)
	}
	waiting, err := store.WaitingEvent(ctx, b.tx, chat.ID, msg.Replaces)
	if errors.Is(err, store.ErrNotFound) {
		return b.editedCommand(ctx, chat, author, msg.Replaces)
	}
	if err != nil {
		return err
	}
	decision, err := b.admit(ctx, chat, said{author: author, sender: evt.Sender, msg: msg, at: waiting.At, judged: true})
	if err != nil {
		return err
	}
	if decision.Action == policy.ActionIgnore {
		decision.Action = policy.ActionArchive
	}
	return store.Readmit(ctx, b.tx, waiting.ID, decision)
}

// holdEdit keeps an edit whose message is not here, as history is read from its end and keys come in any order: as a message
// of its own, until that one comes. Of a message that was here and is gone, nothing is kept.
func (b *batch) holdEdit(ctx context.Context, chat store.Chat, evt *event.Event, author policy.Author, msg bridgebridge.Message) error {
	gone, err := store.IsGone(ctx, b.tx, msg.Replaces)
	if err != nil || (gone && !b.fresh[msg.Replaces]) {
		return err
	}
	_, err = store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: author, Sender: evt.Sender, Kind: string(msg.Kind), Body: msg.Text, RelatesTo: msg.Replaces,
		At: b.in.timeOf(evt), Action: policy.ActionArchive, Code: policy.CodeEdited, Reason: policy.CodeEdited.Sentence(),
	})
	return err
}

// editedCommand tells the owner that a command which was carried out is not carried out again because he edited it.
func (b *batch) editedCommand(ctx context.Context, chat store.Chat, author policy.Author, command id.EventID) error {
	if chat.Kind != policy.KindAdmin || !author.IsOwner() {
		return nil
	}
	m, err := store.MessageByEvent(ctx, b.tx, chat.ID, command)
	if err == nil && m.AnsweredAt != nil {
		b.enqueue(jobs.NoticeArgs{Topic: jobs.TopicEditIgnored})
	}
	return err
}

// timeOf is when an event was sent, as far as its sender is to be believed: not before there was anything to send it with,
// and not in the future.
func (in *Inbox) timeOf(evt *event.Event) time.Time {
	at, now := time.UnixMilli(evt.Timestamp), in.now()
	switch {
	case at.Unix() < 0:
		return time.Unix(0, 0)
	case at.After(now):
		return now
	default:
		return at
	}
}

// follow asks for the job that a decision needs, and tells the hooks.
func (b *batch) follow(ctx context.Context, chat store.Chat, message int64, decision policy.Admission) error {
	switch decision.Action {
	case policy.ActionAnswer, policy.ActionHandoff:
		b.enqueue(jobs.TurnArgs{ChatID: chat.ID})
	case policy.ActionCommand:
		b.enqueue(jobs.CommandArgs{MessageID: message})
	case policy.ActionListen:
		b.enqueue(jobs.TranscribeArgs{MessageID: message})
	default: // it is kept, and nothing follows
	}
	if decision.Code == policy.CodeStale {
		b.enqueue(jobs.DigestArgs{})
	}
	asks := decision.Action == policy.ActionAnswer || decision.Action == policy.ActionHandoff
	if !asks || b.in.mode(chat) != policy.ModeBusiness {
		return nil
	}
	return jobs.Emit(ctx, b.tx, store.HookMessage, strconv.FormatInt(message, 10))
}

// author tells who wrote an event, by Matrix ids alone.
func (b *batch) author(chat store.Chat, evt *event.Event) policy.Author {
	ghost := chat.SelfGhost
	if chat.Unconfirmed {
		ghost = "" // whose ghost it is, only a bridge can say
	}
	return bridgebridge.Classify(evt, bridgebridge.Senders{
		Owner: b.in.rules.Owner, Bot: b.in.rules.Bot, Operators: b.in.rules.Operators,
		BridgeBot: chat.BridgeBot, SelfGhost: ghost, Ours: b.own[evt.ID],
	})
}

// noteOwn records the event of something we sent, when it comes back before the answer to the request did.
func (b *batch) noteOwn(ctx context.Context, evt *event.Event, author policy.Author) error {
	if !b.own[evt.ID] || (author != policy.AuthorMultisOwner && author != policy.AuthorMultisBot) {
		return nil
	}
	key, _ := bridgebridge.OutboxKey(evt)
	out, err := uuid.Parse(key)
	if err != nil {
		return nil //nolint:nilerr // without a key of ours it is known by its event id already
	}
	return store.MarkSent(ctx, b.tx, out, evt.ID, evt.RoomID)
}

// ownerWrote holds the assistant back where the owner took over, and counts the chat as taken care of.
func (b *batch) ownerWrote(ctx context.Context, chat store.Chat, at time.Time) error {
	if chat.Kind == policy.KindAdmin {
		return nil
	}
	if err := store.OwnerWrote(ctx, b.tx, chat.ID, at); err != nil {
		return err
	}
	if chat.OwnerLastAt == nil || chat.OwnerLastAt.Before(at) {
		chat.OwnerLastAt = &at
		b.remember(chat) // what follows in this transaction sees it
	}
	closed, err := store.CloseEscalation(ctx, b.tx, chat.ID, at)
	if err != nil || !closed {
		return err
	}
	return jobs.Emit(ctx, b.tx, store.HookHandoff, strconv.FormatInt(chat.ID, 10))
}

// said is a message that is judged.
type said struct {
	author policy.Author
	sender id.UserID
	msg    bridgebridge.Message
	at     time.Time
	edits  bool // it only changes an earlier message
	judged bool // its age was judged when it came, and it was counted: what a voice note says, an edit of what waits
}

// admit asks the policy what to do with a message.
func (b *batch) admit(ctx context.Context, chat store.Chat, s said) (policy.Admission, error) {
	now := b.in.now()
	input := policy.AdmitInput{
		Mode: b.in.mode(chat), Kind: chat.Kind, Author: s.author, Name: b.name, Text: s.msg.Words(), Notice: s.msg.Notice,
		Voice: b.in.rules.Listens && s.msg.Kind == bridgebridge.Voice && s.msg.File != nil, Fresh: s.judged,
		SentAt: s.at, Now: now, Backfill: b.history, Edited: s.edits, MaxAge: b.in.rules.MaxAge, Keywords: b.in.rules.Keywords,
		StoreCap: b.in.rules.StoreCap, SendCap: b.in.rules.SendCap,
	}
	if chat.Kind == policy.KindAdmin {
		return policy.Admit(input), nil
	}
	input.Presence = chat.Presence(b.paused, input.Mode, b.in.rules.OwnerPause, now)
	if s.author.Capped() {
		rates, err := b.rates(ctx, chat.ID, s.sender, now)
		if err != nil {
			return policy.Admission{}, err
		}
		input.Sent = rates.sent
		if !s.judged {
			input.Stored = rates.stored
			rates.stored.Minute++
			rates.stored.Day++
		}
	}
	return policy.Admit(input), nil
}

// rates are how much a contact wrote and was answered lately.
type rates struct{ stored, sent policy.Rate }

// from tells contacts of one transaction apart.
type from struct {
	chat   int64
	sender id.UserID
}

// rates counts once a transaction; what the transaction itself stores is added as it goes.
func (b *batch) rates(ctx context.Context, chat int64, sender id.UserID, now time.Time) (*rates, error) {
	if r, known := b.counted[from{chat, sender}]; known {
		return r, nil
	}
	var r rates
	var err error
	minute, day := now.Add(-time.Minute), now.Add(-24*time.Hour)
	if r.stored.Minute, r.stored.Day, err = store.CountContact(ctx, b.tx, chat, sender, minute, day); err != nil {
		return nil, err
	}
	if r.sent.Minute, r.sent.Day, err = store.CountOut(ctx, b.tx, chat, minute, day, uuid.Nil); err != nil {
		return nil, err
	}
	b.counted[from{chat, sender}] = &r
	return &r, nil
}

// takeReaction keeps the owner's reactions in the admin room, where they answer questions. All others are dropped; one of the owner's in a
// chat shows that they are looking at it, as reading does: no words were written, so the assistant is not paused.
func (b *batch) takeReaction(ctx context.Context, chat store.Chat, evt *event.Event) error {
	author := b.author(chat, evt)
	if author.IsOwner() && !b.history && b.in.answers(chat) {
		return store.OwnerWatches(ctx, b.tx, chat.ID, b.in.timeOf(evt).Add(holdTime))
	}
	if chat.Kind != policy.KindAdmin || (author != policy.AuthorOwnerClient && author != policy.AuthorOperator) {
		return nil
	}
	c, ok := parsed[event.ReactionEventContent](ctx, evt)
	if !ok || c.RelatesTo.EventID == "" || c.RelatesTo.Key == "" {
		return nil
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: author, Sender: evt.Sender, Kind: string(bridgebridge.Reaction), Body: c.RelatesTo.Key,
		RelatesTo: c.RelatesTo.EventID, At: b.in.timeOf(evt), Action: policy.ActionCommand, Code: policy.CodeCommand, Reason: policy.CodeCommand.Sentence(),
	})
	if err != nil {
		return err
	}
	b.enqueue(jobs.CommandArgs{MessageID: message})
	return nil
}

// takeState follows what happens to a room. What can be read off the event is written at once; what needs the whole
// state is left to a description.
func (b *batch) takeState(ctx context.Context, chat store.Chat, evt *event.Event) error {
	if chat.Kind == policy.KindAdmin {
		return b.takeAdminState(ctx, chat, evt)
	}
	switch evt.Type.Type {
	case event.StateEncryption.Type:
		if err := store.MarkEncrypted(ctx, b.tx, chat.ID); err != nil {
			return err
		}
		chat.Encrypted = policy.EncryptionYes
		b.remember(chat)
	case event.StateTombstone.Type:
		if room, _ := bridgebridge.Successor([]*event.Event{evt}); room != "" {
			b.enqueue(jobs.DescribeArgs{RoomID: room}) // believed for what its bridge says of it, not for being named here
		}
		return store.CloseChat(ctx, b.tx, chat.ID, store.ClosedTombstone)
	case event.StateMember.Type:
		who := id.UserID(*evt.StateKey)
		unknown := chat.Kind == policy.KindDM && chat.Contact == "" // the contact's ghost may join after the owner
		if !unknown && who != b.in.rules.Owner && who != chat.Contact && who != chat.BridgeBot {
			return nil
		}
		b.enqueue(jobs.DescribeArgs{RoomID: evt.RoomID})
	case event.StateBridge.Type, event.StateHalfShotBridge.Type, event.StateRoomName.Type, event.StatePowerLevels.Type,
		event.StateBeeperRoomFeatures.Type:
		b.enqueue(jobs.DescribeArgs{RoomID: evt.RoomID})
	}
	return nil
}

// takeAdminState closes an admin room that the owner left, that was replaced, or that somebody else came into, and has another
// one made.
func (b *batch) takeAdminState(ctx context.Context, chat store.Chat, evt *event.Event) error {
	switch evt.Type.Type {
	case event.StateTombstone.Type:
		b.enqueue(jobs.AdminRoomArgs{})
		return store.CloseChat(ctx, b.tx, chat.ID, store.ClosedTombstone)
	case event.StateEncryption.Type:
		chat.Encrypted = policy.EncryptionYes // from here on a plain command counts for nothing
		b.remember(chat)
		return store.MarkEncrypted(ctx, b.tx, chat.ID)
	case event.StateMember.Type:
		c, ok := parsed[event.MemberEventContent](ctx, evt)
		if !ok {
			return nil
		}
		who := id.UserID(*evt.StateKey)
		rules := b.in.rules
		switch left := c.Membership == event.MembershipLeave || c.Membership == event.MembershipBan; {
		case who == rules.Owner && left:
			b.enqueue(jobs.AdminRoomArgs{})
			return store.CloseChat(ctx, b.tx, chat.ID, store.ClosedLeft)
		case !left && who != rules.Owner && who != rules.Bot && !slices.Contains(rules.Operators, who):
			b.enqueue(jobs.AdminRoomArgs{})
			return store.CloseChat(ctx, b.tx, chat.ID, store.ClosedStranger)
		}
	}
	return nil
}
