//go:build e2e

package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
	"multis/ops/doctor"
	"multis/policy"
	"multis/store"
)

func TestSession_VerifiedByRecoveryKey(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.switchToBusiness("sealed-hal")
	element := a.element(t)
	recovery, err := element.SetUpEncryption(t.Context())
	require.NoError(t, err)
	trusted := func() bool {
		yes, err := element.Trusts(t.Context(), owner, a.session())
		require.NoError(t, err)
		return yes
	}
	require.False(t, trusted(), "nobody vouches for a new session")
	e := examine(t, a)
	require.Equal(t, "multis verify", e.lineFor(doctor.DeviceUnverified))
	a.await("the bot to vouch for its own", func(ctx context.Context) (bool, error) {
		return element.Trusts(ctx, bot, a.sessionOf(store.SettingBotDevice))
	})
	missed := a.sayWithoutKey(t, element, "sealed-hal", "Nobody could read this yet")
	require.Equal(t, "multis verify", e.lineFor(doctor.ChatsUnreadable))

	printed, err := a.RunMultis(t.Context(), a.config(a.port), "EsTc this is no key\n", "verify")
	require.Error(t, err)
	require.NotContains(t, printed, "Verified")
	require.False(t, trusted())

	printed, err = a.RunMultis(t.Context(), a.config(a.port), recovery+"\n", "verify")
	require.NoError(t, err, printed)
	require.Contains(t, printed, "Verified")
	require.True(t, trusted(), "Element shows the session as the owner's")
	require.NotContains(t, printed, recovery)
	a.requireNoTrace(t, recovery, strings.ReplaceAll(recovery, " ", ""))

	require.Equal(t, "Nobody could read this yet", a.awaitMessage(missed.Event).Body, "the key that was refused before was asked for again")
	a.awaitDeliveries("sealed-hal", 1)
	_, message := a.say("sealed-hal", question)
	require.Equal(t, policy.CodeAnswer, message.Code, "the running process goes on as before")
	answer := a.awaitDeliveries("sealed-hal", 2)[1]
	require.Contains(t, answer.Text, "80 EUR")
	a.awaitMessage(id.EventID(answer.EventID)) // what multis wrote itself is encrypted as well, and read a moment later
	require.NotContains(t, a.command("/status"), "🔒")
	e.awaitRepair(doctor.DeviceUnverified)
	e.awaitRepair(doctor.ChatsUnreadable)
	for _, setting := range []store.Setting{store.SettingPickle, store.SettingBotRecovery} {
		var secret string
		known, err := store.GetSetting(t.Context(), a.db.DB(), setting, &secret)
		require.NoError(t, err)
		require.True(t, known, "%s", setting)
		require.NotContains(t, a.log(), secret, "%s in the log", setting)
	}
}

// keyDeadline is longer than multis waits for a key.
const keyDeadline = time.Minute

// sayWithoutKey sends a message that multis cannot decrypt, because its device was logged out when the message was encrypted. The
// bridge refuses the key to the new device, which is not verified.
func (a *app) sayWithoutKey(t *testing.T, element *rig.Element, contact, text string) demonet.Said {
	t.Helper()
	require.NoError(t, a.process.Term())
	old := a.session()
	require.NoError(t, element.EndSession(t.Context(), old))
	a.awaitBridgeDistrust(old)
	said, err := a.Say(t.Context(), contact, text)
	require.NoError(t, err)
	a.run()
	const withheldSQL = "select exists (select from matrix.crypto_megolm_inbound_session where room_id = $1 and withheld_code is not null)"
	a.await("the bridge's refusal", func(ctx context.Context) (bool, error) { return a.exists(ctx, withheldSQL, said.Room) })
	a.shiftTimes(keyDeadline)
	const refusedSQL = "select exists (select from messages where event_id = $1 and parked is not null and reason like '%refused%')"
	a.await("the key to be refused", func(ctx context.Context) (bool, error) { return a.exists(ctx, refusedSQL, said.Event) })
	mode := a.command("/mode " + a.chat(contact).Name)
	require.Contains(t, mode, "🔒")
	require.Contains(t, mode, "refused its key")
	require.Contains(t, a.command("/status"), "refused its key")
	require.NotContains(t, mode+a.log(), text)
	return said
}

