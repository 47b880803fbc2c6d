package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

// questionInput returns the input for a new question of a contact in a business chat, which is answered, with a change.
func questionInput(change func(*AdmitInput)) AdmitInput {
	now := time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC)
	in := AdmitInput{
		Mode: ModeBusiness, Kind: KindDM, Author: AuthorContact,
		Name: "Nora", Text: "Do you deliver on Sundays?",
		SentAt: now.Add(-4 * time.Second), Now: now, MaxAge: 10 * time.Minute,
		Presence:           Presence{OwnerWroteAt: now.Add(-4 * 24 * time.Hour), OwnerPause: 30 * time.Minute},
		EscalationKeywords: []string{"refund", "money back"},
		StoreCap:           Rate{Minute: 60, Day: 2000}, SendCap: Rate{Minute: 10, Day: 100},
	}
	if change != nil {
		change(&in)
	}
	return in
}

// admissionCase is a change of questionInput with the expected decision.
type admissionCase struct {
	name   string
	change func(*AdmitInput)
	action Action
	code   Code
}

// checkAdmissions checks the decision in each case.
func checkAdmissions(t *testing.T, cases []admissionCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Admit(questionInput(test.change))
			require.Equal(t, test.action, got.Action)
			require.Equal(t, test.code, got.Code)
			require.NotEmpty(t, got.Why)
		})
	}
}

