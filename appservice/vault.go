package appservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"
	"go.mau.fi/util/dbutil"
	"go.mau.fi/util/random"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/sqlstatestore"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// errKeysElsewhere is returned while the vault is closed, because another process has the keys open.
var errKeysElsewhere = errors.New("another process holds the keys")

// Vault holds the encryption keys of the owner's device, for chats, and of the bot's device, for the admin room. Only one process may use
// a device's keys at a time, so only the syncing process opens the vault. Other processes store the ciphertext with a job.
type Vault struct {
	store *store.Store
	hs    *Homeserver

	mu       sync.RWMutex
	db       *dbutil.Database
	machines map[policy.SendAs]*machine // nil while the vault is closed
}

// machine encrypts and decrypts for one device.
type machine struct {
	*crypto.OlmMachine
	client *mautrix.Client
	keys   *crypto.SQLCryptoStore
	state  *sqlstatestore.SQLStateStore

	mu            sync.Mutex
	membersLoaded map[id.RoomID]bool // rooms whose members were read since the vault was opened

	decrypting sync.Mutex // held while the bot decrypts a message
}

// NewVault returns a closed vault and makes hs use it.
func NewVault(st *store.Store, hs *Homeserver) *Vault {
	v := &Vault{store: st, hs: hs}
	hs.vault = v
	return v
}

// open loads the keys, or creates them. publish uploads the public keys; only the holder of the sync lock may do so.
func (v *Vault) open(ctx context.Context, publish bool) error {
	pickle, err := v.pickleKey(ctx)
	if err != nil {
		return err
	}
	db, err := v.store.OpenMatrix()
	if err != nil {
		return err
	}
	machines := map[policy.SendAs]*machine{}
	for who, a := range map[policy.SendAs]*account{policy.AsOwner: v.hs.owner, policy.AsBot: v.hs.bot} {
		if machines[who], err = v.loadMachine(ctx, db, a, pickle, publish); err != nil {
			db.Close()
			return explain("load the keys of "+a.user.String(), err)
		}
	}
	v.mu.Lock()
	v.db, v.machines = db, machines
	v.mu.Unlock()
	return nil
}

// close removes the keys from memory. After that, another process may open them.
func (v *Vault) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.db == nil {
		return
	}
	for _, m := range v.machines {
		m.Destroy()
	}
	v.db.Close()
	v.db, v.machines = nil, nil
}

// machine returns the machine of an account, or errKeysElsewhere.
func (v *Vault) machine(who policy.SendAs) (*machine, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.machines == nil {
		return nil, errKeysElsewhere
	}
	return v.machines[who], nil
}

// pickleKey returns the key that encrypts the stored keys. It is stored in the same database, so it does not protect
// against whoever reads the database.
func (v *Vault) pickleKey(ctx context.Context) ([]byte, error) {
	err := store.InitSetting(ctx, v.store.Writer(), store.SettingPickle, random.String(64))
	if err != nil {
		return nil, err
	}
	var key string
	_, err = store.GetSetting(ctx, v.store.DB(), store.SettingPickle, &key)
	return []byte(key), err
}

// loadMachine loads the keys of one account's device.
func (v *Vault) loadMachine(ctx context.Context, db *dbutil.Database, a *account, pickle []byte, publish bool) (*machine, error) {
	// The machine gets a client of its own, because a client caches the state of rooms.
	c, err := v.hs.newSession(a.user, device{ID: a.session().DeviceID, CreatedAt: a.session().deviceCreatedAt})
	if err != nil {
		return nil, err
	}
	log := zerolog.Ctx(ctx).With().Stringer("user_id", c.UserID).Logger().Level(zerolog.WarnLevel)
	state := sqlstatestore.NewSQLStateStore(db, dbutil.NoopLogger, false)
	keys := crypto.NewSQLCryptoStore(db, dbutil.NoopLogger, cryptoAccount(c.UserID, c.DeviceID), c.DeviceID, pickle)
	m := &machine{
		OlmMachine:    crypto.NewOlmMachine(c.Client, &log, keys, state),
		client:        c.Client,
		keys:          keys,
		state:         state,
		membersLoaded: map[id.RoomID]bool{},
	}
	m.IgnorePostDecryptionParseErrors = true
	m.SetBackgroundCtx(log.WithContext(context.WithoutCancel(ctx)))
	m.SessionReceived = func(ctx context.Context, _ id.RoomID, session id.SessionID, _ uint32) { v.retryWithKey(ctx, session) }
	c.StateStore = state
	if err := m.Load(ctx); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if !publish {
		return m, nil
	}
	if err := m.ShareKeys(ctx, -1); err != nil {
		return nil, fmt.Errorf("publish keys: %w", err)
	}
	return m, nil
}

