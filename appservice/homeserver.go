package appservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Access is how to reach the homeserver and as which users.
type Access struct {
	URL          string
	AppserviceID string
	Token        string // as_token: it can do everything with the owner's account
	Owner, Bot   id.UserID
	BotName      string      // display name
	Operators    []id.UserID // invited to the admin room beside the owner
	// OperatorsRoom is true if there is a room for operators beside the admin room. Then operators are invited only there.
	OperatorsRoom bool
}

// Homeserver is the Matrix client of multis. It acts as the owner, on a device of its own, and as the bot.
type Homeserver struct {
	access Access
	store  *store.Store
	owner  *account
	bot    *account
	vault  *Vault // encrypts messages; set by NewVault
	// commands are the commands of the admin room; set by SetCommands.
	commands []Command
}

// requestTimeout limits every request except the long poll and file transfers.
const requestTimeout = 30 * time.Second

// NewHomeserver returns a client. It can be used after Start.
func NewHomeserver(st *store.Store, a Access) (*Homeserver, error) {
	h := &Homeserver{access: a, store: st}
	for _, acc := range []struct {
		to      **account
		user    id.UserID
		setting store.Setting
	}{{&h.owner, a.Owner, store.SettingOwnerDevice}, {&h.bot, a.Bot, store.SettingBotDevice}} {
		first, err := h.newSession(acc.user, device{})
		if err != nil {
			return nil, err
		}
		*acc.to = &account{user: acc.user, setting: acc.setting}
		(*acc.to).current.Store(first)
	}
	return h, nil
}

// Start registers the bot and creates the devices of both accounts, unless they exist, and checks that multis may act as the owner.
func (h *Homeserver) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 4*requestTimeout)
	defer cancel()
	if err := h.registerBot(ctx); err != nil {
		return err
	}
	if who, err := h.owner.session().Whoami(ctx); err != nil {
		return explain("act as "+h.access.Owner.String(), err)
	} else if who.UserID != h.access.Owner {
		return fmt.Errorf("the homeserver identifies multis as %s instead of %s", who.UserID, h.access.Owner)
	}
	return h.ensureDevices(ctx)
}

// Ping makes the homeserver call the appservice, which also makes it push the queued events at once. The error names the setting to check.
func (h *Homeserver) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := ping(ctx, h.bot.session().Client, h.access.AppserviceID, "start")
	if errors.Is(err, mautrix.MBadStatus) && (strings.Contains(err.Error(), "HTTP 401") || strings.Contains(err.Error(), "HTTP 403")) {
		return fmt.Errorf("the homeserver reaches us with another hs_token: %w; give it the newest registration.yaml and restart Synapse", err)
	}
	if err != nil {
		return fmt.Errorf("the homeserver cannot reach us: %w; check appservice.address in config.yaml against the url in the registration", err)
	}
	return nil
}

// registerBot creates the bot's account with its display name, unless it exists.
func (h *Homeserver) registerBot(ctx context.Context) error {
	local, _, err := h.access.Bot.Parse()
	if err != nil {
		return fmt.Errorf("bot %s: %w", h.access.Bot, err)
	}
	_, err = h.bot.session().MakeFullRequest(ctx, mautrix.FullRequest{
		Method: http.MethodPost, URL: h.bot.session().BuildURL(mautrix.ClientURLPath{"v3", "register"}),
		RequestJSON: struct {
			Type         string `json:"type"`
			Username     string `json:"username"`
			InhibitLogin bool   `json:"inhibit_login"`
		}{"m.login.application_service", local, true},
	})
	switch {
	case errors.Is(err, mautrix.MUserInUse):
		return nil
	case err != nil:
		return explain("make the account of "+h.access.Bot.String(), err)
	}
	if err := h.bot.session().SetDisplayName(ctx, h.access.BotName); err != nil {
		return explain("name the bot", err)
	}
	return nil
}

// txnLifetime is how long the homeserver certainly remembers a transaction id. For an older outbox message, Send first
// looks in the room for an event that was already sent.
const txnLifetime = 12 * time.Hour

