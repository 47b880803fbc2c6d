package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/internal/text"
	"multis/ops/health"
	"multis/policy"
	"multis/store"
)

// checkEvents checks that events arrive by push and by sync.
func checkEvents(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	db := in.Database.DB()
	var r Result
	for _, source := range []struct {
		setting store.Setting
		id      ID
		message string
	}{
		{store.SettingPushStalled, PushStalled, "What the homeserver pushes does not get through since %s, although it answers."},
		{store.SettingSyncStalled, SyncStalled, "The sync has been stuck since %s, although the homeserver answers."},
	} {
		var stall store.Stall
		stalled, err := store.GetSetting(ctx, db, source.setting, &stall)
		if err != nil {
			return failedCheck(err), ""
		}
		if stalled {
			r.Findings = append(r.Findings, newFinding(source.id, "", fmt.Sprintf(source.message, in.clockTime(stall.Since)),
				in.log(1)+" | grep -iE 'wrn|err|warn'   (then "+in.restartSynapse()+")"))
		}
	}
	var pushed time.Time
	if _, err := store.GetSetting(ctx, db, store.SettingPushedAt, &pushed); err != nil {
		return failedCheck(err), ""
	}
	fresh, err := store.LastFreshMessage(ctx, db, in.Now().Add(-health.MaxPushLag))
	if err != nil {
		return failedCheck(err), ""
	}
	if fresh.Unix() > 0 && fresh.Sub(pushed) > health.MaxPushLag && r.OK() { // if there was no message, a missing push shows nothing
		last := "no push ever came"
		if !pushed.IsZero() {
			last = "the last push at " + in.clockTime(pushed)
		}
		r.Findings = append(r.Findings, newFinding(PushLag, "",
			fmt.Sprintf("Messages come by the sync only: the last one at %s, %s.", in.clockTime(fresh), last),
			in.restartSynapse()+
				"   (Synapse then pushes what it kept; nothing is lost. If this stays, write to multis: the next message shows whether Synapse pushes again)"))
	}
	if !pushed.IsZero() {
		r.Fact = "last push at " + in.clockTime(pushed)
	}
	return r, ""
}

// checkAdminRoom checks that the admin room exists and that the owner is in it.
func checkAdminRoom(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	chat, err := store.AdminChat(ctx, in.Database.DB())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return oneFinding(AdminRoom, "There is no admin room yet.", in.start()+"   (it makes the room and invites you)"), ""
	case err != nil:
		return failedCheck(err), ""
	case chat.RoomID == nil:
		return oneFinding(AdminRoom, "The admin room was closed.", in.start()+"   (it makes a new room and invites you)"), ""
	}
	joined, err := in.Homeserver.JoinedRooms(ctx, in.Config.Owner)
	if err != nil {
		return Result{}, notAnswered(err)
	}
	if !slices.Contains(joined, *chat.RoomID) {
		return oneFinding(AdminRoomNotIn, fmt.Sprintf("%s has not joined the admin room %s.", in.Config.Owner, *chat.RoomID),
			"accept the invitation of "+in.Config.BotID().String()+" in your Matrix client"), ""
	}
	r := Result{Fact: "the admin room is " + chat.RoomID.String()}
	members, err := in.Homeserver.Members(ctx, in.Config.BotID(), *chat.RoomID)
	if err != nil {
		return oneFinding(AdminRoom, fmt.Sprintf("The admin room %s cannot be read: %v.", *chat.RoomID, err),
			"leave that room, then "+in.start()+"   (it makes a new one)"), ""
	}
	r.Findings = findFormerOperators(in, members, *chat.RoomID)
	if in.Config.Business.Escalation.Room {
		found, err := checkOperatorsRoom(ctx, in, chat)
		if err != nil {
			return failedCheck(err), ""
		}
		r.Findings = append(r.Findings, found...)
	} else {
		r.Findings = append(r.Findings, findUninvited(in, members, "the admin room "+chat.RoomID.String())...)
	}
	return r, ""
}

// findFormerOperators finds everybody in a room who is neither the owner nor an operator. A stranger who joins closes the
// room, but an operator who is removed from the configuration stays in it and can read everything.
func findFormerOperators(in *Input, members map[id.UserID]string, room id.RoomID) []Finding {
	var found []Finding
	for _, who := range slices.Sorted(maps.Keys(members)) {
		if members[who] != "join" || who == in.Config.Owner || who == in.Config.BotID() || slices.Contains(in.Config.Operators, who) {
			continue
		}
		found = append(found, newFinding(FormerOperator, who.String()+" in "+room.String(),
			fmt.Sprintf("%s is not an operator (config: operators) and reads all that is said in %s.", who, room),
			fmt.Sprintf("/kick %s   (in that room, in Element; in other clients in its list of members. Or put them back into operators)", who)))
	}
	return found
}

