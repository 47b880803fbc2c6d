// Package demonet is a simulated chat network for tests and the demo, with
// scripted contacts, a record of deliveries and failures on demand. The bridge in
// the folder above connects it to Matrix; Client controls it over HTTP from
// another process.
package demonet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrNoID is returned for a chat or a contact without an id.
var ErrNoID = errors.New("a chat and a contact need an id")

// Self is the owner's own user id on the network.
const Self = "self"

// ErrRefused is returned by Deliver for a chat that SetFailing made fail.
var ErrRefused = errors.New("the network refused the message")

// Kind is the kind of a chat.
type Kind string

const (
	// DM is a chat with one contact.
	DM Kind = "dm"
	// Group is a chat with several contacts.
	Group Kind = "group"
	// Status is the broadcast channel of status updates.
	Status Kind = "status"
)

// Contact is a user of the network.
type Contact struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Chat is a conversation on the network.
type Chat struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Name is empty for a DM, which is shown with the name of its contact.
	Name string `json:"name,omitempty"`
	// Members are contact ids, without Self.
	Members []string `json:"members"`
}

// Message is a message on the network.
type Message struct {
	ID   string `json:"id"`
	Chat string `json:"chat"`
	// Sender is a contact's id, or Self for what the owner types on the phone.
	Sender string    `json:"sender"`
	Text   string    `json:"text"` // for a file, its caption
	Time   time.Time `json:"time"`
	File   *File     `json:"file,omitempty"` // nil for a plain text
}

// File is a file in a message.
type File struct {
	Name   string `json:"name"`
	MIME   string `json:"mime"`
	Data   []byte `json:"data"`
	Millis int    `json:"millis,omitempty"` // duration of a recording
	Voice  bool   `json:"voice,omitempty"`  // whether it is a voice note
}

// Delivery is a message that came from Matrix and reached the network.
type Delivery struct {
	Chat    string    `json:"chat"`
	Text    string    `json:"text"` // for a file, its caption
	EventID string    `json:"event_id"`
	Time    time.Time `json:"time"`
	File    *File     `json:"file,omitempty"` // nil for a plain text
}

// Network is the state of the network. It is stored in a file, so that it
// survives a restart of the bridge.
type Network struct {
	path string

	mu sync.Mutex
	networkState
}

type networkState struct {
	LastID     int                  `json:"last_id"`
	Names      map[string]string    `json:"names"` // contact id -> name
	Chats      map[string]Chat      `json:"chats"`
	History    map[string][]Message `json:"history"` // chat id -> messages from before the bridge saw the chat
	Deliveries []Delivery           `json:"deliveries"`
	Failing    map[string]bool      `json:"failing"`    // ids of chats for which the network refuses messages
	LoggedOut  bool                 `json:"logged_out"` // the network ended the owner's login
}

// Open reads the state from path. A missing file means an empty network.
func Open(path string) (*Network, error) {
	n := &Network{path: path, networkState: networkState{
		Names: map[string]string{Self: "Me"}, Chats: map[string]Chat{},
		History: map[string][]Message{}, Failing: map[string]bool{},
	}}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return n, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &n.networkState); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return n, nil
}

// save writes the state. The caller holds mu.
func (n *Network) save() error {
	data, err := json.Marshal(&n.networkState)
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(n.path+".new", n.path)
}

// SetChat adds or changes a chat, and sets the names of its members.
func (n *Network) SetChat(chat Chat, members []Contact) error {
	if chat.ID == "" || slices.ContainsFunc(members, func(c Contact) bool { return c.ID == "" }) {
		return ErrNoID
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	chat.Members = nil
	for _, member := range members {
		n.name(member)
		chat.Members = append(chat.Members, member.ID)
	}
	n.Chats[chat.ID] = chat
	return n.save()
}

// Rename changes a contact's name.
func (n *Network) Rename(contact Contact) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Names[contact.ID] = contact.Name
	return n.save()
}

// Say gives a message an id and, if it has none, a time. If the chat is unknown, it
// becomes a DM with the sender or, if the owner speaks first, with a contact of the
// chat's name. An unknown sender in a known chat becomes a member.
func (n *Network) Say(message Message, senderName string) (Message, error) {
	if message.Chat == "" || message.Sender == "" {
		return Message{}, ErrNoID
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	chat, known := n.Chats[message.Chat]
	if !known {
		chat = Chat{ID: message.Chat, Kind: DM}
	}
	contact := message.Sender
	if contact == Self {
		contact = message.Chat
	} else {
		n.name(Contact{ID: contact, Name: senderName})
	}
	if !known || message.Sender != Self && !slices.Contains(chat.Members, contact) {
		n.name(Contact{ID: contact})
		chat.Members = append(chat.Members, contact)
	}
	n.Chats[chat.ID] = chat
	n.LastID++
	message.ID = fmt.Sprintf("m%d", n.LastID)
	if message.Time.IsZero() {
		message.Time = time.Now()
	}
	return message, n.save()
}

// AddHistory adds messages of the members of a chat, oldest first, from the time
// before the bridge was connected.
func (n *Network) AddHistory(chat string, messages []Message) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, message := range messages {
		n.LastID++
		message.ID, message.Chat = fmt.Sprintf("m%d", n.LastID), chat
		n.History[chat] = append(n.History[chat], message)
	}
	return n.save()
}

// SetFailing makes the network refuse messages for a chat or, if on is false, accept them again.
func (n *Network) SetFailing(chat string, on bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Failing[chat] = on
	return n.save()
}

// SetLoggedOut ends the owner's login or, if out is false, restores it.
func (n *Network) SetLoggedOut(out bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.LoggedOut = out
	return n.save()
}

// LoggedIn reports whether the owner is logged in.
func (n *Network) LoggedIn() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.LoggedOut
}

// Deliver takes a message from Matrix and returns its id on the network. It
// returns ErrRefused in a failing chat.
func (n *Network) Deliver(delivery Delivery) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Failing[delivery.Chat] {
		return "", ErrRefused
	}
	n.LastID++
	delivery.Time = time.Now()
	n.Deliveries = append(n.Deliveries, delivery)
	return fmt.Sprintf("m%d", n.LastID), n.save()
}

// Delivered lists the messages that reached a chat from Matrix, oldest first; "" means all chats.
func (n *Network) Delivered(chat string) []Delivery {
	n.mu.Lock()
	defer n.mu.Unlock()
	delivered := []Delivery{}
	for _, delivery := range n.Deliveries {
		if chat == "" || delivery.Chat == chat {
			delivered = append(delivered, delivery)
		}
	}
	return delivered
}

// Chat returns a chat and whether it exists.
func (n *Network) Chat(id string) (Chat, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	chat, ok := n.Chats[id]
	chat.Members = slices.Clone(chat.Members)
	return chat, ok
}

// Earlier returns a chat's history.
func (n *Network) Earlier(chat string) []Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.History[chat])
}

// NameOf returns a contact's name.
func (n *Network) NameOf(contact string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Names[contact]
}

// name records a contact, whose name defaults to its id. The caller holds mu.
func (n *Network) name(contact Contact) {
	if contact.Name == "" {
		if n.Names[contact.ID] != "" {
			return
		}
		contact.Name = strings.ToUpper(contact.ID[:1]) + contact.ID[1:]
	}
	n.Names[contact.ID] = contact.Name
}
