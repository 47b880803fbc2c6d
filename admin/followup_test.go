package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/outbox"
	"multis/policy"
	"multis/store"
)

func TestFollowUp_SetForChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	require.Equal(t, "**Ana · WhatsApp**: I draft no follow-up there.", r.asOwner("/followup Ana"))
	require.Contains(t, r.asOwner("/followup 3 Ana"),
		"**Ana · WhatsApp**: after 3 days without an answer I draft a follow-up, which waits for your 👍. Only in business chats; this one is `silent`.")
	require.Equal(t, 3, *r.reload(ana).FollowUpDays)
	r.asOwner("/mode business Ana")
	require.Equal(t, "**Ana · WhatsApp**: after 1 day without an answer I draft a follow-up, which waits for your 👍.",
		r.asOwner("/followup 1 days ana"))
	r.asOwner("/delivery shadow Ana")
	require.Contains(t, r.asOwner("/followup Ana"), "Not while it is on `shadow`.")
	require.Contains(t, r.asOwner("/followup off Ana"), "I draft no follow-up there")
	require.Zero(t, *r.reload(ana).FollowUpDays)
	require.Contains(t, r.asOwner("/followup default Ana"), "I draft no follow-up there")
	require.Nil(t, r.reload(ana).FollowUpDays)
	for _, wrong := range []string{"/followup 0 Ana", "/followup 31 Ana", "/followup -1 Ana"} {
		require.Contains(t, r.asOwner(wrong), "Write a number of days from 1 to 30", wrong)
	}
	require.Contains(t, r.asOwner("/followup 3"), "Ana")
	require.Contains(t, r.asOperator("/followup 3 Ana"), "Only the owner can use")
	require.Equal(t, 4, r.count("select count(*) from audit_entries where action = 'follow_up'"))
}

func TestFollowUp_CardStatesKindAndEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.asOwner("/mode business Ana")
	r.asOwner("/followup 3 Ana")
	says := func(text string, at time.Time) (said store.MessageID) {
		r.tx(func(tx store.Tx) (err error) {
			said, err = store.InsertMessage(r.ctx, tx, store.Message{
				ChatID:  ana.ID,
				EventID: r.event(),
				Author:  policy.AuthorContact,
				Sender:  "@demo_ana:x",
				Kind:    "text",
				Body:    text,
				At:      at,
			})
			return err
		})
		return said
	}
	question := says("What does it cost?", r.now)
	var out uuid.UUID
	r.tx(func(tx store.Tx) (err error) {
		out, _, err = r.box.Queue(context.Background(), tx, outbox.Message{
			Chat:    ana,
			Purpose: policy.PurposeFollowUp,
			Text:    "Are you still there?",
			SeenID:  question,
		})
		return err
	})
	shown := r.presentDrafts()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "**Draft for Ana · WhatsApp** (a follow-up: the contact has not answered for 3 days)")
	says("Yes", r.now.Add(time.Minute))
	r.exec("delete from river.river_job where kind = 'present_draft'")
	require.NoError(t, r.admin.Drafts.PresentDraft(r.ctx, out))
	said := bodies(r.sendQueued())
	require.Contains(t, said, "is withdrawn")
	require.NotContains(t, said, "What I write instead", "nothing takes its place")
	require.Empty(t, r.sentTo(ana))
}