// findUninvited finds the operators who were never invited to a room. Those who left or were removed are no finding.
func findUninvited(in *Input, members map[id.UserID]string, room string) []Finding {
	var found []Finding
	for _, who := range in.Config.Operators {
		if members[who] == "" {
			found = append(found, newFinding(OperatorsUninvited, who.String(),
				fmt.Sprintf("%s is an operator and was never invited to %s.", who, room),
				in.start()+"   (it invites them; if the homeserver refuses that, the log says why)"))
		}
	}
	return found
}

// checkOperatorsRoom checks the room for operators: that it exists, that the owner and the operators, and nobody else,
// are in it, and that it is encrypted if the admin room is.
func checkOperatorsRoom(ctx context.Context, in *Input, adminRoom store.Chat) ([]Finding, error) {
	chat, err := store.OperatorsChat(ctx, in.Database.DB())
	if errors.Is(err, store.ErrNotFound) || (err == nil && chat.RoomID == nil) {
		return []Finding{newFinding(OperatorsRoom, "", "There is no room for operators: the threads of customers are in the admin room.",
			in.start()+"   (it makes the room and invites you and the operators)")}, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Finding
	if adminRoom.Encryption == policy.EncryptionYes && chat.Encryption != policy.EncryptionYes {
		found = append(found, newFinding(OperatorsPlain, "", "The room for operators is not encrypted, but the admin room is.",
			"turn encryption on in the settings of "+chat.RoomID.String()+" in your Matrix client"))
	}
	members, err := in.Homeserver.Members(ctx, in.Config.BotID(), *chat.RoomID)
	if err != nil {
		return append(found, newFinding(OperatorsRoom, "", fmt.Sprintf("The room for operators %s cannot be read: %v.", *chat.RoomID, err),
			"leave that room, then "+in.start()+"   (it makes a new one)")), nil
	}
	found = append(found, findFormerOperators(in, members, *chat.RoomID)...)
	found = append(found, findUninvited(in, members, "the room for operators "+chat.RoomID.String())...)
	for _, who := range append([]id.UserID{in.Config.Owner}, in.Config.Operators...) {
		if members[who] != "join" && members[who] != "" {
			found = append(found, newFinding(OperatorsNotIn, who.String(),
				fmt.Sprintf("%s has not joined the room for operators %s.", who, *chat.RoomID),
				"they accept the invitation of "+in.Config.BotID().String()+" in their Matrix client"))
		}
	}
	return found, nil
}

// device is the part of a stored device that is checked.
type device struct {
	ID id.DeviceID `json:"id"`
}

// checkEncryption checks the devices of multis and the chats that cannot be read.
func checkEncryption(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	db := in.Database.DB()
	chats, err := store.ListChats(ctx, db, "", maxChats, 0)
	if err != nil {
		return failedCheck(err), ""
	}
	encrypted := 0
	for _, c := range chats {
		if c.Encryption == policy.EncryptionYes && c.ClosedReason == "" {
			encrypted++
		}
	}
	r := Result{Fact: fmt.Sprintf("%s of %d encrypted", text.Count(encrypted, "chat"), len(chats))}
	for _, account := range []struct {
		setting store.Setting
		user    id.UserID
	}{{store.SettingOwnerDevice, in.Config.Owner}, {store.SettingBotDevice, in.Config.BotID()}} {
		var d device
		known, err := store.GetSetting(ctx, db, account.setting, &d)
		if err != nil {
			return failedCheck(err), ""
		}
		needsTrust := account.user == in.Config.Owner && encrypted > 0
		var found []Finding
		if known {
			found = checkDevice(ctx, in, account.user, d.ID, needsTrust)
		}
		if !known || len(found) > 0 && found[0].ID == DeviceMissing {
			if withMAS := checkMAS(ctx, in, account.user); len(withMAS) > 0 {
				found = withMAS
			}
		}
		r.Findings = append(r.Findings, found...)
	}
	unreadable, err := checkUnreadable(ctx, in, chats)
	if err != nil {
		return failedCheck(err), ""
	}
	r.Findings = append(r.Findings, unreadable...)
	return r, ""
}

// maxChats is how many chats are examined, the newest first.
const maxChats = 10_000

// checkDevice checks one device of multis. needsTrust means that it has to be verified.
func checkDevice(ctx context.Context, in *Input, user id.UserID, d id.DeviceID, needsTrust bool) []Finding {
	info, err := in.Homeserver.Device(ctx, user, d)
	switch {
	case errors.Is(err, appservice.ErrUnknownDevice):
		return []Finding{newFinding(DeviceMissing, user.String(),
			fmt.Sprintf("The session of multis for %s was deleted, so nothing encrypted can be read and nothing sent.", user),
			in.start()+"   (it makes a new session; then multis verify)")}
	case err != nil:
		return nil // the check of the homeserver reports it
	case !info.HasKeys:
		return []Finding{newFinding(DeviceKeys, user.String(),
			fmt.Sprintf("The session of multis for %s has published no encryption keys.", user),
			in.start()+"   (it publishes them; if this stays, look into its log)")}
	case needsTrust && info.CanSign && !info.Verified:
		return []Finding{newFinding(DeviceUnverified, user.String(),
			"You have encrypted chats, and the session of multis is not verified; some clients refuse it their keys.", "multis verify")}
	}
	return nil
}

// checkMAS explains why multis has no session where the Matrix Authentication Service has the accounts.
func checkMAS(ctx context.Context, in *Input, user id.UserID) []Finding {
	info, err := in.Homeserver.Server(ctx)
	if err != nil {
		return nil
	}
	if !info.IsMAS {
		return nil
	}
	return []Finding{newFinding(HomeserverMAS, user.String(),
		fmt.Sprintf("This homeserver leaves logins to the Matrix Authentication Service, where multis gets a session by MSC4190 only, and %s has none.", user),
		in.installFix()+"   (the registration needs io.element.msc4190: true; then "+in.start()+")")}
}

// maxNamedChats is how many chats a report names one by one.
const maxNamedChats = 20

// checkUnreadable lists the chats with messages that cannot be decrypted, and those whose encryption is unknown.
func checkUnreadable(ctx context.Context, in *Input, chats []store.Chat) ([]Finding, error) {
	waiting, err := store.UnreadableChats(ctx, in.Database.DB())
	if err != nil {
		return nil, err
	}
	why := map[store.ChatID]store.UnreadableChat{}
	for _, w := range waiting {
		why[w.ChatID] = w
	}
	var found []Finding
	for _, c := range chats {
		w, locked := why[c.ID]
		if !locked || c.ClosedReason != "" || c.Mode != nil && *c.Mode == policy.ModeOff {
			continue
		}
		if len(found) == maxNamedChats {
			break
		}
		f := newFinding(ChatsUnreadable, c.Label(), fmt.Sprintf("%s in %s cannot be read: %s", text.Count(w.Messages, "message"), c.Label(),
			text.OneLine(w.Why)),
			"multis verify   (then the keys can come; those of old messages may never come)")
		f.Chat, f.Network = int64(c.ID), c.Protocol
		found = append(found, f)
	}
	return found, nil
}

// maxUnknownRooms is the maximum number of rooms that are examined in the search for chats that multis does not know.
const maxUnknownRooms = 100

// checkChats looks for chats of bridges that multis does not know.
func checkChats(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	db := in.Database.DB()
	joined, err := in.Homeserver.JoinedRooms(ctx, in.Config.Owner)
	if err != nil {
		return Result{}, notAnswered(err)
	}
	known, err := store.KnownRooms(ctx, db)
	if err != nil {
		return failedCheck(err), ""
	}
	r := Result{Fact: text.Count(len(joined), "room") + " of yours"}
	unknown := slices.DeleteFunc(joined, func(room id.RoomID) bool { return slices.Contains(known, room) })
	if len(unknown) == 0 {
		return r, ""
	}
	portals, err := in.Homeserver.Portals(ctx, unknown[:min(len(unknown), maxUnknownRooms)])
	if err != nil {
		return r, notAnswered(err)
	}
	missing := map[string]int{}
	for _, p := range portals {
		elsewhere, err := store.HasChannel(ctx, db, p.Protocol, p.ChannelID, p.Login)
		if err != nil {
			return failedCheck(err), ""
		}
		if !elsewhere && p.BridgeBot.Homeserver() == in.Config.Owner.Homeserver() && !p.Tombstoned {
			missing[p.Protocol]++
		}
	}
	for protocol, n := range missing {
		f := newFinding(ChatsMissing, networkName(protocol),
			fmt.Sprintf("multis does not know %s on %s.", text.Count(n, "chat"), networkName(protocol)),
			in.start()+"   (it looks through all your rooms)")
		f.Network = protocol
		r.Findings = append(r.Findings, f)
	}
	return r, ""
}