// Send sends an outbox message to a room and returns its event. Repeated calls return the same event. If
// jobs.IsPermanent(err), the homeserver will never accept the message.
func (h *Homeserver) Send(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	patience := requestTimeout
	if _, carries := attachedFile(o); carries {
		patience += mediaTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := h.account(o.SendAs).session()
	if time.Since(o.CreatedAt) > txnLifetime || o.CreatedAt.Before(c.deviceCreatedAt) {
		if sent, err := h.findSent(ctx, o.SendAs, room, o.ID.String()); sent != "" || err != nil {
			return sent, err
		}
	}
	if sent, err := h.findSentInFormerRoom(ctx, o); sent != "" || err != nil {
		return sent, err
	}
	kind, content, err := h.prepareContent(ctx, o, c, room)
	if err != nil {
		return "", err
	}
	var resp mautrix.RespSendEvent
	_, err = c.MakeFullRequest(ctx, mautrix.FullRequest{
		Method: http.MethodPut, URL: c.BuildClientURL("v3", "rooms", room, "send", kind, o.ID.String()), RequestJSON: content,
		ResponseJSON:     &resp,
		SensitiveContent: true, // else the client logs the text
	})
	switch {
	case err == nil:
		return resp.EventID, nil
	case errors.Is(err, mautrix.MForbidden) && time.Since(o.CreatedAt) < policy.RoomReplacementTimeout:
		return "", explain("send", err) // the room may be about to be replaced
	case isPermanent(err):
		return "", jobs.Permanent(explain("send", err))
	default:
		return "", explain("send", err)
	}
}

// findSentInFormerRoom returns the event of an outbox message that was already sent to the chat's former room; empty if
// there is none. Without it, a send whose response was lost would be repeated in the new room.
func (h *Homeserver) findSentInFormerRoom(ctx context.Context, o store.OutboxMessage) (id.EventID, error) {
	chat, err := store.ChatByID(ctx, h.store.DB(), o.ChatID)
	if err != nil {
		return "", err
	}
	if chat.FormerRoom == nil || chat.MovedAt == nil || !o.CreatedAt.Before(*chat.MovedAt) {
		return "", nil
	}
	sent, err := h.findSent(ctx, o.SendAs, *chat.FormerRoom, o.ID.String())
	if errors.Is(err, mautrix.MForbidden) {
		return "", nil // the owner left the room
	}
	if err != nil {
		return "", err
	}
	if sent == "" {
		return "", nil
	}
	return sent, h.store.InTx(ctx, func(tx store.Tx) error { return jobs.MarkSent(ctx, tx, o.ID, sent, *chat.FormerRoom) })
}

// Show sends a progress event, as Send does. Unlike with Send, callers neither look for the event after a crash nor retry.
func (h *Homeserver) Show(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	return h.Send(ctx, o, room)
}

// prepareContent returns the event type and content to send, encrypted for an encrypted room. It asks the homeserver each time, because a
// room can become encrypted at any moment. If that request fails, nothing is sent.
func (h *Homeserver) prepareContent(ctx context.Context, o store.OutboxMessage, c *session, room id.RoomID) (string, any, error) {
	encrypted, err := h.isEncrypted(ctx, c, room)
	if err != nil {
		return "", nil, err
	}
	if o.Content, err = h.forClient(ctx, o); err != nil {
		return "", nil, err
	}
	content, err := h.uploadFile(ctx, o, c, encrypted)
	if err != nil {
		return "", nil, err
	}
	if !encrypted || o.EventType == event.EventReaction.Type { // reactions are never encrypted
		return o.EventType, content, nil
	}
	sealed, err := h.vault.encrypt(ctx, o.SendAs, room, event.Type{Type: o.EventType, Class: event.MessageEventType}, content)
	if errors.Is(err, errKeysElsewhere) {
		return "", nil, jobs.Snooze(otherProcessDelay)
	}
	if err != nil {
		return "", nil, err
	}
	labelled, err := addOutboxKey(sealed, o.ID.String())
	return event.EventEncrypted.Type, labelled, err
}

// addOutboxKey adds the outbox key to the unencrypted part of an encrypted event. A new device could not find the event
// by a key in the encrypted part, and multis would send it again.
func addOutboxKey(sealed *event.EncryptedEventContent, key string) (json.RawMessage, error) {
	data, err := json.Marshal(sealed)
	if err != nil {
		return nil, fmt.Errorf("write encrypted event: %w", err)
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("read encrypted event: %w", err)
	}
	if content[bridgebridge.ContentKey], err = json.Marshal(key); err != nil {
		return nil, fmt.Errorf("write outbox key: %w", err)
	}
	return json.Marshal(content)
}

// isEncrypted asks the homeserver whether a room is encrypted. Encryption cannot be turned off: if a room was encrypted
// and the homeserver says that it is not, that is an error.
func (h *Homeserver) isEncrypted(ctx context.Context, c *session, room id.RoomID) (bool, error) {
	chats, err := store.ChatsByRoom(ctx, h.store.DB(), []id.RoomID{room})
	if err != nil {
		return false, err
	}
	var content event.EncryptionEventContent
	err = c.StateEvent(ctx, room, event.StateEncryption, "", &content)
	known := chats[room].Encryption == policy.EncryptionYes
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, mautrix.MNotFound):
		return false, explain("ask whether the room is encrypted", err)
	case known:
		return false, jobs.Permanent(errors.New("the room was encrypted, and now the homeserver says it is not"))
	default:
		return false, nil
	}
}

