package policy

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replyInput returns the input for a cited answer in a business chat, which is allowed, with a change.
func replyInput(change func(*GateInput)) GateInput {
	now := time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC)
	in := GateInput{
		Purpose:     PurposeReply,
		As:          AsOwner,
		Mode:        ModeBusiness,
		Kind:        KindDM,
		Encryption:  EncryptionNo,
		HasRoom:     true,
		Verified:    true,
		Now:         now,
		Presence:    Presence{OwnerWroteAt: now.Add(-3 * time.Hour), OwnerPause: 30 * time.Minute},
		HasCitation: true,
		SendCap:     Rate{Minute: 10, Day: 100},
		MsgType:     "m.text",
		Body:        "[Nora] We deliver Monday to Saturday, 9:00-18:00.",
	}
	if change != nil {
		change(&in)
	}
	return in
}

// redactionInput returns the input for the redaction of an own message, which is allowed, with a change.
func redactionInput(change func(*GateInput)) GateInput {
	return replyInput(func(in *GateInput) {
		in.Purpose = PurposeRedaction
		in.MsgType = ""
		in.Body = ""
		in.HasCitation = false
		if change != nil {
			change(in)
		}
	})
}

// noticeInput returns the input for a notice in the admin room, which is allowed, with a change.
func noticeInput(change func(*GateInput)) GateInput {
	in := GateInput{
		Purpose:    PurposeNotice,
		As:         AsBot,
		Kind:       KindAdmin,
		Encryption: EncryptionNo,
		HasRoom:    true,
		MsgType:    "m.notice",
		Body:       "**143 chats**, all silent.",
	}
	if change != nil {
		change(&in)
	}
	return in
}

func TestGateAllows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   GateInput
	}{
		{"a cited reply in a business chat", replyInput(nil)},
		{"a greeting without a source", replyInput(func(in *GateInput) { in.Purpose, in.HasCitation = PurposeGreeting, false })},
		{"an escalation without a source", replyInput(func(in *GateInput) { in.Purpose, in.HasCitation = PurposeEscalation, false })},
		{"the escalation that says the minute's cap was reached", replyInput(func(in *GateInput) {
			in.Purpose, in.Sent.Minute = PurposeEscalation, 10
		})},
		{"the escalation that says the day's cap was reached", replyInput(func(in *GateInput) {
			in.Purpose, in.Sent.Day = PurposeEscalation, 100
		})},
		{"a reply to somebody who called the name in a personal chat", replyInput(func(in *GateInput) {
			in.Mode, in.Addressed = ModePersonal, true
		})},
		{"a reply to somebody who called the name in a group", replyInput(func(in *GateInput) { in.Kind, in.Addressed = KindGroup, true })},
		{"an approved draft into a silent chat", replyInput(func(in *GateInput) {
			in.Purpose = PurposeDraft
			in.Mode = ModeSilent
			in.HasCitation = false
		})},
		{"an operator's reply while the owner writes", replyInput(func(in *GateInput) { in.Purpose, in.OwnerWroteAt = PurposeOperator, in.Now })},
		{"an operator's reply past the caps", replyInput(func(in *GateInput) { in.Purpose, in.Sent = PurposeOperator, Rate{100, 1000} })},
		{"an operator's reply into a paused chat", replyInput(func(in *GateInput) { in.Purpose, in.PausedChat = PurposeOperator, true })},
		{"a reply half an hour after the owner", replyInput(func(in *GateInput) { in.OwnerWroteAt = in.Now.Add(-30 * time.Minute) })},
		{"a reply when the owner's pause is zero", replyInput(func(in *GateInput) { in.OwnerWroteAt, in.OwnerPause = in.Now, 0 })},
		{"an exclamation mark that commands nothing", replyInput(func(in *GateInput) { in.Body = "!!! 20 % off" })},
		{"the longest text", replyInput(func(in *GateInput) { in.Body = strings.Repeat("a", MaxBody) })},
		{"several lines", replyInput(func(in *GateInput) { in.Body = "Monday:\n\t9:00" })},
		{"a family of emoji, which holds joiners", replyInput(func(in *GateInput) { in.Body = "👨‍👩‍👧 welcome" })},
		{"a notice into the admin room", noticeInput(nil)},
		{"a redaction in a chat", redactionInput(nil)},
		{"a redaction while the owner writes, past the caps, in a silent chat", redactionInput(func(in *GateInput) {
			in.Mode = ModeSilent
			in.OwnerWroteAt = in.Now
			in.Sent = Rate{100, 1000}
			in.Encryption = EncryptionUnknown
		})},
		{"a redaction in the admin room while everything is paused", redactionInput(func(in *GateInput) {
			in.Kind = KindAdmin
			in.As = AsBot
			in.PausedAll = true
		})},
		{"a message into the admin room while everything is paused", noticeInput(func(in *GateInput) { in.PausedAll = true })},
		{"a notice while a restored backup is on hold", noticeInput(func(in *GateInput) { in.OnHold = true })},
		{"an answer in the admin room about a bridge's command", noticeInput(func(in *GateInput) {
			in.Body, in.MsgType = "!wa login", "m.text"
		})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Gate(test.in)
			require.True(t, got.Allow, "%s: %s", got.Code, got.Why)
			require.Equal(t, CodeAllowed, got.Code)
			require.NotEmpty(t, got.Why)
		})
	}
}

