package admin_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// presentDrafts runs the jobs of drafts and returns what was sent.
func (r *rig) presentDrafts() []sentEvent {
	r.t.Helper()
	for r.count("select count(*) from river.river_job where kind = 'present_draft' and (args->>'at' is null or (args->>'at')::timestamptz <= $1)", r.now) > 0 {
		var job int64
		var out uuid.UUID
		require.NoError(r.t, r.st.DB().QueryRow(r.ctx, `select id, (args->>'outbox')::uuid from river.river_job
			where kind = 'present_draft' and (args->>'at' is null or (args->>'at')::timestamptz <= $1) limit 1`, r.now).Scan(&job, &out))
		r.restart()
		for range 2 { // again, after a crash
			if err := r.admin.Drafts.PresentDraft(r.ctx, out); !jobs.IsSnooze(err) {
				require.NoError(r.t, err)
			}
		}
		r.exec("delete from river.river_job where id = $1", job)
	}
	return r.sendQueued()
}

// sentTo returns what was sent to a chat.
func (r *rig) sentTo(c store.Chat) (said []string) {
	for _, h := range r.homeserver.sent {
		if h.Room == *c.RoomID {
			said = append(said, h.Body)
		}
	}
	return said
}

// addDraft adds a chat whose scheduled message was just shown as a draft.
func (r *rig) addDraft() (store.Chat, sentEvent) {
	r.t.Helper()
	ana := r.chat("Ana", "whatsapp")
	require.Equal(r.t, "**Ana · WhatsApp**: I show you here what I want to say there, and send it once you say yes.",
		r.asOwner("/delivery draft ana"))
	r.asOwner("/remind 1h --to Ana see you at seven. *Bring* cake")
	r.runUntil(2 * time.Hour)
	require.Empty(r.t, r.sentTo(ana), "it waits for a yes")
	shown := r.presentDrafts()
	require.Len(r.t, shown, 1, "shown once")
	return ana, shown[0]
}

func TestDraft_ScheduledMessageNeedsYes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	require.Equal(t, text("✏️ **Draft for Ana · WhatsApp**", "", "> see you at seven. *Bring* cake", "",
		"👍 send · reply to edit · 👎 drop · Open until Sat 21 Nov, 00:00."), shown.Body)
	require.Contains(t, shown.Mentions, owner, "it rings: it is dropped unless the owner sees it in time")
	require.Contains(t, r.asOwner("/jobs 1 history"), "done, a draft of it waits for you")
	require.Contains(t, r.asOwner("/drafts"),
		"**1 draft**, oldest first. React 👍 or 👎 on a draft, or reply to it to edit.\nAna · WhatsApp — “see you at seven. *Bring* cake”, open until Sat 21 Nov, 00:00")

	require.Contains(t, r.asOwner("yes"), "**Send this to Ana · WhatsApp?** “see you at seven. *Bring* cake”\n`yes` sends it, `no` drops it.",
		"it points at nothing")
	require.Empty(t, r.sentTo(ana))
	require.Contains(t, bodies(r.handle(store.Message{
		Body:      "👍",
		Kind:      "reaction",
		RelatesTo: shown.Event,
		Author:    policy.AuthorOperator,
		Sender:    operator,
	})), "Only the owner")
	require.Empty(t, r.sentTo(ana), "an operator's yes is none")

	require.Equal(t, "see you at seven. *Bring* cake\nSending to **Ana · WhatsApp**.", r.react(shown.Event, "👍"))
	require.Equal(t, []string{"see you at seven. *Bring* cake"}, r.sentTo(ana))
	require.Contains(t, r.asOwner("/jobs 1 history"), "done, you said yes to the draft")
	require.Equal(t, 1,
		r.count("select count(*) from outbox where chat_id = $1 and state = 'sent' and purpose = 'draft' and reason = 'You approved this text.'",
			ana.ID))

	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👍"))
	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👎"))
	r.now = r.now.Add(5 * time.Hour)
	require.Empty(t, r.presentDrafts())
	require.Len(t, r.sentTo(ana), 1)
	require.Contains(t, r.asOwner("/drafts"), "No drafts.")
}

func TestDraft_BareYesAsksWhich(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _ := r.addDraft()
	require.Empty(t, r.asOperator("yes"), "an operator's yes is none")
	require.Contains(t, r.asOwner("👍"), "**Send this to Ana · WhatsApp?**")
	require.Contains(t, r.asOwner("what is the weather?"), "You asked")
	require.Empty(t, r.sentTo(ana))
	require.Equal(t, "see you at seven. *Bring* cake\nSending to **Ana · WhatsApp**.", r.asOwner("yes"))
	require.Equal(t, []string{"see you at seven. *Bring* cake"}, r.sentTo(ana))
	require.NotContains(t, r.asOwner("yes"), "Send this")
}