// retryWithKey enqueues the decryption of the messages that waited for a key.
func (v *Vault) retryWithKey(ctx context.Context, session id.SessionID) {
	err := v.store.InTx(ctx, func(tx store.Tx) error {
		waiting, err := store.ParkedForSession(ctx, tx, session)
		if err != nil {
			return err
		}
		return enqueueDecrypt(ctx, tx, waiting, 0)
	})
	if err != nil {
		zerolog.Ctx(ctx).Err(err).Msg("Cannot enqueue the decryption of messages whose key arrived")
	}
}

// enqueueDecrypt enqueues the decryption of messages. keyRequests is how often a key that is still missing is requested again.
func enqueueDecrypt(ctx context.Context, tx store.Tx, messages []store.MessageID, keyRequests int) error {
	ask := make([]jobs.Args, len(messages))
	for i, m := range messages {
		ask[i] = jobs.DecryptArgs{MessageID: m, KeyRequests: keyRequests}
	}
	return jobs.Enqueue(ctx, tx, ask...)
}

// retryDecryptable enqueues the decryption of messages whose key is stored already, because a process may have died after
// it stored the key and before retryWithKey.
func (v *Vault) retryDecryptable(ctx context.Context) error {
	var devices []string
	for _, a := range []*account{v.hs.owner, v.hs.bot} {
		devices = append(devices, cryptoAccount(a.user, a.session().DeviceID))
	}
	return v.store.InTx(ctx, func(tx store.Tx) error {
		waiting, err := store.ParkedWithKey(ctx, tx, devices, maxKeysRequested)
		if err != nil {
			return err
		}
		return enqueueDecrypt(ctx, tx, waiting, 0)
	})
}

// cryptoAccount returns the account id under which a device's keys are stored. A new device starts with new keys.
func cryptoAccount(user id.UserID, device id.DeviceID) string {
	return user.String() + "|" + device.String()
}

// crossSignBot cross-signs the bot's device with the bot's own keys, which it creates the first time.
func (v *Vault) crossSignBot(ctx context.Context) error {
	m, err := v.machine(policy.AsBot)
	if err != nil {
		return err
	}
	_, verified, err := m.GetOwnVerificationStatus(ctx)
	if err != nil {
		return err
	}
	if verified {
		return nil
	}
	var recovery string
	if known, err := store.GetSetting(ctx, v.store.DB(), store.SettingBotRecovery, &recovery); err != nil {
		return err
	} else if known {
		return m.VerifyWithRecoveryKey(ctx, recovery)
	}
	if recovery, err = m.GenerateAndVerifyWithRecoveryKey(ctx); err != nil {
		return err
	}
	return store.PutSetting(ctx, v.store.Writer(), store.SettingBotRecovery, recovery)
}

// Verify cross-signs the owner's multis device with the owner's recovery key. The recovery key is not stored.
func (v *Vault) Verify(ctx context.Context, recoveryKey string) error {
	lock, alone, err := v.store.TryLock(ctx, store.LockSync, 0)
	if err != nil {
		return err
	}
	if alone {
		defer lock.Release(ctx)
	}
	// If another process syncs, publish no keys, because the two would overwrite each other's changes.
	if err := v.open(ctx, alone); err != nil {
		return err
	}
	defer v.close()
	m, err := v.machine(policy.AsOwner)
	if err != nil {
		return err
	}
	if err := m.VerifyWithRecoveryKey(ctx, recoveryKey); err != nil {
		return explainVerification(err)
	}
	if err := trustOwnerKeys(ctx, m); err != nil {
		return err
	}
	return v.requestMissingKeys(ctx)
}

