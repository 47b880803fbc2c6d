package admin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

func TestHelp_ShowsAllowedCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := r.asOwner("/help")
	require.Equal(t, text(
		"**Ask me anything**, or use a command. If your app swallows `/`, type `!`.",
		"`/index` — add a document (or just send a file)",
		"`/ask do you deliver?` — answer with sources",
		"`/mode business Ana` — let me answer a chat",
		"`/drafts` — answers waiting for your approval",
		"`/why Ana` — why I answered, or didn't",
		"`/remind 2h call Ana` — set a reminder",
		"`/pause all` — stop sending, everywhere",
		"`/status` — what works, what needs you",
		"**More:** `/help documents`, `chats`, `customers`, `time`, `memory`, `agents`, `health`, `control` or `all`",
		"About one command: `/help status`",
	), first)
	for _, line := range []string{"help", "Hilfe!", "ayuda", "aide", "!help", `\/help`} {
		require.Equal(t, first, r.asOwner(line), line)
	}
	require.Equal(t, text(
		"**time**",
		"`/remind WHEN TEXT` — remind you once",
		"`/cron WHEN TEXT` — remind you again and again: every monday 9am",
		"`/jobs [number] [change]` — list or change reminders",
		"`/cancel NUMBER` — delete a reminder",
		"`/snooze [number] [when]` — postpone a reminder",
	), r.asOwner("/help time"))
	memory := r.asOwner("/help memory")
	require.True(t, strings.HasPrefix(memory, "`/memory [chat]` — my notes."), "the command of that name comes first")
	require.Contains(t, memory, "\n\n**memory**\n")
	all := r.asOwner("/help all")
	for _, c := range r.admin.Commands() {
		require.Contains(t, all, "\n`/"+c.Name, c.Name)
	}
	require.Equal(t, text(
		"You're an operator: you can look things up. Only the owner changes things.",
		"`/why Ana` — why I answered, or didn't",
		"`/remind 2h call Ana` — set a reminder",
		"`/status` — what works, what needs you",
		"**More:** `/help documents`, `chats`, `customers`, `time`, `health`, `control` or `all`",
		"About one command: `/help status`",
	), r.asOperator("/help"))
	require.NotContains(t, r.asOperator("/help all"), "/mode")
	require.Equal(t, text(
		"`/resume [all or chat]` — send again.",
		"`/resume` ends `/pause all`; chats that were paused one by one stay paused. `/resume Ana` lets me answer there at once, even if you wrote there a moment ago.",
	), r.asOwner("/help !resume"))
	require.Equal(t, "`/undo` — take back the last change.", strings.Split(r.asOwner("/help undo"), "\n")[0])
}

func TestCommand_UnknownSuggestsNearest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "There's no `/stauts`. Did you mean `/status`? `/help all` lists all commands.", r.asOwner("!Stauts now"))
	require.Contains(t, r.asOwner("/delete prices.md"), "`/docs remove NAME` deletes a document")
	require.Contains(t, r.asOwner("/list"), "`/chats`, `/docs`, `/jobs`")
	require.Equal(t, "There's no `/telegram`. `/help all` lists all commands.", r.asOwner("/telegram 2h tea"))
	require.Equal(t, "There's no `/mdoe`. `/help all` lists all commands.", r.asOperator("/mdoe"), "what one may not do is not suggested")
	require.Equal(t, "There's no `/x'**b**'`. `/help all` lists all commands.", r.asOwner("/x`**b**`"))
}

func TestOperators_OnlyLook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	for _, line := range []string{
		"/mode business Ana", "/pause all", "/resume Ana", "/name Eve", "/index x.md public", "/ask what?",
		"/help pause",
	} {
		require.Contains(t, r.asOperator(line), "Only the owner can use", line)
	}
	require.Nil(t, r.reload(ana).Mode)
	require.Zero(t, r.count("select count(*) from settings"))
	require.Empty(t, r.asOperator("good morning, shall I call her?"), "operators talk in the room")
	require.Zero(t, r.count("select count(*) from messages where answered_at is null"))

	require.Equal(t, text(
		"**Chats** (1, newest first)",
		"1 Ana · WhatsApp — silent · no message yet",
		"Reply with a number to see why I answered or kept silent there. Open until 18:15.",
	), r.asOperator("/chats"))
	require.Equal(t, "Nothing came from **Ana · WhatsApp** since I started.", r.asOperator("1"))

	r.asOwner("/mode")
	require.Contains(t, r.asOperator("1"), "Only the owner can use `/mode`", "the owner's question is not theirs to answer")
	require.Contains(t, r.asOwner("1"), "1 business", "and stays open for him")
}