// A draft may be withdrawn while it is being sent. Then the owner has read that it was not sent.
func TestDraft_WithdrawnInFlightIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	require.NoError(t, r.runJobs(r.storeCommand(store.Message{Body: "👍", Kind: "reaction", RelatesTo: shown.Event}), false))
	draft := r.queued()[0]
	r.exec("update outbox set seen_id = 1 where id = $1", draft) // a draft of an answer
	r.asOwner("/delivery shadow ana")
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error { return jobs.MarkSent(r.ctx, tx, draft, "$arrived", *ana.RoomID) }))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'notice' and args->>'topic' = $1", jobs.TopicDraftArrived))
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicDraftArrived, SubjectID: int64(ana.ID)}))
	require.Contains(t, bodies(r.sendQueued()), "**The draft for Ana · WhatsApp went out after all**")
}

// What is sent is what the owner wrote last, also where the edit comes while multis handles the message.
func TestDraft_EditedCorrectionDuringHandling(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, shown := r.addDraft()
	said := r.storeCommand(store.Message{Body: "see you at eight", RelatesTo: shown.Event})
	require.NoError(t, r.admin.HandleCommand(r.ctx, said, false))
	clock := r.time
	r.time = func() time.Time { // read after the message
		r.time = clock
		r.exec("update messages set body = 'see you at nine' where id = $1", said)
		return clock()
	}
	require.True(t, jobs.IsSnooze(r.admin.Answer(r.ctx, said, false)))
	require.Empty(t, r.sendQueued())
	require.NoError(t, r.admin.Answer(r.ctx, said, false))
	again := r.sendQueued()
	require.Len(t, again, 1)
	require.Contains(t, again[0].Body, "> see you at nine")
}

func TestDraft_ReplyChangesText(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	again := r.handle(store.Message{Body: "see you at eight", RelatesTo: shown.Event})
	require.Empty(t, r.sentTo(ana), "it is shown again first")
	require.Empty(t, r.presentDrafts(), "once")
	require.Len(t, again, 1)
	require.Contains(t, again[0].Body, "> see you at eight")
	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👍"), "the one before")
	require.Contains(t, bodies(r.handle(store.Message{Body: "\u202e!wa logout", RelatesTo: again[0].Event})),
		"That cannot go to **Ana · WhatsApp**: The bridge would", "what the gate lets out in no case")
	require.Empty(t, r.sentTo(ana))
	require.Contains(t, bodies(r.handle(store.Message{Body: "yes", RelatesTo: again[0].Event})), "Sending to **Ana · WhatsApp**")
	require.Equal(t, []string{"see you at eight"}, r.sentTo(ana))
	require.Contains(t, r.asOwner("/jobs 1 history"), "done, you said yes to the draft")

	r.asOwner("/remind 1h --to Ana never mind")
	r.runUntil(2 * time.Hour)
	shown = r.presentDrafts()[0]
	require.Equal(t, "Dropped. Nothing was sent to **Ana · WhatsApp**.", r.react(shown.Event, "👎"))
	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👍"))
	require.Len(t, r.sentTo(ana), 1)
	require.Contains(t, r.asOwner("/jobs 2 history"), "skipped, you dropped the draft")

	r.asOwner("/remind 1h --to Ana well then")
	r.runUntil(2 * time.Hour)
	shown = r.presentDrafts()[0]
	require.Contains(t, bodies(r.handle(store.Message{Body: "👎 too short", RelatesTo: shown.Event})),
		"Dropped. Nothing was sent to **Ana · WhatsApp**.", "a reason is no text for Ana")
	require.Len(t, r.sentTo(ana), 1)
}

func TestDraft_RefusedIsRewritten(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ana := r.customer("Ana")
	r.exec("update chats set delivery = 'draft' where id = $1", ana.ID)
	r.customerAsks(ana, "What does delivery cost?")
	shown := r.presentDrafts()[0]
	r.exec("delete from river.river_job where kind = 'turn'")
	said := bodies(r.handle(store.Message{Body: "👎 too formal", RelatesTo: shown.Event}))
	require.Contains(t, said, "Dropped. I'll rewrite it for **Ana · WhatsApp**")
	require.Empty(t, r.sentTo(ana))
	require.Equal(t, 1,
		r.count("select count(*) from outbox o join messages m on m.id = o.feedback_id where o.chat_id = $1 and o.code = 'draft_refused' and m.body = '👎 too formal'", ana.ID))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'turn' and args->>'chat' = $1", fmt.Sprint(ana.ID)),
		"another takes its place")
	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👍"))
	require.Empty(t, r.sentTo(ana))
}

