package demonet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"maunium.net/go/mautrix/id"
)

// Client controls a network in another process.
type Client struct {
	// URL is the address of the control interface, without a trailing slash.
	URL string
}

// Line is a message to send. Only Text is required.
type Line struct {
	// Sender is a contact's id. Defaults to the contact with the chat's id.
	Sender string
	// SenderName changes the name of the sender. Defaults to the current name.
	SenderName string
	Text       string
	// File is attached, with Text as its caption. May be nil.
	File *File
	// Time is when the message was sent. Defaults to now.
	Time time.Time
	// OnPhone sends the message as the owner, on the phone. Sender is ignored then.
	OnPhone bool
}

func (l Line) request(chat string) sayRequest {
	return sayRequest{
		Chat:   chat,
		Sender: l.Sender,
		Name:   l.SenderName,
		Text:   l.Text,
		File:   l.File,
		Time:   l.Time,
		Me:     l.OnPhone,
	}
}

// Say sends a message and returns its ids when the homeserver has accepted it.
func (c Client) Say(ctx context.Context, chat string, line Line) (Said, error) {
	var said Said
	err := c.post(ctx, "/say", line.request(chat), &said)
	return said, err
}

// Edit replaces the text of a message, given its id on the network.
func (c Client) Edit(ctx context.Context, chat, message, text string) error {
	return c.post(ctx, "/edit", changeRequest{Chat: chat, Message: message, Text: text}, &empty{})
}

// Delete deletes a message, given its id on the network.
func (c Client) Delete(ctx context.Context, chat, message string) error {
	return c.post(ctx, "/delete", changeRequest{Chat: chat, Message: message}, &empty{})
}

// SetChat adds or changes a chat and makes sure that it has a portal.
func (c Client) SetChat(ctx context.Context, chat string, kind Kind, name string, members ...Contact) error {
	return c.post(ctx, "/chat", chatRequest{ID: chat, Kind: kind, Name: name, Members: members}, &empty{})
}

// Rename changes a contact's name.
func (c Client) Rename(ctx context.Context, contact Contact) error {
	return c.post(ctx, "/rename", contact, &empty{})
}

// Backfill creates a portal with a history, oldest first, as a bridge does after
// a login. Each line must have its Time.
func (c Client) Backfill(ctx context.Context, chat string, lines []Line) error {
	request := backfillRequest{Chat: chat}
	for _, line := range lines {
		request.Messages = append(request.Messages, line.request(chat))
	}
	return c.post(ctx, "/backfill", request, &empty{})
}

// Fail makes the network refuse messages for a chat or, if on is false, accept them again.
func (c Client) Fail(ctx context.Context, chat string, on bool) error {
	return c.post(ctx, "/fail", failRequest{Chat: chat, On: on}, &empty{})
}

// Encrypt enables encryption in a chat's portal. The bridge must allow it.
func (c Client) Encrypt(ctx context.Context, chat string) error {
	return c.post(ctx, "/encrypt", portalRequest{Chat: chat}, &empty{})
}

// Forget deletes a chat's portal and its room; the next message creates another.
func (c Client) Forget(ctx context.Context, chat string) error {
	return c.post(ctx, "/forget", portalRequest{Chat: chat}, &empty{})
}

// Open updates a chat's portal, as a bridge does when it resyncs the chat.
func (c Client) Open(ctx context.Context, chat string) error {
	return c.post(ctx, "/open", portalRequest{Chat: chat}, &empty{})
}

// EndLogin ends the owner's login or, if ended is false, restores it.
func (c Client) EndLogin(ctx context.Context, ended bool) error {
	return c.post(ctx, "/login", loginRequest{Ended: ended}, &empty{})
}

// Delivered lists the messages that reached a chat from Matrix, oldest first; "" means all chats.
func (c Client) Delivered(ctx context.Context, chat string) ([]Delivery, error) {
	var delivered []Delivery
	err := c.get(ctx, "/delivered", chat, &delivered)
	return delivered, err
}

// Room returns the room of a chat's portal; "" if it has none.
func (c Client) Room(ctx context.Context, chat string) (id.RoomID, error) {
	var response roomResponse
	err := c.get(ctx, "/room", chat, &response)
	return response.Room, err
}

func (c Client) post(ctx context.Context, path string, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return c.do(req, response)
}

func (c Client) get(ctx context.Context, path, chat string, response any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path+"?chat="+url.QueryEscape(chat), http.NoBody)
	if err != nil {
		return err
	}
	return c.do(req, response)
}

func (c Client) do(req *http.Request, response any) error {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", req.Method, req.URL.Path, resp.Status, bytes.TrimSpace(body))
	}
	return json.Unmarshal(body, response)
}
