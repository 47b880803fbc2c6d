package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/cryptohelper"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Element is a Matrix client of a user that supports encryption. Its keys are in memory, so each Element is a new device.
type Element struct {
	*mautrix.Client

	password string

	keys   *cryptohelper.CryptoHelper
	stop   context.CancelFunc
	synced chan error

	mu   sync.Mutex
	read map[id.EventID]*event.Event // decrypted messages
}

// OpenElement logs the owner in on a new device and syncs until Close.
func (r *Rig) OpenElement(ctx context.Context) (*Element, error) {
	return r.OpenElementOf(ctx, OwnerID, OwnerPassword)
}

// OpenElementOf is OpenElement for any user.
func (r *Rig) OpenElementOf(ctx context.Context, user id.UserID, password string) (*Element, error) {
	client, err := mautrix.NewClient(r.Stack.HomeserverURL, "", "")
	if err != nil {
		return nil, err
	}
	_, err = client.Login(ctx, &mautrix.ReqLogin{
		Type:             mautrix.AuthTypePassword,
		Identifier:       mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: string(user)},
		Password:         password,
		StoreCredentials: true, InitialDeviceDisplayName: "Element with encryption",
	})
	if err != nil {
		return nil, fmt.Errorf("log %s in: %w", user, err)
	}
	client.StateStore = mautrix.NewMemoryStateStore()
	e := &Element{Client: client, password: password, synced: make(chan error, 1), read: map[id.EventID]*event.Event{}}
	if e.keys, err = cryptohelper.NewCryptoHelper(client, []byte("in memory"), crypto.NewMemoryStore(nil)); err != nil {
		return nil, err
	}
	if err := e.keys.Init(ctx); err != nil {
		return nil, fmt.Errorf("publish keys: %w", err)
	}
	client.Crypto = e.keys
	// mautrix does not query the other devices by itself, because the store already has this device of the user.
	if _, err := e.keys.Machine().FetchKeys(ctx, []id.UserID{user}, true); err != nil {
		return nil, fmt.Errorf("fetch the sessions of %s: %w", user, err)
	}
	syncer, ok := client.Syncer.(*mautrix.DefaultSyncer)
	if !ok {
		return nil, errors.New("the client has another kind of syncer")
	}
	syncer.OnEvent(client.StateStoreSyncHandler)
	syncer.OnEventType(event.EventMessage, e.store)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	go func() { e.synced <- client.SyncWithContext(background) }()
	return e, nil
}

// Close ends the sync. The device stays logged in.
func (e *Element) Close() error {
	e.stop()
	if err := <-e.synced; !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// store stores a decrypted event in e.read.
func (e *Element) store(_ context.Context, evt *event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.read[evt.ID] = evt
}

// Say sends a text, encrypted if the room is.
func (e *Element) Say(ctx context.Context, room id.RoomID, text string) (id.EventID, error) {
	if _, err := e.State(ctx, room); err != nil { // loads the members and the encryption
		return "", err
	}
	sent, err := e.SendText(ctx, room, text)
	if err != nil {
		return "", err
	}
	return sent.EventID, nil
}

// Read waits until the client has decrypted an event, and returns it.
func (e *Element) Read(ctx context.Context, wanted id.EventID) (found *event.Event, err error) {
	return found, Await(ctx, "Element to read "+wanted.String(), func(context.Context) (bool, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		found = e.read[wanted]
		return found != nil, nil
	})
}

// SetUpEncryption creates new cross-signing keys of the user, signs this device with them and returns the recovery key.
func (e *Element) SetUpEncryption(ctx context.Context) (recoveryKey string, err error) {
	machine := e.keys.Machine()
	if recoveryKey, _, err = machine.GenerateAndUploadCrossSigningKeysWithPassword(ctx, e.password, ""); err != nil {
		return "", err
	}
	if err := machine.SignOwnDevice(ctx, machine.OwnIdentity()); err != nil {
		return "", err
	}
	return recoveryKey, machine.SignOwnMasterKey(ctx)
}

// Trusts reports whether a device is cross-signed by its user.
func (e *Element) Trusts(ctx context.Context, user id.UserID, session id.DeviceID) (bool, error) {
	machine := e.keys.Machine()
	sessions, err := machine.FetchKeys(ctx, []id.UserID{user}, true)
	if err != nil {
		return false, err
	}
	found, ok := sessions[user][session]
	if !ok {
		return false, fmt.Errorf("no session %s", session)
	}
	trust, err := machine.ResolveTrustContext(ctx, found)
	return trust >= id.TrustStateCrossSignedTOFU, err
}

// EndSession logs another device of the user out, with the password.
func (e *Element) EndSession(ctx context.Context, session id.DeviceID) error {
	end := func(request any) (answer []byte, err error) {
		return e.MakeFullRequest(ctx, mautrix.FullRequest{
			Method: http.MethodDelete, URL: e.BuildClientURL("v3", "devices", session), RequestJSON: request, SensitiveContent: true,
		})
	}
	answer, err := end(struct{}{})
	var failed mautrix.HTTPError
	if !errors.As(err, &failed) || !failed.IsStatus(http.StatusUnauthorized) {
		return err
	}
	var asked mautrix.RespUserInteractive
	if err := json.Unmarshal(answer, &asked); err != nil {
		return err
	}
	_, err = end(mautrix.ReqDeleteDevice[mautrix.ReqUIAuthLogin]{Auth: mautrix.ReqUIAuthLogin{
		BaseAuthData: mautrix.BaseAuthData{Type: mautrix.AuthTypePassword, Session: asked.Session},
		User:         string(e.UserID), Password: e.password,
	}})
	return err
}