func TestAdmit_AnswersAndTranscribes(t *testing.T) {
	t.Parallel()
	checkAdmissions(t, []admissionCase{
		{"a fresh question in a business chat is answered", nil, ActionAnswer, CodeAnswer},
		{"a clock that runs ahead does not make a message stale", func(in *AdmitInput) {
			in.SentAt = in.Now.Add(time.Minute)
		}, ActionAnswer, CodeAnswer},
		{"a picture is for a person, and its caption is not answered without it", func(in *AdmitInput) {
			in.HasAttachment, in.Text = true, "How much is this one?"
		}, ActionEscalate, CodeAttached},
		{"a picture without a caption as well", func(in *AdmitInput) { in.HasAttachment, in.Text = true, "" }, ActionEscalate, CodeAttached},
		{"even with thanks", func(in *AdmitInput) { in.HasAttachment, in.Text = true, "Thanks!" }, ActionEscalate, CodeAttached},
		{"a picture that a model looks at is answered", func(in *AdmitInput) {
			in.HasAttachment = true
			in.IsViewable = true
			in.Text = ""
		}, ActionAnswer, CodeAnswer},
		{"whatever its caption is", func(in *AdmitInput) {
			in.HasAttachment = true
			in.IsViewable = true
			in.Text = "Thanks!"
		}, ActionAnswer, CodeAnswer},
		{"unless it asks for a person", func(in *AdmitInput) {
			in.HasAttachment = true
			in.IsViewable = true
			in.Text = "human please"
		}, ActionEscalate, CodeWantsHuman},
		{"or the contact got too many answers", func(in *AdmitInput) {
			in.HasAttachment = true
			in.IsViewable = true
			in.Text = ""
			in.Sent.Minute = 99
		}, ActionEscalate, CodeMinuteCap},
		{"such a picture in a personal chat is kept as well", func(in *AdmitInput) {
			in.HasAttachment = true
			in.IsViewable = true
			in.Text = ""
			in.Mode = ModePersonal
		}, ActionArchive, CodeNoText},
		{"a picture in a personal chat is kept", func(in *AdmitInput) {
			in.HasAttachment = true
			in.Text = ""
			in.Mode = ModePersonal
		}, ActionArchive, CodeNoText},
		{"a picture in a group is kept", func(in *AdmitInput) {
			in.HasAttachment = true
			in.Text = ""
			in.Kind = KindGroup
		}, ActionArchive, CodeNoText},
		{"a picture while the owner is there is his", func(in *AdmitInput) {
			in.HasAttachment = true
			in.Text = ""
			in.OwnerWroteAt = in.Now
		}, ActionArchive, CodeOwnerActive},
		{"a picture that is old is not answered", func(in *AdmitInput) {
			in.HasAttachment = true
			in.Text = ""
			in.SentAt = in.Now.Add(-time.Hour)
		}, ActionArchive, CodeStale},
		{"a message exactly as old as allowed is answered", func(in *AdmitInput) {
			in.SentAt = in.Now.Add(-in.MaxAge)
		}, ActionAnswer, CodeAnswer},
		{"an owner's pause of zero never pauses", func(in *AdmitInput) { in.OwnerWroteAt, in.OwnerPause = in.Now, 0 }, ActionAnswer, CodeAnswer},
		{"the owner who wrote longer ago than the pause is away", func(in *AdmitInput) {
			in.OwnerWroteAt = in.Now.Add(-30 * time.Minute)
		}, ActionAnswer, CodeAnswer},
		{"a group that calls the name is answered", func(in *AdmitInput) {
			in.Kind, in.Text = KindGroup, "nora, when do you open?"
		}, ActionAnswer, CodeAnswer},
		{"a personal chat that calls the name is answered", func(in *AdmitInput) {
			in.Mode, in.Text = ModePersonal, "NORA when do you open?"
		}, ActionAnswer, CodeAnswer},
		{"keywords belong to business, a personal chat has none", func(in *AdmitInput) {
			in.Mode, in.Text = ModePersonal, "Nora, what is a refund?"
		}, ActionAnswer, CodeAnswer},
		{"a greeting is answered", func(in *AdmitInput) { in.Text = "Hi Nora!" }, ActionAnswer, CodeAnswer},

		{"a voice note that would be answered is listened to", func(in *AdmitInput) {
			in.Voice, in.Text = true, ""
		}, ActionTranscribe, CodeTranscribing},
		{"a voice note with words is read", func(in *AdmitInput) { in.Voice = true }, ActionAnswer, CodeAnswer},
		{"a voice note nobody can write down is kept", func(in *AdmitInput) { in.Text = "" }, ActionArchive, CodeNoText},
		{"a voice note in a silent chat is kept", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.Mode = ModeSilent
		}, ActionArchive, CodeSilent},
		{"a voice note in an off chat is not", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.Mode = ModeOff
		}, ActionIgnore, CodeOff},
		{"a voice note is not listened to for a name", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.Mode = ModePersonal
		}, ActionArchive, CodeNoText},
		{"nor in a group", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.Kind = KindGroup
		}, ActionArchive, CodeNoText},
		{"nor when it is old", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.SentAt = in.Now.Add(-time.Hour)
		}, ActionArchive, CodeStale},
		{"nor while the owner is there", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.OwnerWroteAt = in.Now
		}, ActionArchive, CodeOwnerActive},
		{"nor under a pause", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.PausedAll = true
		}, ActionArchive, CodePausedAll},
		{"nor from the owner", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.Author = AuthorOwnerPhone
		}, ActionArchive, CodeOwnerWrote},
		{"what a voice note says is as fresh as the note was", func(in *AdmitInput) {
			in.WasFresh, in.SentAt = true, in.Now.Add(-time.Hour)
		}, ActionAnswer, CodeAnswer},
		{"and escalates on a keyword", func(in *AdmitInput) { in.WasFresh, in.Text = true, "I want a refund" }, ActionEscalate, CodeKeyword},
		{"and waits for the owner who came meanwhile", func(in *AdmitInput) {
			in.WasFresh, in.OwnerWroteAt = true, in.Now
		}, ActionArchive, CodeOwnerActive},
	})
}