func TestGateDenies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   GateInput
		code Code
	}{
		{"what says nothing about itself", GateInput{}, CodeUnknownPurpose},
		{"a purpose that is not known", replyInput(func(in *GateInput) { in.Purpose = "advertisement" }), CodeUnknownPurpose},
		{"a contact's text in the admin room", noticeInput(func(in *GateInput) { in.Purpose = PurposeReply }), CodeUnknownPurpose},
		{"an admin notice in a contact's chat", replyInput(func(in *GateInput) { in.Purpose = PurposeNotice }), CodeUnknownPurpose},
		{"a space", replyInput(func(in *GateInput) { in.Kind = KindSpace }), CodeNoChat},
		{"a note to oneself", replyInput(func(in *GateInput) { in.Kind = KindSelf }), CodeNoChat},
		{"a kind that is not known", replyInput(func(in *GateInput) { in.Kind = "" }), CodeNoChat},
		{"the bot in a contact's chat", replyInput(func(in *GateInput) { in.As = AsBot }), CodeWrongSender},
		{"nobody in a contact's chat", replyInput(func(in *GateInput) { in.As = "" }), CodeWrongSender},
		{"the owner's voice in the admin room", noticeInput(func(in *GateInput) { in.As = AsOwner }), CodeWrongSender},
		{"a chat without a room", replyInput(func(in *GateInput) { in.HasRoom = false }), CodeNoRoom},
		{"an admin room that is gone", noticeInput(func(in *GateInput) { in.HasRoom = false }), CodeNoRoom},
		{"a room that was replaced", replyInput(func(in *GateInput) { in.Tombstoned = true }), CodeTombstoned},
		{"a room no bridge made", replyInput(func(in *GateInput) { in.Verified = false }), CodeUnverified},
		{"a room that may be encrypted", replyInput(func(in *GateInput) { in.Encryption = EncryptionUnknown }), CodeEncryptionUnknown},
		{"a room nothing is known about", replyInput(func(in *GateInput) { in.Encryption = "" }), CodeEncryptionUnknown},
		{"an off chat", replyInput(func(in *GateInput) { in.Mode = ModeOff }), CodeOff},
		{"a draft into an off chat", replyInput(func(in *GateInput) { in.Purpose, in.Mode = PurposeDraft, ModeOff }), CodeOff},
		{"an operator's reply into an off chat", replyInput(func(in *GateInput) { in.Purpose, in.Mode = PurposeOperator, ModeOff }), CodeOff},
		{"a mode that is not known", replyInput(func(in *GateInput) { in.Mode = "loud" }), CodeOff},
		{"a reply into a silent chat", replyInput(func(in *GateInput) { in.Mode = ModeSilent }), CodeSilent},
		{"a greeting into a silent chat", replyInput(func(in *GateInput) { in.Purpose, in.Mode = PurposeGreeting, ModeSilent }), CodeSilent},
		{"an escalation into a silent chat", replyInput(func(in *GateInput) { in.Purpose, in.Mode = PurposeEscalation, ModeSilent }), CodeSilent},
		{"a personal chat where nobody called", replyInput(func(in *GateInput) { in.Mode = ModePersonal }), CodeNotAddressed},
		{"a group where nobody called", replyInput(func(in *GateInput) { in.Kind = KindGroup }), CodeNotAddressed},
		{"a reply while everything is paused", replyInput(func(in *GateInput) { in.PausedAll = true }), CodePausedAll},
		{"an operator's reply while everything is paused", replyInput(func(in *GateInput) {
			in.Purpose, in.PausedAll = PurposeOperator, true
		}), CodePausedAll},
		{"a draft while everything is paused", replyInput(func(in *GateInput) { in.Purpose, in.PausedAll = PurposeDraft, true }), CodePausedAll},
		{"a reply while a restored backup is on hold", replyInput(func(in *GateInput) { in.OnHold = true }), CodeRestored},
		{"a draft while a restored backup is on hold", replyInput(func(in *GateInput) {
			in.Purpose, in.OnHold = PurposeDraft, true
		}), CodeRestored},
		{"an operator's reply while a restored backup is on hold", replyInput(func(in *GateInput) {
			in.Purpose, in.OnHold = PurposeOperator, true
		}), CodeRestored},
		{"a redaction while a restored backup is on hold", redactionInput(func(in *GateInput) { in.OnHold = true }), CodeRestored},
		{"a reply while the chat is paused", replyInput(func(in *GateInput) { in.PausedChat = true }), CodePausedChat},
		{"a reply while the owner writes", replyInput(func(in *GateInput) { in.OwnerWroteAt = in.Now.Add(-29 * time.Minute) }), CodeOwnerActive},
		{"an escalation while the owner writes", replyInput(func(in *GateInput) {
			in.Purpose, in.OwnerWroteAt = PurposeEscalation, in.Now
		}), CodeOwnerActive},
		{"the eleventh reply of a minute", replyInput(func(in *GateInput) { in.Sent.Minute = 10 }), CodeMinuteCap},
		{"the hundred-and-first reply of a day", replyInput(func(in *GateInput) { in.Sent.Day = 100 }), CodeDayCap},
		{"a second escalation past the cap", replyInput(func(in *GateInput) { in.Purpose, in.Sent.Day = PurposeEscalation, 101 }), CodeDayCap},
		{"a second escalation past the minute's cap", replyInput(func(in *GateInput) {
			in.Purpose, in.Sent.Minute = PurposeEscalation, 11
		}), CodeMinuteCap},
		{"a reply when none are allowed", replyInput(func(in *GateInput) { in.SendCap = Rate{} }), CodeMinuteCap},
		{"a reply without a source", replyInput(func(in *GateInput) { in.HasCitation = false }), CodeNoSource},
		{"a question back without a source", replyInput(func(in *GateInput) {
			in.Purpose, in.HasCitation = PurposeClarify, false
		}), CodeNoSource},
		{"a question back with what no source has", replyInput(func(in *GateInput) {
			in.Purpose, in.Unsupported = PurposeClarify, "7"
		}), CodeUnsupported},
		{"a notice into a contact's chat", replyInput(func(in *GateInput) { in.MsgType = "m.notice" }), CodeNotice},
		{"an empty text", replyInput(func(in *GateInput) { in.Body = " \n\u200b" }), CodeEmpty},
		{"an empty text into the admin room", noticeInput(func(in *GateInput) { in.Body = "" }), CodeEmpty},
		{"10 MB of nothing, of which only the length is looked at", replyInput(func(in *GateInput) {
			in.Body = strings.Repeat("\u200b", 10<<20/3)
		}), CodeTooLong},
		{"a text too long by one", replyInput(func(in *GateInput) { in.Body = strings.Repeat("a", MaxBody+1) }), CodeTooLong},
		{"a NUL", replyInput(func(in *GateInput) { in.Body = "a\x00b" }), CodeControl},
		{"an escape sequence into the admin room", noticeInput(func(in *GateInput) { in.Body = "\x1b[2J" }), CodeControl},
		{"a turned direction of writing", replyInput(func(in *GateInput) { in.Body = "pay \u202e001" }), CodeControl},
		{"broken UTF-8", replyInput(func(in *GateInput) { in.Body = "caf\xe9" }), CodeControl},
		{"a bridge's command", replyInput(func(in *GateInput) { in.Body = "!wa logout" }), CodeBridgeCommand},
		{"a bridge's command behind blanks", replyInput(func(in *GateInput) { in.Body = " \n!wa logout" }), CodeBridgeCommand},
		{"a bridge's command behind what nobody sees", replyInput(func(in *GateInput) { in.Body = "\u200b \n!wa logout" }), CodeControl},
		{"a character that nobody sees", replyInput(func(in *GateInput) { in.Body = "4\u200b9 euro" }), CodeControl},
		{"a number that no source says", replyInput(func(in *GateInput) { in.Unsupported = "49" }), CodeUnsupported},
		{"a redaction in an off chat", redactionInput(func(in *GateInput) { in.Mode = ModeOff }), CodeOff},
		{"a redaction while everything is paused", redactionInput(func(in *GateInput) { in.PausedAll = true }), CodePausedAll},
		{"a redaction in the owner's name in the admin room", redactionInput(func(in *GateInput) { in.Kind = KindAdmin }), CodeWrongSender},
		{"a redaction in a room no bridge made", redactionInput(func(in *GateInput) { in.Verified = false }), CodeUnverified},
		{"a draft that is a bridge's command", replyInput(func(in *GateInput) {
			in.Purpose, in.Body = PurposeDraft, "!tg login"
		}), CodeBridgeCommand},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Gate(test.in)
			require.False(t, got.Allow)
			require.Equal(t, test.code, got.Code)
			require.NotEmpty(t, got.Why)
		})
	}
}

