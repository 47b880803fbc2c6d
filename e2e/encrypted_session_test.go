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
	"multis/policy"
	"multis/store"
)

func TestTheOwnersRecoveryKeyVerifiesTheSession(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.business("sealed-hal")
	element := a.element(t)
	recovery, err := element.SetUpEncryption(t.Context())
	require.NoError(t, err)
	trusted := func() bool {
		yes, err := element.Trusts(t.Context(), owner, a.session())
		require.NoError(t, err)
		return yes
	}
	require.False(t, trusted(), "nobody vouches for a new session")
	a.until("the bot to vouch for its own", func(ctx context.Context) (bool, error) {
		return element.Trusts(ctx, bot, a.sessionOf(store.SettingBotDevice))
	})
	missed := a.missKey(t, element, "sealed-hal", "Nobody could read this yet")

	printed, err := a.RunMultis(t.Context(), a.config(a.port), "EsTc this is no key\n", "verify")
	require.Error(t, err)
	require.NotContains(t, printed, "Verified")
	require.False(t, trusted())

	printed, err = a.RunMultis(t.Context(), a.config(a.port), recovery+"\n", "verify")
	require.NoError(t, err, printed)
	require.Contains(t, printed, "Verified")
	require.True(t, trusted(), "Element shows the session as the owner's")
	require.NotContains(t, printed, recovery)
	a.nowhere(t, recovery, strings.ReplaceAll(recovery, " ", ""))

	require.Equal(t, "Nobody could read this yet", a.stored(missed.Event).Body, "the key that was refused before was asked for again")
	a.delivered("sealed-hal", 1)
	_, message := a.say("sealed-hal", question)
	require.Equal(t, policy.CodeAnswer, message.Code, "the running process goes on as before")
	require.Contains(t, a.delivered("sealed-hal", 2)[1].Text, "80 EUR")
	require.NotContains(t, a.command("/status"), "🔒")
	for _, setting := range []store.Setting{store.SettingPickle, store.SettingBotRecovery} {
		var secret string
		known, err := store.GetSetting(t.Context(), a.db.DB(), setting, &secret)
		require.NoError(t, err)
		require.True(t, known, "%s", setting)
		require.NotContains(t, a.log(), secret, "%s in the log", setting)
	}
}

// keyDeadline is longer than multis looks for a key.
const keyDeadline = time.Minute

// missKey has a contact say something that multis has no key for: its session was ended when it was encrypted. The key is
// asked for, and refused to a session that nobody vouches for.
func (a *app) missKey(t *testing.T, element *rig.Element, contact, text string) demonet.Said {
	t.Helper()
	require.NoError(t, a.process.Term())
	old := a.session()
	require.NoError(t, element.EndSession(t.Context(), old))
	a.bridgeForgets(old)
	said, err := a.Say(t.Context(), contact, text)
	require.NoError(t, err)
	a.run()
	const withheldSQL = "select exists (select from matrix.crypto_megolm_inbound_session where room_id = $1 and withheld_code is not null)"
	a.until("the bridge's refusal", func(ctx context.Context) (bool, error) { return a.exists(ctx, withheldSQL, said.Room) })
	a.elapse(keyDeadline)
	const refusedSQL = "select exists (select from messages where event_id = $1 and parked is not null and reason like '%refused%')"
	a.until("the key to be refused", func(ctx context.Context) (bool, error) { return a.exists(ctx, refusedSQL, said.Event) })
	mode := a.command("/mode " + a.chat(contact).Name)
	require.Contains(t, mode, "🔒")
	require.Contains(t, mode, "refused its key")
	require.Contains(t, a.command("/status"), "refused its key")
	require.NotContains(t, mode+a.log(), text)
	return said
}

func TestASessionThatTheOwnerEnds(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.business("sealed-ida")
	element := a.element(t)

	a.step("while multis runs", func(t *testing.T) {
		a.endSession(t, element.EndSession, func() {})
		a.readAndAnswered(t, "sealed-ida", 1)
	})
	a.step("while multis is down", func(t *testing.T) {
		require.NoError(t, a.process.Term())
		a.endSession(t, element.EndSession, a.run)
		a.readAndAnswered(t, "sealed-ida", 2)
	})
	a.step("and a restart is no reason to tell it again", func(t *testing.T) {
		session, told := a.session(), a.told(sessionEnded)
		require.NoError(t, a.process.Kill())
		a.run()
		a.readAndAnswered(t, "sealed-ida", 3)
		require.Equal(t, session, a.session())
		require.Equal(t, told, a.told(sessionEnded))
	})
	a.step("after the homeserver took an answer, before multis heard it", func(t *testing.T) {
		room, dead := *a.chat("sealed-ida").RoomID, make(chan struct{})
		kill := sync.OnceFunc(func() { _ = a.process.Kill(); close(dead) })
		a.back.afterSend(func(s sending) {
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
		a.until("the answer to be known as sent", func(ctx context.Context) (bool, error) {
			return a.exists(ctx, "select not exists (select from outbox where state not in ('sent', 'delivered'))")
		})
		a.delivered("sealed-ida", 4)
		require.Len(t, a.back.sentTo(room), sent+1, "found again without the keys of the session that sent it")
	})
}

// sessionEnded is what the owner is told. The admin room outlives a test, and so does what stands there.
const sessionEnded = "My session was ended"

// endSession ends multis' session and waits until the owner was told, once, and there is another.
func (a *app) endSession(t *testing.T, end func(context.Context, id.DeviceID) error, then func()) {
	t.Helper()
	session, told := a.session(), a.told(sessionEnded)
	require.NoError(t, end(t.Context(), session))
	then()
	a.until("a word about the session", func(context.Context) (bool, error) { return a.told(sessionEnded) > told, nil })
	a.quiet()
	require.Equal(t, told+1, a.told(sessionEnded))
	require.NotEqual(t, session, a.session())
	a.bridgeKnows()
}

// told counts the notices in the admin room that hold a text.
func (a *app) told(text string) (n int) {
	a.t.Helper()
	for _, notice := range a.notices() {
		if strings.Contains(notice, text) {
			n++
		}
	}
	return n
}

// readAndAnswered has a contact ask and checks that the nth answer arrives.
func (a *app) readAndAnswered(t *testing.T, contact string, n int) {
	t.Helper()
	_, message := a.say(contact, question)
	require.Equal(t, question, message.Body)
	require.Contains(t, a.delivered(contact, n)[n-1].Text, "80 EUR")
	a.onlySealed(t, *a.chat(contact).RoomID)
}

// session is multis' own session of the owner's account.
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

func TestTheKeysPassToAnotherProcess(t *testing.T) {
	a := start(t, setup{Locked: true, Profile: "business"})
	a.learn()
	a.second(t, "two")
	a.readAndAnswered(t, "sealed-joe", 1)
	session, told := a.session(), a.told(sessionEnded)

	require.NoError(t, a.process.Kill()) // it was the first to hold the keys
	a.readAndAnswered(t, "sealed-joe", 2)
	a.readAndAnswered(t, "sealed-kim", 1)
	require.Equal(t, session, a.session(), "the session stays the same")
	require.Equal(t, told, a.told(sessionEnded))
}