func TestSession_EndedByOwner(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.switchToBusiness("sealed-ida")
	element := a.element(t)

	a.step("while multis runs", func(t *testing.T) {
		a.endSession(t, element.EndSession, func() {})
		a.requireAnswer(t, "sealed-ida", 1)
	})
	a.step("while multis is down", func(t *testing.T) {
		require.NoError(t, a.process.Term())
		a.endSession(t, element.EndSession, a.run)
		a.requireAnswer(t, "sealed-ida", 2)
	})
	a.step("and a restart is no reason to tell it again", func(t *testing.T) {
		session, told := a.session(), a.countNotices(sessionEnded)
		require.NoError(t, a.process.Kill())
		a.run()
		a.requireAnswer(t, "sealed-ida", 3)
		require.Equal(t, session, a.session())
		require.Equal(t, told, a.countNotices(sessionEnded))
	})
	a.step("after the homeserver took an answer, before multis heard it", func(t *testing.T) {
		room, dead := *a.chat("sealed-ida").RoomID, make(chan struct{})
		kill := sync.OnceFunc(func() { _ = a.process.Kill(); close(dead) })
		a.back.afterSend(func(s sendRequest) {
			if s.Room == room && s.Sender == owner {
				kill()
			}
		})
		sent := len(a.back.sentTo(room))
		_, err := a.Say(t.Context(), "sealed-ida", question)
		require.NoError(t, err)
		select {
		case <-dead:
		case <-time.After(rig.AwaitTimeout):
			require.Fail(t, "nothing was sent")
		}
		a.back.afterSend(nil)
		a.endSession(t, element.EndSession, a.run)
		a.await("the answer to be known as sent", func(ctx context.Context) (bool, error) {
			return a.exists(ctx, "select not exists (select from outbox where state not in ('sent', 'delivered'))")
		})
		a.awaitDeliveries("sealed-ida", 4)
		require.Len(t, a.back.sentTo(room), sent+1, "found again without the keys of the session that sent it")
	})
}

// sessionEnded is part of the notice to the owner. The admin room and its notices outlive a test.
const sessionEnded = "My session was ended"

// endSession logs multis' device out and waits for one notice to the owner and a new device.
func (a *app) endSession(t *testing.T, end func(context.Context, id.DeviceID) error, then func()) {
	t.Helper()
	session, told := a.session(), a.countNotices(sessionEnded)
	require.NoError(t, end(t.Context(), session))
	then()
	a.await("a word about the session", func(context.Context) (bool, error) { return a.countNotices(sessionEnded) > told, nil })
	a.awaitIdle()
	require.Equal(t, told+1, a.countNotices(sessionEnded))
	require.NotEqual(t, session, a.session())
	a.awaitBridgeTrust()
}

// countNotices counts the notices in the admin room that contain a text.
func (a *app) countNotices(text string) (n int) {
	a.t.Helper()
	for _, notice := range a.notices() {
		if strings.Contains(notice, text) {
			n++
		}
	}
	return n
}

// requireAnswer makes a contact ask and checks that the nth answer arrives.
func (a *app) requireAnswer(t *testing.T, contact string, n int) {
	t.Helper()
	_, message := a.say(contact, question)
	require.Equal(t, question, message.Body)
	require.Contains(t, a.awaitDeliveries(contact, n)[n-1].Text, "80 EUR")
	a.requireOnlyEncrypted(t, *a.chat(contact).RoomID)
}

// session returns multis' device of the owner's account.
func (a *app) session() id.DeviceID {
	a.t.Helper()
	return a.sessionOf(store.SettingOwnerDevice)
}

func (a *app) sessionOf(account store.Setting) id.DeviceID {
	a.t.Helper()
	var device struct {
		ID id.DeviceID `json:"id"`
	}
	known, err := store.GetSetting(a.t.Context(), a.db.DB(), account, &device)
	require.NoError(a.t, err)
	require.True(a.t, known)
	return device.ID
}

func TestSession_KeysPassToNextProcess(t *testing.T) {
	a := start(t, setup{Locked: true, Profile: "business"})
	a.learn()
	a.startSecond(t, "two")
	a.requireAnswer(t, "sealed-joe", 1)
	session, told := a.session(), a.countNotices(sessionEnded)

	require.NoError(t, a.process.Kill()) // it was the first to hold the keys
	a.requireAnswer(t, "sealed-joe", 2)
	a.requireAnswer(t, "sealed-kim", 1)
	require.Equal(t, session, a.session(), "the session stays the same")
	require.Equal(t, told, a.countNotices(sessionEnded))
}