func TestAdmit_ArchivesAndIgnores(t *testing.T) {
	t.Parallel()
	checkAdmissions(t, []admissionCase{
		{"nothing of an off chat is kept", func(in *AdmitInput) { in.Mode = ModeOff }, ActionIgnore, CodeOff},
		{"a mode that is not known counts as off", func(in *AdmitInput) { in.Mode = "loud" }, ActionIgnore, CodeOff},
		{"a chat without a mode counts as off", func(in *AdmitInput) { in.Mode = "" }, ActionIgnore, CodeOff},
		{"the owner's own words in an off chat are not kept", func(in *AdmitInput) {
			in.Mode, in.Author = ModeOff, AuthorOwnerPhone
		}, ActionIgnore, CodeOff},
		{"a space is no chat", func(in *AdmitInput) { in.Kind = KindSpace }, ActionIgnore, CodeNoChat},
		{"a note to oneself is no chat", func(in *AdmitInput) { in.Kind = KindSelf }, ActionIgnore, CodeNoChat},
		{"a kind that is not known is no chat", func(in *AdmitInput) { in.Kind = "" }, ActionIgnore, CodeNoChat},

		{"what multis sent as the owner is kept and not answered", func(in *AdmitInput) {
			in.Author = AuthorMultisOwner
		}, ActionArchive, CodeEcho},
		{"what multis' bot says is ignored", func(in *AdmitInput) { in.Author = AuthorMultisBot }, ActionIgnore, CodeEcho},
		{"what the owner writes in a client is kept", func(in *AdmitInput) { in.Author = AuthorOwnerClient }, ActionArchive, CodeOwnerWrote},
		{"what the owner writes on the phone is kept", func(in *AdmitInput) { in.Author = AuthorOwnerPhone }, ActionArchive, CodeOwnerWrote},
		{"what an operator writes is kept", func(in *AdmitInput) { in.Author = AuthorOperator }, ActionArchive, CodeOperatorWrote},
		{"the bridge bot is ignored", func(in *AdmitInput) { in.Author = AuthorBridgeBot }, ActionIgnore, CodeBridgeBot},
		{"another bot is kept and not answered", func(in *AdmitInput) { in.Author = AuthorOtherBot }, ActionArchive, CodeBot},
		{"a contact's notice is a bot's", func(in *AdmitInput) { in.Notice = true }, ActionArchive, CodeBot},
		{"an author that is not known is ignored", func(in *AdmitInput) { in.Author = "" }, ActionIgnore, CodeUnknownAuthor},

		{"the message after the cap of a minute is not kept", func(in *AdmitInput) { in.Stored.Minute = 60 }, ActionIgnore, CodeFlood},
		{"the message after the cap of a day is not kept", func(in *AdmitInput) { in.Stored.Day = 2000 }, ActionIgnore, CodeFlood},
		{"old messages are kept whatever their number", func(in *AdmitInput) {
			in.Stored.Minute, in.SentAt = 9000, in.Now.Add(-time.Hour)
		}, ActionArchive, CodeStale},
		{"history is kept whatever its number", func(in *AdmitInput) { in.Stored.Day, in.Backfill = 9000, true }, ActionArchive, CodeBackfill},

		{"a silent chat is kept", func(in *AdmitInput) { in.Mode = ModeSilent }, ActionArchive, CodeSilent},
		{"a silent chat is silent when it calls the name, too", func(in *AdmitInput) {
			in.Mode, in.Text = ModeSilent, "Nora?"
		}, ActionArchive, CodeSilent},
		{"an old message is kept", func(in *AdmitInput) { in.SentAt = in.Now.Add(-in.MaxAge - time.Second) }, ActionArchive, CodeStale},
		{"a message without a time is old", func(in *AdmitInput) { in.SentAt = time.Time{} }, ActionArchive, CodeStale},
		{"without an age that is allowed everything is old", func(in *AdmitInput) { in.MaxAge, in.SentAt = 0, in.Now }, ActionArchive, CodeStale},
		{"an edit asks for nothing", func(in *AdmitInput) { in.Edited = true }, ActionArchive, CodeEdited},
		{"a sticker asks for nothing", func(in *AdmitInput) { in.Text = "" }, ActionArchive, CodeNoText},
		{"emoji ask for nothing", func(in *AdmitInput) { in.Text = "👍🏽 ❤️!" }, ActionArchive, CodeNoText},
		{"a group that calls nobody is kept", func(in *AdmitInput) { in.Kind = KindGroup }, ActionArchive, CodeNotAddressed},
		{"a personal chat that calls nobody is kept", func(in *AdmitInput) { in.Mode = ModePersonal }, ActionArchive, CodeNotAddressed},
		{"an assistant without a name cannot be called", func(in *AdmitInput) {
			in.Mode, in.Name = ModePersonal, ""
		}, ActionArchive, CodeNotAddressed},
		{"everything paused", func(in *AdmitInput) { in.PausedAll = true }, ActionArchive, CodePausedAll},
		{"the chat paused", func(in *AdmitInput) { in.PausedChat = true }, ActionArchive, CodePausedChat},
		{"the owner wrote a moment ago", func(in *AdmitInput) { in.OwnerWroteAt = in.Now.Add(-time.Minute) }, ActionArchive, CodeOwnerActive},
		{"the owner's clock runs ahead", func(in *AdmitInput) { in.OwnerWroteAt = in.Now.Add(time.Hour) }, ActionArchive, CodeOwnerActive},
		{"somebody wants to be left alone", func(in *AdmitInput) { in.Text = "STOP!" }, ActionArchive, CodeAskedToStop},
		{"somebody says thanks", func(in *AdmitInput) { in.Text = "Danke schön!" }, ActionArchive, CodeAcknowledged},
		{"somebody says ok", func(in *AdmitInput) { in.Text = "Ok 👍" }, ActionArchive, CodeAcknowledged},
	})
}

