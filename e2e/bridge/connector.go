package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/util/configupgrade"
	"maunium.net/go/mautrix/bridgev2"
	"maunium.net/go/mautrix/bridgev2/database"
	"maunium.net/go/mautrix/bridgev2/networkid"
	"maunium.net/go/mautrix/bridgev2/simplevent"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

// loginID is the owner's only login; it is also the receiver of DM portals.
const loginID networkid.UserLoginID = "phone"

// connector connects bridgev2 to the network. It is the network's Bridge.
type connector struct {
	bridge  *bridgev2.Bridge
	network *demonet.Network
	login   *bridgev2.UserLogin
}

var (
	_ bridgev2.NetworkConnector = (*connector)(nil)
	_ demonet.Bridge            = (*connector)(nil)
)

func (c *connector) Init(bridge *bridgev2.Bridge) { c.bridge = bridge }

func (c *connector) Start(context.Context) error { return nil }

func (c *connector) GetName() bridgev2.BridgeName {
	return bridgev2.BridgeName{
		DisplayName: "Demonet", NetworkURL: "https://demonet.invalid", NetworkID: "demonet",
		BeeperBridgeType: "demonet", DefaultCommandPrefix: "!demo",
	}
}

func (c *connector) GetDBMetaTypes() database.MetaTypes { return database.MetaTypes{} }

func (c *connector) GetCapabilities() *bridgev2.NetworkGeneralCapabilities {
	return &bridgev2.NetworkGeneralCapabilities{}
}

func (c *connector) GetConfig() (string, any, configupgrade.Upgrader) { return "", nil, nil }

func (c *connector) GetBridgeInfoVersion() (info, capabilities int) { return 1, 1 }

func (c *connector) GetLoginFlows() []bridgev2.LoginFlow { return nil }

func (c *connector) CreateLogin(context.Context, *bridgev2.User, string) (bridgev2.LoginProcess, error) {
	return nil, errors.New("the owner is logged in at the start")
}

func (c *connector) LoadUserLogin(_ context.Context, login *bridgev2.UserLogin) error {
	login.Client = &phone{network: c.network, login: login}
	return nil
}

// logIn logs the owner in, unless the login exists from an earlier run.
func (c *connector) logIn(ctx context.Context, owner id.UserID) error {
	user, err := c.bridge.GetUserByMXID(ctx, owner)
	if err != nil {
		return err
	}
	c.login = user.GetDefaultLogin()
	if c.login != nil {
		return nil
	}
	c.login, err = user.NewLogin(ctx, &database.UserLogin{ID: loginID, RemoteName: "My phone"}, nil)
	if err != nil {
		return err
	}
	c.login.Client.Connect(ctx)
	return nil
}

// Bring implements demonet.Bridge.
func (c *connector) Bring(ctx context.Context, message demonet.Message) (demonet.Said, error) {
	key := c.key(message.Chat)
	err := c.handle(&simplevent.Message[demonet.Message]{
		EventMeta:          c.meta(bridgev2.RemoteEventMessage, key, message),
		Data:               message,
		ID:                 networkid.MessageID(message.ID),
		ConvertMessageFunc: convert,
	})
	if err != nil {
		return demonet.Said{}, fmt.Errorf("bridge %s: %w", message.ID, err)
	}
	stored, err := c.bridge.DB.Message.GetFirstPartByID(ctx, key.Receiver, networkid.MessageID(message.ID))
	if err != nil {
		return demonet.Said{}, err
	} else if stored == nil {
		return demonet.Said{}, fmt.Errorf("bridge %s: the bridge dropped it", message.ID)
	}
	room, err := c.Room(ctx, message.Chat)
	return demonet.Said{Message: message.ID, Room: room, Event: stored.MXID}, err
}

// Edit implements demonet.Bridge.
func (c *connector) Edit(ctx context.Context, chat, message, text string) error {
	sender, err := c.newEventBySenderOf(ctx, chat, message)
	if err != nil {
		return err
	}
	return c.handle(&simplevent.Message[string]{
		EventMeta:     c.meta(bridgev2.RemoteEventEdit, c.key(chat), sender),
		Data:          text,
		ID:            networkid.MessageID(message),
		TargetMessage: networkid.MessageID(message),
		ConvertEditFunc: func(_ context.Context, _ *bridgev2.Portal, _ bridgev2.MatrixAPI, existing []*database.Message,
			text string,
		) (*bridgev2.ConvertedEdit, error) {
			part := converted(text).Parts[0].ToEditPart(existing[0])
			return &bridgev2.ConvertedEdit{ModifiedParts: []*bridgev2.ConvertedEditPart{part}}, nil
		},
	})
}

// Delete implements demonet.Bridge.
func (c *connector) Delete(ctx context.Context, chat, message string) error {
	sender, err := c.newEventBySenderOf(ctx, chat, message)
	if err != nil {
		return err
	}
	return c.handle(&simplevent.MessageRemove{
		EventMeta:     c.meta(bridgev2.RemoteEventMessageRemove, c.key(chat), sender),
		TargetMessage: networkid.MessageID(message),
	})
}