func TestCommand_ReplyToChatNotice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	m := r.addMessage(ana, "a human please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	r.asOwner("/mode business")
	r.tx(func(tx store.Tx) error {
		letter := outbox.NewNotice(r.room, "🙋 Ana needs a person", outbox.Alert)
		letter.Quotes = []store.MessageID{m.ID}
		_, _, err := r.box.Queue(r.ctx, tx, letter)
		return err
	})
	told := r.sendQueued()[0].Event
	for _, line := range []string{"Yes, we deliver.", "1", "yes"} {
		require.Equal(t, "That goes to nobody: write in that chat, or in the thread of an escalation.",
			bodies(r.handle(store.Message{Body: line, RelatesTo: told})), line)
	}
	require.Nil(t, r.reload(ana).Mode)
	require.Contains(t, bodies(r.handle(store.Message{Body: "/name", RelatesTo: told})), "I am called", "a command is one anywhere")
	require.Empty(t, bodies(r.handle(store.Message{
		Body:      "I take her",
		RelatesTo: told,
		Author:    policy.AuthorOperator,
		Sender:    operator,
	})), "operators talk in the room")
}

func TestCommand_RunsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	message := r.storeCommand(store.Message{Body: "/mode silent Ana"})
	require.NoError(t, r.runJobs(message, false))
	require.Len(t, r.sendQueued(), 1)
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness) })

	require.NoError(t, r.runJobs(message, false))
	r.restart()
	require.NoError(t, r.runJobs(message, true))
	require.Empty(t, r.sendQueued())
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
}

func TestCommand_TwoWorkersRunOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	message := r.storeCommand(store.Message{Body: "/mode business Ana"})
	errs := make(chan error)
	for range 4 {
		go func() { errs <- r.runJobs(message, false) }()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
	require.Len(t, r.sendQueued(), 1)
}

func TestCommands_KeepOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	question := r.storeCommand(store.Message{Body: "a long question to a slow model"})
	pause := r.storeCommand(store.Message{Body: "/pause all"})
	resume := r.storeCommand(store.Message{Body: "/resume"})

	require.True(t, jobs.IsSnooze(r.runJobs(resume, false)), "the pause comes first")
	require.NoError(t, r.runJobs(pause, false), "it does not wait for the question")
	require.NoError(t, r.runJobs(resume, false))
	require.NoError(t, r.runJobs(question, false))
	require.Zero(t, r.count("select count(*) from settings where key = 'pause'"))
	require.Len(t, r.sendQueued(), 3)

	stuck := r.storeCommand(store.Message{Body: "/status"})
	r.exec("update messages set received_at = $2 where id = $1", stuck, noon.Add(-2*time.Minute))
	require.Contains(t, r.asOwner("/name"), "Nora", "a command that hangs does not block the room for good")
}

func TestCommand_FailureIsSaidOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.agent.err = errors.New("model on fire")
	message := r.storeCommand(store.Message{Body: "when?"})
	require.ErrorContains(t, r.runJobs(message, false), "model on fire")
	require.Empty(t, r.sendQueued(), "it may still work")
	require.NoError(t, r.runJobs(message, true))
	ref := "#" + formatInt(int64(message))
	require.Equal(t, "⚠️ **That did not work**, and nothing was changed. The log says why under "+ref+"; then try again.",
		bodies(r.sendQueued()))
	require.NoError(t, r.runJobs(message, true))
	require.Empty(t, r.sendQueued())
}