func TestAdmit_RestoreAndEscalation(t *testing.T) {
	t.Parallel()
	checkAdmissions(t, []admissionCase{
		{"a question while a restored backup is on hold", func(in *AdmitInput) {
			in.RestoredAt = in.SentAt.Add(-time.Hour)
		}, ActionArchive, CodeRestored},
		{"a question from before the owner's word", func(in *AdmitInput) {
			in.RestoredAt, in.ReleasedAt = in.SentAt.Add(-time.Hour), in.SentAt.Add(time.Second)
		}, ActionArchive, CodeRestored},
		{"a voice note from before the owner's word", func(in *AdmitInput) {
			in.Voice = true
			in.Text = ""
			in.RestoredAt = in.SentAt.Add(-time.Hour)
			in.ReleasedAt = in.SentAt.Add(time.Second)
		}, ActionArchive, CodeRestored},
		{"a question after the owner's word", func(in *AdmitInput) {
			in.RestoredAt, in.ReleasedAt = in.SentAt.Add(-time.Hour), in.SentAt.Add(-time.Second)
		}, ActionAnswer, CodeAnswer},
		{"a command from before the restore", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.RestoredAt = in.SentAt.Add(time.Second)
		}, ActionArchive, CodeRestored},
		{"a command after the restore", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.RestoredAt = in.SentAt.Add(-time.Second)
		}, ActionCommand, CodeCommand},

		{"a keyword escalates", func(in *AdmitInput) { in.Text = "I want my MONEY  BACK" }, ActionEscalate, CodeKeyword},
		{"a keyword escalates before a cap does", func(in *AdmitInput) { in.Text, in.Sent.Day = "refund!", 500 }, ActionEscalate, CodeKeyword},
		{"somebody orders", func(in *AdmitInput) { in.Text = "I'd like to order two." }, ActionEscalate, CodeWantsAction},
		{"somebody orders from a person", func(in *AdmitInput) {
			in.Mode, in.Text = ModePersonal, in.Name+", I'd like to order two."
		}, ActionAnswer, CodeAnswer},
		{"somebody wants a person", func(in *AdmitInput) { in.Text = "Can I speak to a human?" }, ActionEscalate, CodeWantsHuman},
		{"somebody wants to be reminded: that is a note to the owner", func(in *AdmitInput) {
			in.Text = "Please remind me tomorrow at 9"
		}, ActionEscalate, CodeReminder},
		{"ten answers within a minute escalate", func(in *AdmitInput) { in.Sent.Minute = 10 }, ActionEscalate, CodeMinuteCap},
		{"a hundred answers within a day escalate", func(in *AdmitInput) { in.Sent.Day = 100 }, ActionEscalate, CodeDayCap},
	})
}