// Retract redacts the event of a sent outbox message, and the event that it replaced, if any.
func (h *Homeserver) Retract(ctx context.Context, o store.OutboxMessage) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := h.redact(ctx, o, *o.EventID, "retract-")
	if err != nil {
		return err
	}
	if o.Replaces == "" {
		return nil
	}
	return h.redact(ctx, o, o.Replaces, "retract-shown-")
}

// redact redacts one event of an outbox message. txn is the prefix of the request's transaction id.
func (h *Homeserver) redact(ctx context.Context, o store.OutboxMessage, event id.EventID, txn string) error {
	_, err := h.account(o.SendAs).session().RedactEvent(ctx, o.RoomID, event, mautrix.ReqRedact{TxnID: txn + o.ID.String()})
	if isPermanent(err) {
		return jobs.Permanent(explain("delete a message of ours", err))
	}
	if err != nil {
		return explain("delete a message of ours", err)
	}
	return nil
}

// RedactEvent redacts an event of the owner. The bot does it, or the owner's account if the bot may not.
func (h *Homeserver) RedactEvent(ctx context.Context, room id.RoomID, event id.EventID) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request := mautrix.ReqRedact{TxnID: "redact-" + event.String()}
	_, err := h.bot.session().RedactEvent(ctx, room, event, request)
	if errors.Is(err, mautrix.MForbidden) {
		_, err = h.owner.session().RedactEvent(ctx, room, event, request)
	}
	switch {
	case isPermanent(err):
		return jobs.Permanent(explain("delete a message with a PIN", err))
	case err != nil:
		return explain("delete a message with a PIN", err)
	default:
		return nil
	}
}

// isPermanent reports whether the homeserver rejected the request for good, so that a retry gets the same response. It is
// false for a deleted device, because the device is replaced.
func isPermanent(err error) bool {
	var failed mautrix.HTTPError
	if !errors.As(err, &failed) || failed.Response == nil || isLostDevice(err) {
		return false
	}
	switch status := failed.Response.StatusCode; status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return status >= 400 && status < 500
	}
}

// findSent searches the newest 10 pages of a room for the event with an outbox key, encrypted or not. It returns an empty
// id if there is none.
func (h *Homeserver) findSent(ctx context.Context, who policy.SendAs, room id.RoomID, key string) (id.EventID, error) {
	c, from := h.account(who).session(), ""
	for range 10 {
		page, err := c.messagesBefore(ctx, room, from, "")
		if err != nil {
			return "", explain("look for a message of ours", err)
		}
		for _, evt := range page.Chunk {
			parsed, err := bridgebridge.Parse(evt)
			if err == nil && parsed.OutboxKey == key && evt.Sender == c.UserID {
				return evt.ID, nil
			}
		}
		if page.End == "" {
			return "", nil
		}
		from = page.End
	}
	return "", nil
}

// account returns the account that sends messages as who.
func (h *Homeserver) account(who policy.SendAs) *account {
	if who == policy.AsOwner {
		return h.owner
	}
	return h.bot
}

// explain wraps err with what was attempted. If err shows a mistake in the installation, it adds how to fix it.
func explain(what string, err error) error {
	var failed mautrix.HTTPError
	var request *url.Error
	switch {
	case errors.As(err, &request):
		return fmt.Errorf("%s: no homeserver answers: %w; if it runs, check homeserver.address in config.yaml", what, request.Err)
	case errors.As(err, &failed) && failed.RespError == nil && failed.IsStatus(http.StatusNotFound):
		return fmt.Errorf("%s: %w; this is not a Matrix homeserver: check homeserver.address in config.yaml", what, err)
	case errors.Is(err, mautrix.MUnknownToken):
		return fmt.Errorf("%s: %w; the homeserver does not know our as_token: add registration.yaml to app_service_config_files in homeserver.yaml and restart Synapse", what, err)
	case errors.Is(err, mautrix.MForbidden) && strings.Contains(err.Error(), "has not registered this user"):
		return fmt.Errorf("%s: %w; the homeserver has no such account: check owner in config.yaml, or create the account", what, err)
	case errors.Is(err, mautrix.MExclusive), errors.Is(err, mautrix.MForbidden):
		return fmt.Errorf("%s: %w; the registration does not cover it: write it again with multis -g and restart Synapse", what, err)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}
