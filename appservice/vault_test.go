package appservice

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// openVault opens the keys of new devices, which nobody is told of.
func (b *fixture) openVault() *Vault {
	b.t.Helper()
	hs, err := NewHomeserver(b.store, Access{URL: "http://127.0.0.1:1", Owner: owner, Bot: bot})
	require.NoError(b.t, err)
	v := NewVault(b.store, hs)
	for _, a := range []*account{hs.owner, hs.bot} {
		require.NoError(b.t, hs.setDevice(a, device{ID: "D", CreatedAt: time.Now()}))
	}
	require.NoError(b.t, v.open(b.t.Context(), false))
	b.t.Cleanup(v.close)
	return v
}

// TestVault_RereadsMembersAfterGap: a key goes to everybody who is there and to nobody else.
func TestVault_RereadsMembersAfterGap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.openVault()
	known := v.machines[policy.AsOwner].membersLoaded
	for _, room := range []id.RoomID{"!a:x", "!b:x", "!c:x"} {
		known[room] = true
	}

	var resp syncResponse
	require.NoError(t,
		json.Unmarshal([]byte(`{"rooms":{"join":{"!a:x":{"timeline":{"limited":true}},"!c:x":{"timeline":{"limited":false}}}}}`), &resp))
	_, err := NewOwnerSync(b.inbox, v.hs, nil, v).collect(t.Context(), &resp, "s")
	require.NoError(t, err)
	require.NotContains(t, known, "!a:x")

	back := b.event("m.room.member", "!b:x", bridgeBot, `{"membership":"join"}`)
	key := owner.String()
	back.StateKey, back.Type.Class = &key, event.StateEventType
	v.updateMembers(t.Context(), back)
	require.Len(t, known, 1, "what happened while the owner was not there, nobody told")
}

func TestVault_UndecryptedCommandIsNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, room := t.Context(), adminChat("!admin:x", policy.EncryptionYes)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
		room, err = store.UpsertChat(ctx, tx, room)
		return err
	}))
	command := b.event("m.room.encrypted", "!admin:x", owner, `{"algorithm":"m.megolm.v1.aes-sha2","session_id":"s","ciphertext":"abc"}`)
	b.receive(command)
	d := NewDecrypter(b.inbox, nil)
	require.NoError(t, d.giveUp(ctx, room, b.message(command), "Its key has not come."))
	require.Equal(t, 1, b.countNotices("undecryptable"))
	_, err := b.store.Pool().Exec(ctx, "delete from river.river_job")
	require.NoError(t, err)
	require.NoError(t, d.giveUp(ctx, room, b.message(command), "Its key was refused."))
	require.Zero(t, b.countNotices("undecryptable"), "once")
}

func TestVault_KeyBeforeCrashIsUsed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.openVault()
	b.chat("!a:x", policy.ModeBusiness)
	sealed := func(session string) *event.Event {
		return b.event("m.room.encrypted", "!a:x", ana, `{"algorithm":"m.megolm.v1.aes-sha2","session_id":"`+session+`","ciphertext":"abc"}`)
	}
	here, other := strings.Repeat("h", 43), strings.Repeat("o", 43)
	first, second := sealed(here), sealed(here)
	b.receive(first, second, sealed(other), sealed(strings.Repeat("n", 43)))
	for session, device := range map[string]string{here: cryptoAccount(owner, "D"), other: cryptoAccount(owner, "ENDED")} {
		_, err := b.store.Pool().Exec(t.Context(),
			`insert into matrix.crypto_megolm_inbound_session (account_id, session_id, sender_key, room_id, session)
			values ($1, $2, 'k', '!a:x', 'x')`, device, session)
		require.NoError(t, err)
	}
	_, err := b.store.Pool().Exec(t.Context(), "delete from river.river_job") // they gave up long ago
	require.NoError(t, err)
	require.NoError(t, v.retryDecryptable(t.Context()))
	require.Equal(t, 2, b.jobs("decrypt"))
	require.Equal(t, 1, b.count("river.river_job where (args->>'message')::bigint = $1", b.message(second).ID))
}

// The errors are those of the library, for what a homeserver answers about an account without recovery and with another key.
func TestVault_FailedVerificationIsExplained(t *testing.T) {
	t.Parallel()
	stored := map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, kind, _ := strings.Cut(r.URL.Path, "/account_data/") // the id of a key may contain a slash
		data, ok := stored[kind]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			data = map[string]string{"errcode": "M_NOT_FOUND", "error": "Account data not found"}
		}
		_ = json.NewEncoder(w).Encode(data)
	}))
	t.Cleanup(server.Close)
	client, err := mautrix.NewClient(server.URL, "@you:x", "token")
	require.NoError(t, err)
	nop := zerolog.Nop()
	m := &crypto.OlmMachine{SSSS: ssss.NewSSSSMachine(client), Client: client, Log: &nop}
	right, err := ssss.NewKey("")
	require.NoError(t, err)
	other, err := ssss.NewKey("")
	require.NoError(t, err)
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())),
		"your account has no recovery key yet: set up recovery in your Matrix client")

	stored["m.secret_storage.default_key"] = map[string]string{"key": right.ID}
	stored["m.secret_storage.key."+right.ID] = right.Metadata
	for _, wrong := range []string{other.RecoveryKey(), "EsT not a key"} {
		require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), wrong)),
			"this is not the recovery key of your account: copy it again")
	}

	const incomplete = "the recovery of your account is incomplete: "
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())), incomplete,
		"the signing keys are missing")
	stored["m.cross_signing.master"] = map[string]any{"encrypted": map[string]any{other.ID: other.Encrypt("m.cross_signing.master",
		[]byte("seed"))}}
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())), incomplete,
		"they belong to another key")
	delete(stored, "m.secret_storage.key."+right.ID)
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())), incomplete,
		"the default key has no data")
	stored["m.secret_storage.key."+right.ID] = map[string]any{}
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())), incomplete, "its data is empty")
	stored["m.secret_storage.default_key"] = map[string]string{}
	require.ErrorContains(t, explainVerification(m.VerifyWithRecoveryKey(t.Context(), right.RecoveryKey())), "no recovery key yet",
		"a client has reset it")
}
