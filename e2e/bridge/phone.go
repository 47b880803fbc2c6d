package main

import (
	"context"
	"fmt"

	"maunium.net/go/mautrix/bridgev2"
	"maunium.net/go/mautrix/bridgev2/database"
	"maunium.net/go/mautrix/bridgev2/networkid"
	"maunium.net/go/mautrix/bridgev2/status"
	"maunium.net/go/mautrix/event"

	"multis/e2e/bridge/demonet"
)

// phone is the owner's login on the network, as bridgev2 sees it.
type phone struct {
	network *demonet.Network
	login   *bridgev2.UserLogin
}

var _ bridgev2.BackfillingNetworkAPI = (*phone)(nil)

func (p *phone) Connect(context.Context) {
	state := status.StateBadCredentials
	if p.network.LoggedIn() {
		state = status.StateConnected
	}
	p.login.BridgeState.Send(status.BridgeState{StateEvent: state})
}

func (p *phone) Disconnect() {}

func (p *phone) IsLoggedIn() bool { return p.network.LoggedIn() }

func (p *phone) LogoutRemote(context.Context) {}

func (p *phone) IsThisUser(_ context.Context, user networkid.UserID) bool {
	return user == demonet.Self
}

func (p *phone) GetCapabilities(context.Context, *bridgev2.Portal) *event.RoomFeatures {
	all := &event.FileFeatures{
		MimeTypes: map[string]event.CapabilitySupportLevel{"*/*": event.CapLevelFullySupported}, Caption: event.CapLevelFullySupported,
	}
	files := event.FileFeatureMap{}
	for _, kind := range []event.CapabilityMsgType{event.MsgImage, event.MsgVideo, event.MsgAudio, event.MsgFile, event.CapMsgVoice} {
		files[kind] = all
	}
	return &event.RoomFeatures{ID: "invalid.demonet.2", MaxTextLength: 4096, File: files}
}

func (p *phone) GetChatInfo(_ context.Context, portal *bridgev2.Portal) (*bridgev2.ChatInfo, error) {
	chat, ok := p.network.Chat(string(portal.ID))
	if !ok {
		return nil, fmt.Errorf("no chat %s", portal.ID)
	}
	members := bridgev2.ChatMemberMap{}
	for _, user := range append(chat.Members, demonet.Self) {
		members.Set(bridgev2.ChatMember{EventSender: sender(user), Membership: event.MembershipJoin})
	}
	info := &bridgev2.ChatInfo{
		Members:     &bridgev2.ChatMemberList{IsFull: true, TotalMemberCount: len(members), MemberMap: members},
		CanBackfill: true,
	}
	// Like WhatsApp's bridge, this one declares the status broadcast as an ordinary room, recognizable only by its channel id.
	roomType := database.RoomTypeDefault
	if chat.Kind == demonet.DM {
		roomType = database.RoomTypeDM
		info.Members.OtherUserID = networkid.UserID(chat.Members[0])
	} else {
		info.Name = &chat.Name
	}
	info.Type = &roomType
	return info, nil
}

func (p *phone) GetUserInfo(_ context.Context, ghost *bridgev2.Ghost) (*bridgev2.UserInfo, error) {
	name := p.network.NameOf(string(ghost.ID))
	return &bridgev2.UserInfo{Name: &name, Identifiers: []string{"demonet:" + string(ghost.ID)}}, nil
}

func (p *phone) HandleMatrixMessage(ctx context.Context, msg *bridgev2.MatrixMessage) (*bridgev2.MatrixMessageResponse, error) {
	delivery := demonet.Delivery{Chat: string(msg.Portal.ID), Text: msg.Content.Body, EventID: msg.Event.ID.String()}
	if msg.Content.MsgType.IsMedia() {
		data, err := p.login.Bridge.Bot.DownloadMedia(ctx, msg.Content.URL, msg.Content.File)
		if err != nil {
			return nil, err
		}
		delivery.Text = msg.Content.GetCaption()
		delivery.File = &demonet.File{Name: msg.Content.GetFileName(), MIME: msg.Content.GetInfo().MimeType, Data: data}
	}
	message, err := p.network.Deliver(delivery)
	if err != nil {
		return nil, err
	}
	return &bridgev2.MatrixMessageResponse{
		DB: &database.Message{ID: networkid.MessageID(message), SenderID: demonet.Self},
	}, nil
}

// FetchMessages returns the history of a chat. bridgev2 requests it when it creates the portal.
func (p *phone) FetchMessages(_ context.Context, params bridgev2.FetchMessagesParams) (*bridgev2.FetchMessagesResponse, error) {
	response := &bridgev2.FetchMessagesResponse{Forward: params.Forward}
	if !params.Forward || params.AnchorMessage != nil {
		return response, nil
	}
	for _, message := range p.network.Earlier(string(params.Portal.ID)) {
		response.Messages = append(response.Messages, &bridgev2.BackfillMessage{
			ConvertedMessage: converted(message.Text),
			Sender:           sender(message.Sender),
			ID:               networkid.MessageID(message.ID),
			Timestamp:        message.Time,
		})
	}
	return response, nil
}