func TestGate_DeniesDirectionMarks(t *testing.T) {
	t.Parallel()
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		require.Equal(t, CodeControl, Gate(replyInput(func(in *GateInput) { in.Body = "a" + string(r) + "b" })).Code, "%U", r)
	}
}

func TestGate_ReasonsHaveNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in  GateInput
		why string
	}{
		{replyInput(nil), "The chat is business, you were away (last wrote 3 h ago), it quotes a source."},
		{replyInput(func(in *GateInput) {
			in.OperatorWrote = "eva"
		}), "The chat is business, you were away (eva last wrote 3 h ago), it quotes a source."},
		{replyInput(func(in *GateInput) { in.Purpose, in.OwnerWroteAt = PurposeGreeting, time.Time{} }), "The chat is business, you were away."},
		{replyInput(func(in *GateInput) { in.Purpose = PurposeDraft }), "You approved this text."},
		{replyInput(func(in *GateInput) { in.Purpose = PurposeOperator }), "A person wrote this text."},
		{noticeInput(nil), "It is for the admin room."},
		{replyInput(func(in *GateInput) {
			in.OwnerWroteAt = in.Now.Add(-40 * time.Second)
		}), "You wrote here 40 s ago; I stay quiet for 30 min after that."},
		{replyInput(func(in *GateInput) { in.Sent.Minute = 10 }), "I already sent 10 texts to this chat within a minute; 10 are allowed."},
		{replyInput(func(in *GateInput) { in.Sent.Day = 100 }), "I already sent 100 texts to this chat within a day; 100 are allowed."},
		{replyInput(func(in *GateInput) { in.Body = strings.Repeat("a", 60001) }), "The text has 60001 bytes; one message takes 60000."},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			require.Equal(t, test.why, Gate(test.in).Why)
		})
	}
}