// explainVerification says what to do about a failed verification.
func explainVerification(err error) error {
	switch {
	case errors.Is(err, ssss.ErrNoDefaultKeyID):
		return errors.New("your account has no recovery key yet: set up recovery in your Matrix client (in Element under Settings, Encryption), then run multis verify again")
	case errors.Is(err, ssss.ErrIncorrectSSSSKey), errors.Is(err, ssss.ErrInvalidRecoveryKey):
		return errors.New("this is not the recovery key of your account: copy it again, or make a new one in your Matrix client (in Element under Settings, Encryption)")
	case errors.Is(err, mautrix.MNotFound), errors.Is(err, ssss.ErrNotEncryptedForKey), errors.Is(err, ssss.ErrKeyDataMACMismatch),
		errors.Is(err, ssss.ErrCorruptedKeyMetadata):
		return errors.New("the recovery of your account is incomplete: a part of it is missing at the homeserver, or belongs to another recovery key; " +
			"set up recovery again in your Matrix client (in Element under Settings, Encryption), then run multis verify with the new key")
	}
	return explain("verify the device", err)
}

// maxKeysRequested limits how many messages or sessions are retried at once.
const maxKeysRequested = 1000

// requestMissingKeys requests every missing key again. Clients that refused a key to an unverified device may send it after Verify.
func (v *Vault) requestMissingKeys(ctx context.Context) error {
	return v.store.InTx(ctx, func(tx store.Tx) error {
		waiting, err := store.ParkedSessions(ctx, tx, maxKeysRequested)
		if err != nil {
			return err
		}
		return enqueueDecrypt(ctx, tx, waiting, jobs.MaxKeyRequests)
	})
}

// trustOwnerKeys trusts the owner's cross-signing keys even if others were seen first, because the recovery key unlocked them.
func trustOwnerKeys(ctx context.Context, m *machine) error {
	owner := m.client.UserID
	if _, err := m.FetchKeys(ctx, []id.UserID{owner}, true); err != nil {
		return explain("fetch the owner's keys", err)
	}
	if err := m.keys.ResetMasterKeyTOFU(ctx, owner, m.CrossSigningKeys.MasterKey.PublicKey()); err != nil {
		return fmt.Errorf("store the owner's keys: %w", err)
	}
	return nil
}

// processSync stores the keys and device changes of a sync response. Call it before the response's messages are decrypted.
func (v *Vault) processSync(ctx context.Context, who policy.SendAs, resp *mautrix.RespSync, since string) error {
	m, err := v.machine(who)
	if err != nil {
		return err
	}
	m.ProcessSyncResponse(ctx, resp, since)
	return nil
}

// updateMembers applies a state event to the stored room members, so that a room key is shared with all members and with nobody else.
func (v *Vault) updateMembers(ctx context.Context, evt *event.Event) {
	if evt.StateKey == nil {
		return
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, m := range v.machines {
		if evt.Content.Parsed == nil && evt.Content.ParseRaw(evt.Type) != nil {
			return
		}
		mautrix.UpdateStateStore(ctx, m.state, evt)
		if evt.Type.Type == event.StateMember.Type {
			m.HandleMemberEvent(ctx, evt)
			if *evt.StateKey == m.client.UserID.String() {
				m.invalidateMembers(evt.RoomID) // the machine saw no member changes while its user was not in the room
			}
		}
	}
}

// invalidateMembers makes both machines read a room's members again before the next message, because a member change may have been missed.
func (v *Vault) invalidateMembers(room id.RoomID) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, m := range v.machines {
		m.invalidateMembers(room)
	}
}