func TestAdmitCommands(t *testing.T) {
	t.Parallel()
	checkAdmissions(t, []admissionCase{
		{"the owner commands in the admin room", func(in *AdmitInput) {
			in.Kind, in.Author = KindAdmin, AuthorOwnerClient
		}, ActionCommand, CodeCommand},
		{"an operator commands in the admin room", func(in *AdmitInput) {
			in.Kind, in.Author = KindAdmin, AuthorOperator
		}, ActionCommand, CodeCommand},
		{"a command written while multis was down is carried out", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.SentAt = in.Now.Add(-3 * time.Hour)
		}, ActionCommand, CodeCommand},
		{"a command works while everything is paused", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.PausedAll = true
		}, ActionCommand, CodeCommand},
		{"a file without words is a command, for it is to be indexed", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.Text = ""
		}, ActionCommand, CodeCommand},
		{"a guest in the admin room commands nothing", func(in *AdmitInput) { in.Kind = KindAdmin }, ActionIgnore, CodeNotAllowed},
		{"the bot does not command itself", func(in *AdmitInput) { in.Kind, in.Author = KindAdmin, AuthorMultisBot }, ActionIgnore, CodeEcho},
		{"a notice commands nothing", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.Notice = true
		}, ActionIgnore, CodeBot},
		{"old commands are not run again from history", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.Backfill = true
		}, ActionIgnore, CodeBackfill},
		{"an edited command is not run again", func(in *AdmitInput) {
			in.Kind = KindAdmin
			in.Author = AuthorOwnerClient
			in.Edited = true
		}, ActionIgnore, CodeEdited},
	})
}

func TestAdmit_IgnoresZeroInput(t *testing.T) {
	t.Parallel()
	require.Equal(t, ActionIgnore, Admit(AdmitInput{}).Action)
}

func TestAdmit_ReasonsHaveNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		change func(*AdmitInput)
		why    string
	}{
		{nil, "The chat is business, the message was 4 s old, you were away."},
		{func(in *AdmitInput) { in.SentAt = in.Now.Add(-3 * time.Hour) }, "It was 3 h old when it arrived; I answer what is at most 10 min old."},
		{func(in *AdmitInput) {
			in.OwnerWroteAt = in.Now.Add(-5 * time.Minute)
		}, "You wrote here 5 min ago; I stay quiet for 30 min after that."},
		{func(in *AdmitInput) {
			in.OwnerWroteAt, in.OperatorWrote = in.Now.Add(-5*time.Minute), "eva"
		}, "eva wrote here 5 min ago; I stay quiet for 30 min after that."},
		{func(in *AdmitInput) { in.Text = "refund" }, `The word "refund" escalates to a person.`},
		{func(in *AdmitInput) { in.Mode = ModePersonal }, "In personal chats I answer only when somebody calls me Nora."},
		{func(in *AdmitInput) { in.Kind = KindGroup }, "In group chats I answer only when somebody calls me Nora."},
		{func(in *AdmitInput) { in.Stored.Day = 2000 }, "Too many messages: I keep 60 a minute and 2000 a day from one contact."},
		{func(in *AdmitInput) { in.Sent.Day = 100 }, "I already answered 100 times within a day; a person takes over."},
		{func(in *AdmitInput) { in.Sent.Minute = 10 }, "I already answered 10 times within a minute; a person takes over."},
		{func(in *AdmitInput) { in.Mode = ModeOff }, "The chat is off."},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			require.Equal(t, test.why, Admit(questionInput(test.change)).Why)
		})
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 4500 * time.Millisecond: "4 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min",
		119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 100 * time.Hour: "4 days",
	} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			require.Equal(t, want, text.Duration(d))
		})
	}
}