// TestGate_NeverAllowsForbidden checks invariants on random inputs.
func TestGate_NeverAllowsForbidden(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	allowed := 0
	for range 50_000 {
		in := randomGateInput(rng)
		got := Gate(in)
		require.NotEmpty(t, got.Code, "%+v", in)
		require.NotEmpty(t, got.Why, "%+v", in)
		if !got.Allow {
			continue
		}
		allowed++
		if in.Purpose == PurposeRedaction {
			require.True(t, in.Kind == KindAdmin || (in.Kind.isPortal() && in.Verified && !in.PausedAll && in.Mode.Valid() && in.Mode != ModeOff),
				"%+v", in)
			require.Equal(t, in.Kind == KindAdmin, in.As == AsBot, "%+v", in)
			continue
		}
		require.Contains(t, []Encryption{EncryptionNo, EncryptionYes}, in.Encryption, "%+v", in)
		require.True(t, in.HasRoom && !in.Tombstoned, "%+v", in)
		require.NotEmpty(t, strings.TrimSpace(in.Body), "%+v", in)
		if in.Kind == KindAdmin {
			require.Equal(t, AsBot, in.As, "%+v", in)
			continue
		}
		require.True(t, in.Kind == KindDM || in.Kind == KindGroup, "%+v", in)
		require.Equal(t, AsOwner, in.As, "%+v", in)
		require.True(t, in.Verified && !in.PausedAll, "%+v", in)
		require.True(t, in.Mode.Valid() && in.Mode != ModeOff, "%+v", in)
		require.Equal(t, "m.text", in.MsgType, "%+v", in)
		require.NotContains(t, in.Body, "!wa", "%+v", in)
		if in.Purpose != PurposeReply && in.Purpose != PurposeClarify && in.Purpose != PurposeGreeting && in.Purpose != PurposeEscalation {
			continue
		}
		require.NotEqual(t, ModeSilent, in.Mode, "%+v", in)
		require.False(t, in.PausedChat, "%+v", in)
		require.True(t, in.Addressed || (in.Mode == ModeBusiness && in.Kind == KindDM), "%+v", in)
		require.True(t, in.HasCitation || in.Purpose != PurposeReply && in.Purpose != PurposeClarify, "%+v", in)
		if in.OwnerPause > 0 && !in.OwnerWroteAt.IsZero() {
			require.GreaterOrEqual(t, in.Now.Sub(in.OwnerWroteAt), in.OwnerPause, "%+v", in)
		}
	}
	require.Greater(t, allowed, 1000, "the inputs must reach the sends")
}