func TestDraft_ExpiresWithNotice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	r.now = r.now.Add(4*time.Hour + time.Second)
	require.Contains(t, r.react(shown.Event, "👍"), "That question was open until 00:00.")
	require.Equal(t, "⌛ The draft for **Ana · WhatsApp** expired: not approved within 4 h.", bodies(r.presentDrafts()))
	require.Empty(t, r.presentDrafts(), "told once")
	require.Empty(t, r.sentTo(ana))
	require.Contains(t, r.asOwner("/jobs 1 history"), "skipped, nobody said yes to the draft")
}

func TestDraft_BlockedStaysOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	r.asOwner("/pause all")
	require.Equal(t, "⚠️ Can't be sent to **Ana · WhatsApp** now: Everything is paused; /resume ends it. The draft stays open.",
		r.react(shown.Event, "👍"))
	r.asOwner("/resume")
	r.react(shown.Event, "👍")
	require.Len(t, r.sentTo(ana), 1)
}

func TestDraft_DeletedQuestionIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.tx(func(tx store.Tx) error {
		if err := store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness); err != nil {
			return err
		}
		return store.SetDelivery(r.ctx, tx, ana.ID, policy.DeliveryDraft)
	})
	r.tx(func(tx store.Tx) error {
		asked, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  ana.ID,
			EventID: "$asked",
			Author:  policy.AuthorContact,
			Kind:    "text",
			Body:    "my name is Rumpelstiltskin, do you deliver?",
			At:      r.now,
			Action:  policy.ActionAnswer,
		})
		if err != nil {
			return err
		}
		out, _, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:      ana,
			Purpose:   policy.PurposeReply,
			Text:      "We deliver, Rumpelstiltskin.",
			Citations: r.citations("faq.md", "We deliver"),
			Quotes:    []store.MessageID{asked},
		})
		if err != nil {
			return err
		}
		_, err = store.MarkAnswered(r.ctx, tx, []store.MessageID{asked}, &out, policy.CodeAnswer, "")
		return err
	})
	shown := r.presentDrafts()[0]
	require.Contains(t, shown.Body,
		"**Draft for Ana · WhatsApp** (asked 18:00: “my name is Rumpelstiltskin, do you deliver?”)\n\n> [Nora] We deliver, Rumpelstiltskin.\n\nfrom faq.md: “We deliver”")
	require.Contains(t, r.asOwner("/why Ana"), "My answer is waiting for your approval")
	var retract []uuid.UUID
	r.tx(func(tx store.Tx) (err error) {
		retract, err = store.RedactMessage(r.ctx, tx, ana.ID, id.EventID("$asked"), r.now)
		return err
	})
	require.Len(t, retract, 3, "the draft, what shows it, and what explained it")
	for _, out := range retract {
		require.NoError(t, r.box.Retract(r.ctx, out))
	}
	require.Zero(t, r.count("select count(*) from outbox where content::text like '%Rumpel%' or citations::text like '%Rumpel%'"))
	require.Equal(t, "Not sent to **Ana · WhatsApp**: a message it answers or quotes was deleted.", r.react(shown.Event, "👍"))
	require.Empty(t, r.sentTo(ana))
	require.Contains(t, r.asOwner("/drafts"), "No drafts.")
}

func TestDraft_WithdrawnByDocumentChange(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	r.addDocument("hours.md", "# Parking\n\nParking costs 2 euro an hour.", policy.RolePublic)
	ana, ben := r.customer("Ana"), r.customer("Ben")
	for _, c := range []store.Chat{ana, ben} {
		r.exec("update chats set delivery = 'draft' where id = $1", c.ID)
	}
	r.customerAsks(ana, "What does delivery cost?")
	r.customerAsks(ben, "What does parking cost?")
	open := func(c store.Chat) int {
		return r.count("select count(*) from outbox where chat_id = $1 and state = 'draft'", c.ID)
	}
	found, err := r.box.HasOutdatedDrafts(r.ctx)
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, []int{1, 1}, []int{open(ana), open(ben)})

	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 7 euro within the city.", policy.RolePublic)
	found, err = r.box.HasOutdatedDrafts(r.ctx)
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, r.box.WithdrawOutdatedDrafts(r.ctx))
	require.Equal(t, []int{0, 1}, []int{open(ana), open(ben)})
	require.Equal(t, 1, r.count("select count(*) from outbox where chat_id = $1 and state = 'dropped' and code = 'draft_source'", ana.ID))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'turn' and args->>'chat' = $1", fmt.Sprint(ana.ID)),
		"another takes its place")
	found, err = r.box.HasOutdatedDrafts(r.ctx)
	require.NoError(t, err)
	require.False(t, found)
}