// decrypt decrypts an event. It returns crypto.ErrNoSessionFound if the key is missing.
func (v *Vault) decrypt(ctx context.Context, who policy.SendAs, evt *event.Event) (*event.Event, error) {
	m, err := v.machine(who)
	if err != nil {
		return nil, err
	}
	if evt.Content.Parsed == nil {
		if err := evt.Content.ParseRaw(evt.Type); err != nil {
			return nil, fmt.Errorf("read encrypted message: %w", err)
		}
	}
	if who == policy.AsBot {
		// What the bot reads is obeyed only if its sender's device is trusted. The first message of a device makes the machine
		// fetch the sender's keys; any other that is decrypted meanwhile would be of an unknown device, and a job for the same
		// message may run twice when its key comes.
		m.decrypting.Lock()
		defer m.decrypting.Unlock()
	}
	return m.DecryptMegolmEvent(m.withLog(ctx), evt)
}

// requestKey requests a missing key from the other devices of the account, and from the devices of the sender and of others.
func (v *Vault) requestKey(ctx context.Context, who policy.SendAs, evt *event.Event, others ...id.UserID) error {
	m, err := v.machine(who)
	if err != nil {
		return err
	}
	content, ok := evt.Content.Parsed.(*event.EncryptedEventContent)
	if !ok {
		return nil
	}
	users := map[id.UserID][]id.DeviceID{evt.Sender: {"*"}, m.client.UserID: {"*"}}
	for _, u := range others {
		if u != "" {
			users[u] = []id.DeviceID{"*"}
		}
	}
	if err := m.SendRoomKeyRequest(m.withLog(ctx), evt.RoomID, content.SenderKey, content.SessionID, "", users); err != nil {
		return explain("ask for a key", err)
	}
	return nil
}

// encrypt encrypts an event for the members of a room.
func (v *Vault) encrypt(ctx context.Context, who policy.SendAs, room id.RoomID, kind event.Type,
	content json.RawMessage,
) (*event.EncryptedEventContent, error) {
	m, err := v.machine(who)
	if err != nil {
		return nil, err
	}
	ctx = m.withLog(ctx)
	if err := m.loadMembers(ctx, room); err != nil {
		return nil, err
	}
	wrapped, err := m.EncryptMegolmEvent(ctx, room, kind, content)
	if errors.Is(err, crypto.ErrNoGroupSession) || errors.Is(err, crypto.ErrSessionExpired) || errors.Is(err, crypto.ErrSessionNotShared) {
		if err := m.shareRoomKey(ctx, room); err != nil {
			return nil, err
		}
		wrapped, err = m.EncryptMegolmEvent(ctx, room, kind, content)
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return wrapped, nil
}

// withLog puts the machine's logger, which logs warnings and errors only, into a context. Without it, the machine would
// use the context's logger, and log the ids of sessions and devices.
func (m *machine) withLog(ctx context.Context) context.Context { return m.Log.WithContext(ctx) }

// loadMembers reads a room's members before the first message after the vault was opened. It drops the room's old key, because member
// changes may have been missed since that key was shared.
func (m *machine) loadMembers(ctx context.Context, room id.RoomID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.membersLoaded[room] {
		return nil
	}
	if _, err := m.client.State(ctx, room); err != nil {
		return explain("read who is in the room", err)
	}
	encrypted, err := m.state.IsEncrypted(ctx, room)
	if err != nil {
		return fmt.Errorf("read whether the room is encrypted: %w", err)
	}
	if !encrypted {
		return errors.New("the room's state does not say how it is encrypted")
	}
	if err := m.CryptoStore.RemoveOutboundGroupSession(ctx, room); err != nil {
		return fmt.Errorf("drop the old key of the room: %w", err)
	}
	m.membersLoaded[room] = true
	return nil
}

// invalidateMembers makes the next loadMembers read the room again.
func (m *machine) invalidateMembers(room id.RoomID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.membersLoaded, room)
}

// shareRoomKey shares the room's key with all members.
func (m *machine) shareRoomKey(ctx context.Context, room id.RoomID) error {
	members, err := m.state.GetRoomJoinedOrInvitedMembers(ctx, room)
	if err != nil {
		return fmt.Errorf("read the members of the room: %w", err)
	}
	if len(members) == 0 {
		return errors.New("the room has no known members")
	}
	if err := m.ShareGroupSession(ctx, room, members); err != nil {
		return explain("share the room's key", err)
	}
	return nil
}