func randomGateInput(rng *rand.Rand) GateInput {
	now := time.Unix(1_795_000_000+rng.Int64N(1e6), 0)
	return GateInput{
		Purpose: oneOf(rng, PurposeRedaction, PurposeReply, PurposeClarify, PurposeGreeting, PurposeEscalation, PurposeDraft, PurposeOperator,
			PurposeNotice, "", "spam"),
		As:         oneOf(rng, AsOwner, AsBot, ""),
		Mode:       oneOf(rng, ModeBusiness, ModePersonal, ModeSilent, ModeOff, "", "loud"),
		Kind:       oneOf(rng, KindDM, KindGroup, KindSpace, KindSelf, KindAdmin, ""),
		Encryption: oneOf(rng, EncryptionNo, EncryptionYes, EncryptionUnknown, ""),
		HasRoom:    rng.IntN(8) > 0, Tombstoned: rng.IntN(8) == 0, Verified: rng.IntN(8) > 0,
		Now: now, Presence: randomPresence(rng, now),
		Addressed: rng.IntN(2) == 0, HasCitation: rng.IntN(4) > 0,
		Sent: oneOf(rng, Rate{}, Rate{Minute: 10}, Rate{Day: 100}), SendCap: oneOf(rng, Rate{Minute: 10, Day: 100}, Rate{}),
		MsgType: oneOf(rng, "m.text", "m.notice", ""),
		Body:    oneOf(rng, "[Nora] We open at nine.", "", " ", "!wa logout", "\u200b!wa logout", "a\x00"),
	}
}

func TestSafeMode_AllowsAdminRoomOnly(t *testing.T) {
	t.Parallel()
	for _, p := range []Purpose{
		PurposeReply, PurposeClarify, PurposeGreeting, PurposeEscalation, PurposeDraft, PurposeOperator,
		PurposeFollowUp, PurposeRating, PurposeRedaction,
	} {
		in := GateInput{
			Purpose:     p,
			As:          AsOwner,
			Mode:        ModeBusiness,
			Kind:        KindDM,
			Encryption:  EncryptionNo,
			HasRoom:     true,
			Verified:    true,
			Addressed:   true,
			HasCitation: true,
			SendCap:     Rate{Minute: 1, Day: 1},
			MsgType:     "m.text",
			Body:        "x",
		}
		require.True(t, Gate(in).Allow, "%s: %s", p, Gate(in).Why)
		in.SafeMode = true
		require.Equal(t, CodeSafeMode, Gate(in).Code, p)
	}
	for _, p := range []Purpose{PurposeNotice, PurposePIN} {
		in := GateInput{
			Purpose:    p,
			As:         AsBot,
			Kind:       KindAdmin,
			Encryption: EncryptionYes,
			HasRoom:    true,
			MsgType:    "m.notice",
			Body:       "x",
			SafeMode:   true,
		}
		require.True(t, Gate(in).Allow, "%s: %s", p, Gate(in).Why)
		in.Kind = KindDM
		in.As = AsOwner
		in.Verified = true
		require.False(t, Gate(in).Allow, "%s to a contact", p)
	}
}