func TestDraft_QueuedOnesAreWithdrawn(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	r.addDocument("hours.md", "# Parking\n\nParking costs 2 euro an hour.", policy.RolePublic)
	ana, ben := r.customer("Ana"), r.customer("Ben")
	r.exec("update chats set delivery = 'draft' where id = any ($1)", []store.ChatID{ana.ID, ben.ID})
	r.customerAsks(ben, "What does parking cost?")
	r.exec(`insert into outbox overriding user value select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid()))).*
		from outbox o, generate_series(1, 450) where o.chat_id = $1 and o.state = 'draft'`, ben.ID)
	r.customerAsks(ana, "What does delivery cost?")
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 7 euro within the city.", policy.RolePublic)
	found, err := r.box.HasOutdatedDrafts(r.ctx)
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, r.box.WithdrawOutdatedDrafts(r.ctx))
	require.Zero(t, r.count("select count(*) from outbox where chat_id = $1 and state = 'draft'", ana.ID))
	require.Equal(t, 451, r.count("select count(*) from outbox where chat_id = $1 and state = 'draft'", ben.ID))
}

// Each chat has one card, however many chats there are; a newer answer is an edit of it, so that the card's history has all texts.
func TestDraft_FiftyChatsOneCardEach(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	chats := make([]store.Chat, 50)
	for i := range chats {
		chats[i] = r.customer(fmt.Sprintf("Ana%d.", i))
		r.exec("update chats set delivery = 'draft' where id = $1", chats[i].ID)
	}
	turns := r.newTurns()
	for price, question := range []string{"What does delivery cost?", "How much is the delivery?", "And the delivery costs?"} {
		r.addDocument("prices.md", fmt.Sprintf("# Delivery\n\nThe delivery costs %d euro.", 5+price), policy.RolePublic)
		for _, c := range chats {
			require.Empty(t, r.customerAsksIn(turns, c, question))
		}
		r.presentDrafts()
	}
	cards := map[id.EventID]string{}
	texts := map[id.EventID]string{}
	history := map[id.EventID][]string{}
	price := regexp.MustCompile(`costs \d euro`)
	for _, e := range r.homeserver.sent {
		var c struct {
			RelatesTo struct {
				Type  string     `json:"rel_type"`
				Event id.EventID `json:"event_id"`
			} `json:"m.relates_to"`
			New struct {
				Body string `json:"body"`
			} `json:"m.new_content"`
		}
		require.NoError(t, json.Unmarshal(e.Content, &c))
		if c.RelatesTo.Type == "m.replace" {
			texts[c.RelatesTo.Event] = c.New.Body
			history[c.RelatesTo.Event] = append(history[c.RelatesTo.Event], price.FindString(c.New.Body))
			continue
		}
		require.Contains(t, e.Body, "Draft for Ana")
		cards[e.Event] = e.Body
	}
	require.Len(t, cards, 50)
	for card, first := range cards {
		require.Contains(t, first, "The delivery costs 5 euro.")
		require.Contains(t, texts[card], "The delivery costs 7 euro.")
		require.Equal(t, []string{"costs 6 euro", "costs 7 euro"}, slices.DeleteFunc(history[card], func(price string) bool {
			return price == ""
		}))
	}
	require.Equal(t, 50, r.count("select count(*) from outbox where state = 'draft'"))
	require.Contains(t, r.asOwner("/drafts"), "**50 drafts**, oldest first.")
	require.Contains(t, r.asOwner("/drafts"), "Page 1 of 3: `/drafts 2` shows more.")
	last := r.asOwner("/drafts 3")
	require.Contains(t, last, "Ana49.")
	require.NotContains(t, last, "Page")
}