// Open implements demonet.Bridge.
func (c *connector) Open(_ context.Context, chat string) error {
	resync := &simplevent.ChatResync{
		EventMeta: simplevent.EventMeta{
			Type: bridgev2.RemoteEventChatResync, PortalKey: c.key(chat), CreatePortal: true,
		},
		GetChatInfoFunc: c.login.Client.GetChatInfo,
	}
	if earlier := c.network.Earlier(chat); len(earlier) > 0 {
		resync.LatestMessageTS = earlier[len(earlier)-1].Time
	}
	return c.handle(resync)
}

// UpdateName implements demonet.Bridge.
func (c *connector) UpdateName(ctx context.Context, contact string) error {
	ghost, err := c.bridge.GetGhostByID(ctx, networkid.UserID(contact))
	if err != nil {
		return err
	}
	info, err := c.login.Client.GetUserInfo(ctx, ghost)
	if err != nil {
		return err
	}
	ghost.UpdateInfo(ctx, info)
	return nil
}

// Encrypt implements demonet.Bridge.
func (c *connector) Encrypt(ctx context.Context, chat string) error {
	room, err := c.Room(ctx, chat)
	if err != nil {
		return err
	}
	_, err = c.bridge.Bot.SendState(ctx, room, event.StateEncryption, "", &event.Content{
		Parsed: &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1},
	}, time.Time{})
	return err
}

// Forget implements demonet.Bridge.
func (c *connector) Forget(ctx context.Context, chat string) error {
	portal, err := c.bridge.GetExistingPortalByKey(ctx, c.key(chat))
	if err != nil {
		return err
	}
	if portal == nil {
		return nil
	}
	if err := portal.Delete(ctx); err != nil {
		return err
	}
	return c.bridge.Bot.DeleteRoom(ctx, portal.MXID, false)
}

// LoginChanged implements demonet.Bridge.
func (c *connector) LoginChanged() { c.login.Client.Connect(c.bridge.BackgroundCtx) }

// Room implements demonet.Bridge.
func (c *connector) Room(ctx context.Context, chat string) (id.RoomID, error) {
	portal, err := c.bridge.GetExistingPortalByKey(ctx, c.key(chat))
	if err != nil {
		return "", err
	}
	if portal == nil {
		return "", nil
	}
	return portal.MXID, nil
}

// handle passes an event to bridgev2 and waits until it is handled. The portal
// event buffer is 0, so that events are handled synchronously.
func (c *connector) handle(evt bridgev2.RemoteEvent) error {
	result := c.bridge.QueueRemoteEvent(c.login, evt)
	if result.Error != nil {
		return result.Error
	} else if !result.Success {
		return errors.New("the bridge could not handle the event, see its log")
	}
	return nil
}

// key returns the portal key of a chat. Groups are shared between logins.
func (c *connector) key(chat string) networkid.PortalKey {
	if known, ok := c.network.Chat(chat); ok && known.Kind == demonet.Group {
		return networkid.PortalKey{ID: networkid.PortalID(chat)}
	}
	return networkid.PortalKey{ID: networkid.PortalID(chat), Receiver: loginID}
}

func (c *connector) meta(kind bridgev2.RemoteEventType, key networkid.PortalKey, message demonet.Message) simplevent.EventMeta {
	return simplevent.EventMeta{
		Type:         kind,
		PortalKey:    key,
		Sender:       sender(message.Sender),
		Timestamp:    message.Time,
		CreatePortal: true,
	}
}

// newEventBySenderOf returns an empty event with the current time, by the sender of a stored message, for an edit of it or a reaction.
func (c *connector) newEventBySenderOf(ctx context.Context, chat, message string) (demonet.Message, error) {
	stored, err := c.bridge.DB.Message.GetFirstPartByID(ctx, c.key(chat).Receiver, networkid.MessageID(message))
	if err != nil {
		return demonet.Message{}, err
	} else if stored == nil {
		return demonet.Message{}, fmt.Errorf("message %s was never bridged", message)
	}
	return demonet.Message{Sender: string(stored.SenderID), Time: time.Now()}, nil
}

func sender(user string) bridgev2.EventSender {
	if user == demonet.Self {
		return bridgev2.EventSender{IsFromMe: true, SenderLogin: loginID, Sender: demonet.Self}
	}
	return bridgev2.EventSender{Sender: networkid.UserID(user)}
}

func converted(text string) *bridgev2.ConvertedMessage {
	return &bridgev2.ConvertedMessage{Parts: []*bridgev2.ConvertedMessagePart{{
		Type:    event.EventMessage,
		Content: &event.MessageEventContent{MsgType: event.MsgText, Body: text},
	}}}
}