func TestVoiceNote_IsQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, words := range []string{"when do we deliver", "/pause all", "1"} {
		message := r.storeCommand(store.Message{Kind: "voice", Body: words, Code: policy.CodeTranscribed})
		require.NoError(t, r.admin.HandleCommand(r.ctx, message, false))
		require.NoError(t, r.admin.Answer(r.ctx, message, false))
		require.Equal(t, "You asked **"+words+"** in chat "+formatInt(int64(r.room.ID))+".", bodies(r.sendQueued()), "whatever it sounds like")
	}
	paused, err := store.PausedAll(r.ctx, r.st.DB())
	require.NoError(t, err)
	require.False(t, paused)
	require.Equal(t, "⚠️ It is a voice note, and I could not listen to it: nobody speaks in it.",
		bodies(r.handle(store.Message{
			Kind:   "voice",
			Body:   "[voice note]",
			Code:   policy.CodeTranscriptionFailed,
			Reason: "It is a voice note, and I could not listen to it: nobody speaks in it.",
		})))
}

func TestCommand_UnreadableKindIsExplained(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	photo := &store.Attachment{URL: "mxc://example.com/1", Name: "p.jpg"}
	require.Equal(t, "I cannot listen: no speech-to-text is set up (`speech.model` in config.yaml). Please type it.",
		bodies(r.handle(store.Message{
			Kind:       "voice",
			Body:       "[voice note]",
			Attachment: photo,
		})))
	require.Equal(t,
		"I cannot look at pictures: no model that sees them is set up (`vision.model` in config.yaml). I read text and documents.",
		bodies(r.handle(store.Message{
			Kind:       "image",
			Body:       "[photo]",
			Attachment: photo,
		})))
	require.Equal(t, "I can read text and documents so far.", bodies(r.handle(store.Message{Kind: "sticker", Body: "[sticker] :)"})))
	r.settings.ViewsPictures = true
	r.restart()
	for body, asked := range map[string]string{"[photo] What is this?": "What is this?", "[photo]": "What does this picture show?"} {
		require.Contains(t, bodies(r.handle(store.Message{Kind: "image", Body: body, Attachment: photo})), "You asked **"+asked+"**")
	}
	require.Empty(t, r.react("$whatever", "👍"), "a reaction that answers nothing is just a reaction")
}

func TestNotice_MentionsOwnerIfNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/status")
	require.Equal(t, "m.text", r.lastSent().Type)
	require.Empty(t, r.lastSent().Mentions)
	require.Equal(t, *r.room.RoomID, r.lastSent().Room)

	for topic, rings := range map[jobs.NoticeTopic]bool{
		jobs.TopicSessionReplaced: true, jobs.TopicKeysUnavailable: true,
		jobs.TopicKeysAvailable: false,
	} {
		require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: topic}))
		r.sendQueued()
		if rings {
			require.Equal(t, "m.text", r.lastSent().Type, topic)
			require.Contains(t, r.lastSent().Mentions, owner, topic)
		} else {
			require.Equal(t, "m.notice", r.lastSent().Type, topic)
			require.Empty(t, r.lastSent().Mentions, topic)
		}
	}
}

func TestCommand_UnknownMessageIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.True(t, jobs.IsPermanent(r.runJobs(4711, false)))
}

func TestCommand_PauseOvertakesQuestions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 5 {
		question := r.storeCommand(store.Message{
			ChatID: r.room.ID,
			Author: policy.AuthorOwnerClient,
			Kind:   "text",
			Body:   "what did we agree?",
			Action: policy.ActionCommand,
		})
		require.NoError(t, r.admin.HandleCommand(r.ctx, question, false))
	}
	require.Equal(t, 5, r.count("select count(*) from river.river_job where kind = 'ask' and queue = 'ask'"),
		"questions wait in a queue of their own")
	require.Contains(t, r.asOwner("/pause all"), "Everything is paused")
}

func TestHelp_IndexInTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/help index"), "Send a file here")
	r.settings.Terminal = true
	r.restart()
	help := r.asOwner("/help index")
	require.Contains(t, help, "Name a file, a folder or a pattern")
	require.NotContains(t, help, "Send a file")
}
