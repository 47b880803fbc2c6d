package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestRemind_UnlessReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line    string
		replies bool
		sent    []string
	}{
		"they stay silent":        {"/remind 1h --to Ana --unless-reply are you there?", false, []string{"are you there?"}},
		"they write first":        {"/remind 1h --to Ana --unless-reply are you there?", true, nil},
		"without the option":      {"/remind 1h --to Ana are you there?", true, []string{"are you there?"}},
		"by /send":                {"/send --now --unless-reply Ana at 19:00: are you there?", true, nil},
		"by /send, without reply": {"/send --now Ana at 19:00: are you there?", true, []string{"are you there?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", "whatsapp")
			said := r.asOwner(c.line)
			require.Contains(t, said, "Set.")
			if c.replies {
				r.now = r.now.Add(10 * time.Minute)
				r.addMessage(ana, "I'm here", 0, policy.ActionArchive, policy.CodeSilent, "The chat is silent.")
			}
			r.runUntil(2 * time.Hour)
			told := bodies(r.sendQueued())
			require.Equal(t, c.sent, r.sentTo(ana))
			if c.sent == nil {
				require.Contains(t, said, "unless they write first")
				require.Contains(t, told+r.asOwner("/jobs 1 history"), "they wrote first")
			}
		})
	}
}

func TestRemind_UnlessReplyIsOwnersLastWord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.asOwner("/remind 1h --to Ana --keep --unless-reply are you there?")
	require.Contains(t, r.asOwner("/jobs"), "to Ana · WhatsApp, unless they write first")
	r.addMessage(ana, "I'm here", -time.Minute, policy.ActionArchive, policy.CodeSilent, "The chat is silent.")
	r.asOwner("/jobs 1 run")
	r.sendQueued()
	require.Equal(t, []string{"are you there?"}, r.sentTo(ana), "who asks for it now has seen the reply")
	for _, line := range []string{"/remind 1h --unless-reply call mum", "/cron every monday 9am --to Ana --unless-reply hello"} {
		require.Contains(t, r.asOwner(line), "`--unless-reply` goes with `--to` and one time", line)
	}
	require.Contains(t, r.asOwner("/send --unless-reply Ana hello"), "`--unless-reply` needs a time")
	shown := r.handle(store.Message{Body: "/send --unless-reply Ana tomorrow at 8: hello"})
	require.Contains(t, bodies(shown), ", unless they write first\n\n> hello")
}

// TestSchedule_WithdrawnWhenTheyWrite: the owner is told when the contact writes, and not when the message is due.
func TestSchedule_WithdrawnWhenTheyWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.asOwner("/remind 1h --to Ana --unless-reply are you there?")
	r.asOwner("/remind 1h --to Ana see you")
	require.NoError(t, r.clock.Withdraw(r.ctx, 1))
	require.Empty(t, r.sendQueued(), "they have not written")
	r.now = r.now.Add(10 * time.Minute)
	r.addMessage(ana, "I'm here", 0, policy.ActionArchive, policy.CodeSilent, "The chat is silent.")
	for range 2 { // a job may run twice
		require.NoError(t, r.clock.Withdraw(r.ctx, 1))
		require.NoError(t, r.clock.Withdraw(r.ctx, 2))
	}
	require.Regexp(t, `^✉️ \*\*Not sent to Ana · WhatsApp\*\*: they wrote first, .*It was “are you there\?” .*run. sends it anyway\.$`, bodies(r.sendQueued()))
	require.Contains(t, r.asOwner("/jobs"), "**1 job**")
	require.Contains(t, r.asOwner("/jobs 1 history"), "they wrote first")

	r.now = r.now.Add(time.Minute)
	require.Contains(t, r.asOwner("/jobs 1 edit in 30 minutes"), "Changed")
	require.NoError(t, r.clock.Withdraw(r.ctx, 1))
	r.runUntil(2 * time.Hour)
	r.sendQueued()
	require.ElementsMatch(t, []string{"see you", "are you there?"}, r.sentTo(ana), "who sets another time knows what they wrote")
}
