package admin_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// addCommitment stores a commitment, as the capture of notes does.
func (r *rig) addCommitment(chat store.Chat, who, what string, due *time.Time) store.Commitment {
	r.t.Helper()
	var c store.Commitment
	r.tx(func(tx store.Tx) error {
		m, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  chat.ID,
			EventID: r.event(),
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    what,
			At:      r.now.Add(-time.Hour),
			Action:  policy.ActionArchive,
		})
		if err != nil {
			return err
		}
		if err := store.InsertCommitment(r.ctx, tx, store.Commitment{
			ChatID:    chat.ID,
			MessageID: m,
			Who:       who,
			What:      what,
			DueAt:     due,
		}); err != nil {
			return err
		}
		open, err := store.OpenCommitments(r.ctx, tx, []store.ChatID{chat.ID}, 100)
		for _, o := range open {
			if o.MessageID == m {
				c = o
			}
		}
		return err
	})
	require.NotZero(r.t, c.ID)
	return c
}

// remindersAt returns what the owner is reminded of at a time.
func (r *rig) remindersAt(at time.Time) string {
	r.t.Helper()
	r.now = at
	require.NoError(r.t, r.admin.Commitments.RemindCommitments(r.ctx))
	return bodies(r.sendQueued())
}

func TestCommitments_ListAcrossChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/commitments"), "Nobody promised anything")
	ana, ben := r.chat("Ana", "whatsapp"), r.chat("Ben", "signal")
	friday, monday := r.now.Add(80*time.Hour), r.now.Add(150*time.Hour)
	r.addCommitment(ben, "Ben", "Ben sends the *offer*", &monday)
	r.addCommitment(ana, "the owner", "You pay Ana for the fence", &friday)
	shown := r.asOwner("/commitments")
	require.Less(t, strings.Index(shown, "You promised"), strings.Index(shown, "Others promised"))
	require.Contains(t, shown, "You pay Ana for the fence. **due ")
	require.Contains(t, shown, "Ben sends the *offer*")
	require.Contains(t, r.lastSent().HTML, "https://matrix.to/#/%21room")
	require.Contains(t, shown, "Ben · Signal")
	require.NotContains(t, r.asOwner("/commitments ana"), "Ben")
	require.Contains(t, r.asOperator("/commitments"), "Only the owner can use")
}

func TestCommitment_DoneSnoozeReopen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	c := r.addCommitment(ana, "Ana", "Ana brings the papers", nil)
	number := strings.TrimSpace(strings.SplitN(r.asOwner("/commitments"), "#", 2)[1][:1])
	require.Equal(t, "[✅]", r.asOwner("/commitments done "+number))
	require.Contains(t, r.asOwner("/commitments"), "Nobody promised")
	require.Contains(t, r.asOwner("/commitments "+number), "done; ")
	require.Equal(t, "[✅]", r.asOwner("/commitments open "+number))

	require.Contains(t, r.asOwner("/commitments snooze "+number+" noonish"), "noonish")
	require.Contains(t, r.asOwner("/commitments snooze "+number+" tomorrow 9am"), "Again")
	require.Empty(t, r.remindersAt(r.now.Add(time.Hour)))
	require.Contains(t, r.remindersAt(noon.Add(24*time.Hour)), "Ana brings the papers")
	require.Empty(t, r.remindersAt(r.now.Add(time.Minute)), "once")

	r.asOwner("/commitments " + number)
	require.Equal(t, "[✅]", r.react(r.lastSent().Event, "✅"))
	got, err := store.CommitmentByID(r.ctx, r.st.DB(), c.ID)
	require.NoError(t, err)
	require.Equal(t, store.CommitmentDone, got.State)
	require.Contains(t, r.asOwner("/commitments done 999"), "no promise #999")
	require.Contains(t, r.asOwner("/commitments done"), "Which one?")
}

func TestCommitment_RemindsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	evening := time.Date(2026, 11, 27, 18, 0, 0, 0, r.settings.Zone)
	early := time.Date(2026, 11, 28, 7, 30, 0, 0, r.settings.Zone)
	past := noon.Add(-48 * time.Hour)
	r.addCommitment(ana, "owner", "You pay for the fence", &evening)
	r.addCommitment(ana, "Ana", "Ana calls", &early)
	r.addCommitment(ana, "Ana", "Ana called", &past)
	require.Empty(t, r.remindersAt(time.Date(2026, 11, 27, 8, 59, 0, 0, r.settings.Zone)), "nor of what is long over")

	r.now = time.Date(2026, 11, 27, 9, 0, 0, 0, r.settings.Zone)
	var both sync.WaitGroup
	for range 2 { // of two processes, one reminds
		both.Go(func() {
			if err := r.admin.Commitments.RemindCommitments(r.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	reminder := r.sendQueued()
	require.Len(t, reminder, 1)
	require.Contains(t, bodies(reminder), "🤝 You pay for the fence. **due Fri 27 Nov, 18:00** · Ana · WhatsApp, Fri 20 Nov")
	require.Equal(t, "m.text", reminder[0].Type)
	require.Contains(t, reminder[0].Mentions, owner, "it rings")
	require.Contains(t, r.remindersAt(time.Date(2026, 11, 28, 6, 30, 0, 0, r.settings.Zone)), "Ana calls")

	require.Contains(t, r.react(reminder[0].Event, "🌅"), "Again **Sun 29 Nov, 09:00**")
	require.Contains(t, r.remindersAt(time.Date(2026, 11, 29, 9, 0, 0, 0, r.settings.Zone)), "was due Fri 27 Nov")
	require.Empty(t, bodies(r.handle(store.Message{
		Body:      "✅",
		Kind:      string(bridgebridge.Reaction),
		RelatesTo: r.lastSent().Event,
		Author:    policy.AuthorOperator,
		Sender:    operator,
	})), "an operator settles nothing")
	require.Equal(t, "[✅]", r.react(r.lastSent().Event, "✅"))
	require.Zero(t, r.count("select count(*) from commitments where what = 'You pay for the fence' and state = 'open'"))
}

func TestCommitment_DeletedWithMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	c := r.addCommitment(ana, "Ana", "Ana brings the papers", nil)
	r.asOwner("/commitments")
	require.NoError(t, r.st.AsOwner(r.ctx, policy.ContactScope(ana.ID), func(tx store.Tx) error {
		_, err := store.InsertNote(r.ctx, tx, store.Note{
			Role:      policy.UserRole(ana.ID),
			ChatID:    ana.ID,
			Kind:      store.NoteFact,
			Body:      "There are papers.",
			Sources:   []store.MessageID{c.MessageID},
			ValidFrom: r.now,
		})
		return err
	}))
	r.asOwner("/memory ana")
	require.Contains(t, r.asOwner("/commitments"), "papers")
	m, err := store.MessageByID(r.ctx, r.st.DB(), c.MessageID)
	require.NoError(t, err)
	r.tx(func(tx store.Tx) error {
		quoting, err := store.RedactMessage(r.ctx, tx, ana.ID, m.EventID, r.now)
		require.Len(t, quoting, 3)
		return err
	})
	require.Zero(t, r.count("select count(*) from outbox where content::text like '%papers%'"))
}

func TestCommand_ReplyIsQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addCommitment(r.chat("Ana", "whatsapp"), "Ana", "Ana brings the papers", nil)
	r.asOwner("/commitments")
	require.Contains(t, bodies(r.handle(store.Message{Body: "which papers?", RelatesTo: r.lastSent().Event})), "You asked")
}