// A contact deletes the question that a card shows, and the card is deleted with it: what the contact asks next is shown
// by a new one, because clients show no edit of a deleted message.
func TestDraft_DeletedCardGetsNewCard(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana := r.customer("Ana")
	r.exec("update chats set delivery = 'draft' where id = $1", ana.ID)
	r.addDocument("prices.md", "# Delivery\n\nThe delivery costs 5 euro.", policy.RolePublic)
	turns := r.newTurns()
	require.Empty(t, r.customerAsksIn(turns, ana, "What does delivery cost?"))
	first := r.presentDrafts()
	require.Len(t, first, 1)
	var asked id.EventID
	require.NoError(t, r.st.Pool().QueryRow(r.ctx,
		"select event_id from messages where chat_id = $1 and author = 'contact' order by id desc limit 1", ana.ID).Scan(&asked))
	r.tx(func(tx store.Tx) error {
		retract, err := store.RedactMessage(r.ctx, tx, ana.ID, asked, r.now)
		require.NotEmpty(t, retract)
		return err
	})
	require.Empty(t, r.customerAsksIn(turns, ana, "How much is the delivery?"))
	r.presentDrafts()
	var shown []string
	for _, e := range r.homeserver.sent {
		if e.Event != first[0].Event && strings.Contains(string(e.Content), "How much is the delivery?") {
			shown = append(shown, string(e.Content))
		}
	}
	require.Len(t, shown, 1)
	require.NotContains(t, shown[0], "m.replace")
}

func TestDraft_CardShowsWithdrawnParts(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana := r.customer("Ana")
	r.exec("update chats set delivery = 'draft' where id = $1", ana.ID)
	r.addDocument("prices.md", "# Delivery\n\nThe delivery costs 5 euro.", policy.RolePublic)
	require.Empty(t, r.customerAsksIn(r.newTurns(), ana, "What does delivery cost?"))
	shown := r.presentDrafts()
	require.Len(t, shown, 1)
	r.handle(store.Message{Body: strings.Repeat("Many words. ", 200) + "The last words.", RelatesTo: shown[0].Event})
	r.presentDrafts()
	var out uuid.UUID
	require.NoError(t, r.st.Pool().QueryRow(r.ctx, "select id from outbox where chat_id = $1 and state = 'draft' and part_of = id",
		ana.ID).Scan(&out))
	r.say(ana, policy.AuthorOwnerPhone, owner, "I answer myself")
	require.NoError(t, r.admin.Drafts.PresentDraft(r.ctx, out))
	require.Contains(t, bodies(r.sendQueued()), "The last words.")
}

func TestDraft_ForgottenIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.addDraft()
	r.exec("update outbox set content = '{}' where chat_id = $1", ana.ID)
	r.now = r.now.Add(time.Minute)
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	r.exec("update river.river_job set args = args - 'at' where kind = 'present_draft'")
	require.Empty(t, r.presentDrafts())
	require.Zero(t, r.count("select count(*) from outbox where state = 'draft'"))
	require.Equal(t, "That draft is no longer open.", r.react(shown.Event, "👍"))
	require.Empty(t, r.sentTo(ana))
}

func TestDraft_ForgottenQuestionIsNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	before, asked := r.addGroupMessage(ana, "@ana:x", "I am Rumpelstiltskin"), r.addGroupMessage(ana, "@ana:x", "do you deliver?")
	r.tx(func(tx store.Tx) error {
		out, decision, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:    ana,
			Purpose: policy.PurposeDraft,
			Text:    "Yes, Rumpelstiltskin.",
			Draft:   true,
			Sources: []store.MessageID{before.ID, asked.ID},
		})
		require.True(t, decision.Allow, decision.Why)
		if err != nil {
			return err
		}
		_, err = store.MarkAnswered(r.ctx, tx, []store.MessageID{asked.ID}, &out, policy.CodeAnswer, "")
		return err
	})
	r.presentDrafts()
	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, ana.ID, before.EventID, r.now)
		return err
	})
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "rumpel"))
	r.now = r.now.Add(5 * time.Hour)
	require.Contains(t, bodies(r.presentDrafts()), "The question is still unanswered.")
}

func TestDraft_LostJobIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.asOwner("/delivery draft ana")
	r.asOwner("/remind 1h --to Ana see you at seven")
	r.runUntil(2 * time.Hour)
	r.exec("delete from river.river_job where kind = 'present_draft'")
	r.exec("update outbox set created_at = now() - interval '2 minutes' where state = 'draft'")
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	require.Contains(t, bodies(r.presentDrafts()), "> see you at seven")
}

// TestReaction_OfAnySkinToneCounts: telephones offer the thumb in the colour that was chosen last.
func TestReaction_OfAnySkinToneCounts(t *testing.T) {
	t.Parallel()
	for key, sent := range map[string]int{"👍🏽": 1, "👎🏿": 0} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana, shown := r.addDraft()
			r.react(shown.Event, key)
			require.Len(t, r.sentTo(ana), sent)
			a := r.requestApproval(`{"to":"ana@example.org"}`)
			r.sendQueued()
			r.react(r.lastSent().Event, key)
			now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
			require.NoError(t, err)
			require.NotNil(t, now.Allowed)
			require.Equal(t, sent == 1, *now.Allowed)
		})
	}
}
