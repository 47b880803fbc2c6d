package demonet

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"maunium.net/go/mautrix/id"
)

// Bridge passes changes of the network to Matrix. Every method returns when the
// homeserver has accepted them.
type Bridge interface {
	// Bring sends a message into the portal of its chat, and creates the portal if needed.
	Bring(ctx context.Context, message Message) (Said, error)
	// Edit replaces a message's text.
	Edit(ctx context.Context, chat, message, text string) error
	// Delete deletes a message.
	Delete(ctx context.Context, chat, message string) error
	// Open creates a chat's portal with its history, or updates it.
	Open(ctx context.Context, chat string) error
	// Renamed sets the current name of a contact in Matrix.
	UpdateName(ctx context.Context, contact string) error
	// Encrypt enables encryption in a chat's portal.
	Encrypt(ctx context.Context, chat string) error
	// Forget deletes a chat's portal and its room, as the bridge command delete-portal does. The next message creates another portal.
	Forget(ctx context.Context, chat string) error
	// LoginChanged updates the state of the owner's login.
	LoginChanged()
	// Room returns the room of a chat's portal; "" if it has none.
	Room(ctx context.Context, chat string) (id.RoomID, error)
}

// Said holds the ids of a message.
type Said struct {
	// Message is the message's id on the network.
	Message string     `json:"message"`
	Room    id.RoomID  `json:"room_id"`
	Event   id.EventID `json:"event_id"`
}

type sayRequest struct {
	Chat   string    `json:"chat"`
	Sender string    `json:"sender"` // empty means the contact with the chat's id
	Name   string    `json:"name"`   // name of the sender; empty keeps the current one
	Text   string    `json:"text"`
	File   *File     `json:"file,omitempty"`
	Time   time.Time `json:"ts"` // zero means now
	Me     bool      `json:"me"` // the owner sends it, on the phone
}

func (r sayRequest) message() Message {
	sender := r.Sender
	if r.Me {
		sender = Self
	} else if sender == "" {
		sender = r.Chat
	}
	return Message{
		Chat:   r.Chat,
		Sender: sender,
		Text:   r.Text,
		File:   r.File,
		Time:   r.Time,
	}
}

type chatRequest struct {
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Name    string    `json:"name"`
	Members []Contact `json:"members"`
}

type changeRequest struct {
	Chat    string `json:"chat"`
	Message string `json:"message"`
	Text    string `json:"text"`
}

type backfillRequest struct {
	Chat     string       `json:"chat"`
	Messages []sayRequest `json:"messages"`
}

type failRequest struct {
	Chat string `json:"chat"`
	On   bool   `json:"on"`
}

type roomResponse struct {
	Room id.RoomID `json:"room_id"`
}

type portalRequest struct {
	Chat string `json:"chat"`
}

type loginRequest struct {
	Ended bool `json:"ended"`
}

type empty struct{}

// NewHandler returns the control interface for Client.
func NewHandler(network *Network, bridge Bridge) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /say", handle(func(ctx context.Context, r sayRequest) (Said, error) {
		message, err := network.Say(r.message(), r.Name)
		if err != nil {
			return Said{}, err
		}
		return bridge.Bring(ctx, message)
	}))
	mux.Handle("POST /edit", handle(func(ctx context.Context, r changeRequest) (empty, error) {
		return empty{}, bridge.Edit(ctx, r.Chat, r.Message, r.Text)
	}))
	mux.Handle("POST /delete", handle(func(ctx context.Context, r changeRequest) (empty, error) {
		return empty{}, bridge.Delete(ctx, r.Chat, r.Message)
	}))
	mux.Handle("POST /chat", handle(func(ctx context.Context, r chatRequest) (empty, error) {
		if err := network.SetChat(Chat{ID: r.ID, Kind: r.Kind, Name: r.Name}, r.Members); err != nil {
			return empty{}, err
		}
		return empty{}, bridge.Open(ctx, r.ID)
	}))
	mux.Handle("POST /rename", handle(func(ctx context.Context, r Contact) (empty, error) {
		if err := network.Rename(r); err != nil {
			return empty{}, err
		}
		return empty{}, bridge.UpdateName(ctx, r.ID)
	}))
	mux.Handle("POST /backfill", handle(func(ctx context.Context, r backfillRequest) (empty, error) {
		var messages []Message
		for _, said := range r.Messages {
			said.Chat = r.Chat
			messages = append(messages, said.message())
		}
		if _, known := network.Chat(r.Chat); !known {
			if err := network.SetChat(Chat{ID: r.Chat, Kind: DM}, []Contact{{ID: r.Chat}}); err != nil {
				return empty{}, err
			}
		}
		if err := network.AddHistory(r.Chat, messages); err != nil {
			return empty{}, err
		}
		return empty{}, bridge.Open(ctx, r.Chat)
	}))
	mux.Handle("POST /fail", handle(func(_ context.Context, r failRequest) (empty, error) {
		return empty{}, network.SetFailing(r.Chat, r.On)
	}))
	mux.Handle("POST /encrypt", handle(func(ctx context.Context, r portalRequest) (empty, error) {
		return empty{}, bridge.Encrypt(ctx, r.Chat)
	}))
	mux.Handle("POST /open", handle(func(ctx context.Context, r portalRequest) (empty, error) {
		return empty{}, bridge.Open(ctx, r.Chat)
	}))
	mux.Handle("POST /forget", handle(func(ctx context.Context, r portalRequest) (empty, error) {
		return empty{}, bridge.Forget(ctx, r.Chat)
	}))
	mux.Handle("POST /login", handle(func(_ context.Context, r loginRequest) (empty, error) {
		if err := network.SetLoggedOut(r.Ended); err != nil {
			return empty{}, err
		}
		bridge.LoginChanged()
		return empty{}, nil
	}))
	mux.HandleFunc("GET /delivered", func(w http.ResponseWriter, r *http.Request) {
		answer(w, network.Delivered(r.URL.Query().Get("chat")), nil)
	})
	mux.HandleFunc("GET /room", func(w http.ResponseWriter, r *http.Request) {
		room, err := bridge.Room(r.Context(), r.URL.Query().Get("chat"))
		answer(w, roomResponse{room}, err)
	})
	return mux
}

func handle[Request, Response any](do func(context.Context, Request) (Response, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request Request
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response, err := do(r.Context(), request)
		answer(w, response, err)
	})
}

func answer[Response any](w http.ResponseWriter, response Response, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(response) // the client has closed the connection
}