// TestAdmit_NeverAnswersForbidden checks invariants on random inputs.
func TestAdmit_NeverAnswersForbidden(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	answered := 0
	for range 50_000 {
		in := randomAdmitInput(rng)
		got := Admit(in)
		require.NotEmpty(t, got.Why, "%+v", in)
		if in.Kind != KindAdmin {
			require.NotEqual(t, ActionCommand, got.Action, "%+v", in)
		}
		if in.Kind != KindAdmin && (in.Mode == ModeOff || !in.Mode.Valid()) {
			require.Equal(t, ActionIgnore, got.Action, "nothing of an off chat is kept: %+v", in)
		}
		if got.Action != ActionAnswer && got.Action != ActionEscalate {
			continue
		}
		answered++
		require.True(t, in.Mode == ModeBusiness || in.Mode == ModePersonal, "%+v", in)
		require.True(t, in.Kind == KindDM || in.Kind == KindGroup, "%+v", in)
		require.Equal(t, AuthorContact, in.Author, "%+v", in)
		require.False(t, in.Notice || in.Backfill || in.Edited || in.PausedAll || in.PausedChat, "%+v", in)
		require.LessOrEqual(t, in.Now.Sub(in.SentAt), in.MaxAge, "%+v", in)
		require.NotEmpty(t, in.Text, "%+v", in)
		if in.OwnerPause > 0 && !in.OwnerWroteAt.IsZero() {
			require.GreaterOrEqual(t, in.Now.Sub(in.OwnerWroteAt), in.OwnerPause, "%+v", in)
		}
		if in.Mode == ModePersonal || in.Kind == KindGroup {
			require.Contains(t, in.Text, "Nora", "%+v", in)
		}
		if got.Action == ActionAnswer {
			require.Less(t, in.Sent.Minute, in.SendCap.Minute, "%+v", in)
			require.Less(t, in.Sent.Day, in.SendCap.Day, "%+v", in)
		}
	}
	require.Greater(t, answered, 1000, "the inputs must reach the answers")
}

// oneOf returns a random value. It returns usual half of the time, so that conditions deep in the function are reached.
func oneOf[T any](rng *rand.Rand, usual T, others ...T) T {
	if rng.IntN(8) > 0 {
		return usual
	}
	return others[rng.IntN(len(others))]
}

func randomAdmitInput(rng *rand.Rand) AdmitInput {
	now := time.Unix(1_795_000_000+rng.Int64N(1e6), 0)
	return AdmitInput{
		Mode: oneOf(rng, ModeBusiness, ModePersonal, ModePersonal, ModeSilent, ModeOff, "", "loud"),
		Kind: oneOf(rng, KindDM, KindGroup, KindGroup, KindSpace, KindSelf, KindAdmin, ""),
		Author: oneOf(rng, AuthorContact, AuthorOwnerClient, AuthorOwnerPhone, AuthorMultisOwner, AuthorMultisBot, AuthorOperator,
			AuthorBridgeBot, AuthorOtherBot, ""),
		Name:   oneOf(rng, "Nora", ""),
		Text:   oneOf(rng, "Nora, what is the price?", "what is the price?", "", "🎉", "refund", "Nora refund", "a human please", "stop", "ok"),
		Notice: rng.IntN(8) == 0, Backfill: rng.IntN(8) == 0, Edited: rng.IntN(8) == 0,
		SentAt: oneOf(rng, now, now.Add(-time.Hour), now.Add(time.Hour), time.Time{}),
		Now:    now, MaxAge: oneOf(rng, 10*time.Minute, 0, -time.Second),
		Presence:           randomPresence(rng, now),
		EscalationKeywords: oneOf(rng, []string{"refund"}, nil, []string{""}),
		Stored:             oneOf(rng, Rate{}, Rate{Minute: 60}, Rate{Day: 2000}), StoreCap: oneOf(rng, Rate{Minute: 60, Day: 2000}, Rate{}),
		Sent: oneOf(rng, Rate{}, Rate{Minute: 10}, Rate{Day: 100}), SendCap: oneOf(rng, Rate{Minute: 10, Day: 100}, Rate{}),
	}
}

func randomPresence(rng *rand.Rand, now time.Time) Presence {
	return Presence{
		PausedAll: rng.IntN(8) == 0, PausedChat: rng.IntN(8) == 0,
		OwnerWroteAt: oneOf(rng, time.Time{}, now.Add(-time.Minute), now, now.Add(time.Hour), now.Add(-30*time.Minute)),
		OwnerPause:   oneOf(rng, 30*time.Minute, 0, time.Second),
	}
}
