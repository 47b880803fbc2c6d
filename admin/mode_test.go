package admin_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// addChats adds a chat of each kind.
func (r *rig) addChats() (ana, signal, family store.Chat) {
	r.t.Helper()
	ana, signal = r.chat("Ana", "whatsapp"), r.chat("Ana", "signal")
	family = r.chat("Family", "whatsapp", func(c *store.Chat) { c.Kind = policy.KindGroup })
	bank := r.chat("Bank alerts", "telegram")
	weber := r.chat("Dr. Weber", "whatsapp", func(c *store.Chat) { c.Encryption = policy.EncryptionYes })
	maybe := r.chat("Maybe", "signal", func(c *store.Chat) { c.Encryption = policy.EncryptionUnknown })
	gone := r.chat("Gone", "signal", func(c *store.Chat) { c.ClosedReason = store.ClosedLeft })
	for i, c := range []store.Chat{ana, family, signal, bank, weber, maybe, gone} {
		r.setLastMessage(c, []time.Duration{2 * time.Minute, 3 * time.Hour, 20 * time.Hour, 3 * day, 30 * day, 31 * day, 400 * day}[i])
	}
	r.tx(func(tx store.Tx) error {
		if err := store.SetMode(r.ctx, tx, bank.ID, policy.ModeOff); err != nil {
			return err
		}
		return store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness)
	})
	return ana, signal, family
}

// addUnreadable stores a message whose key has not arrived.
func (r *rig) addUnreadable(name string) {
	r.t.Helper()
	r.exec("insert into messages (chat_id, event_id, author, sender, kind, body, parked, ts, action, code, reason) "+
		"select id, '$locked', 'contact', '@w:x', 'encrypted', '', '{}', now(), 'archive', 'encrypted', $2 from chats where name = $1", name,
		policy.CodeEncrypted.Sentence())
}

const day = 24 * time.Hour

func TestMode_ListsChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "There are no chats yet. Each appears with its first message after a bridge is logged in.", r.asOwner("/mode"))
	r.addChats()
	r.addUnreadable("Dr. Weber")
	require.Equal(t, text(
		"**Chats** (7, newest first)",
		"1 Ana · WhatsApp — **business**, answers on · 2 min ago",
		"2 Family · WhatsApp group — silent · 3 h ago",
		"3 Ana · Signal — silent · yesterday",
		"4 Bank alerts · Telegram — **off** · nothing is stored",
		"5 Dr. Weber · WhatsApp — silent · 🔒 1 message I cannot read: I am waiting for its key · 21 Oct",
		"6 Maybe · Signal — silent · 🔒 I do not know whether it is encrypted, so nothing is sent · 20 Oct",
		"7 Gone · Signal — silent · you left the room · 16 Oct 2025",
		"Reply with a number, or `/mode business` and a name. Open until 18:15.",
	), r.asOwner("/mode"))
	require.Equal(t, text(
		"**Chats** (2, newest first)",
		"1 Ana · WhatsApp — **business**, answers on · 2 min ago",
		"2 Ana · Signal — silent · yesterday",
		"Reply with a number, or `/mode business` and a name. Open until 18:15.",
	), r.asOwner("/chats ana"))
	require.Equal(t, "I know no chat called “famliy”. Did you mean **Family**? `/chats` lists them; a chat appears with its first message.",
		r.asOwner("/chats famliy"))
	require.Equal(t, "I know no chat called “zzz”. `/chats` lists them; a chat appears with its first message.", r.asOwner("/mode off zzz"))
}

func TestMode_SetByName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line, chat string
		mode             policy.Mode
		says             string
	}{
		{
			"business says from what, as whom and when not", "/mode business Bank alerts", "Bank alerts", policy.ModeBusiness,
			"**Bank alerts · Telegram is now business.** I answer what is asked there from the public documents (1), as you, marked [Nora]. " +
				"I stop for 30 min when you write there.\nRather see each answer first? `/delivery draft Bank alerts`. Stop everything at once: `/pause all`.",
		},
		{
			"no mark where the network has none, and a label picks among equal names", "/mode business ana · signal", "Ana signal",
			policy.ModeBusiness,
			"**Ana · Signal is now business.** I answer what is asked there from the public documents (1), as you. " +
				"I stop for 30 min when you write there.\nRather see each answer first? `/delivery draft Ana`. Stop everything at once: `/pause all`.",
		},
		{
			"a group answers when called", "/mode BUSINESS family", "Family", policy.ModeBusiness,
			"**Family · WhatsApp group is now business.** When somebody there calls me Nora, I answer from the public documents (1), as you, marked [Nora]. " +
				"I stop for 30 min when you write there.\nRather see each answer first? `/delivery draft Family`. Stop everything at once: `/pause all`.",
		},
		{
			"personal answers when called; the mode may come last", "/mode bank personal", "Bank alerts", policy.ModePersonal,
			"**Bank alerts · Telegram is now personal.** When somebody there calls me Nora, I answer from the public documents (1), as you, marked [Nora].\n" +
				"Rather see each answer first? `/delivery draft Bank alerts`. Stop everything at once: `/pause all`.",
		},
		{
			"silent only remembers", "/mode silent family", "Family", policy.ModeSilent,
			"**Family · WhatsApp group is now silent.** I remember, I never write.",
		},
		{
			"off stores nothing", "/mode off fam", "Family", policy.ModeOff,
			"**Family · WhatsApp group is now off.** Nothing is stored from now on, nothing is sent. What I stored before stays.",
		},
		{
			"the network may stand beside the name", "/mode personal ana signal", "Ana signal", policy.ModePersonal,
			"**Ana · Signal is now personal.** When somebody there calls me Nora, I answer from the public documents (1), as you.\n" +
				"Rather see each answer first? `/delivery draft Ana`. Stop everything at once: `/pause all`.",
		},
		{
			"what is so already is not set again", "/mode business ana whatsapp", "Ana", policy.ModeBusiness,
			"**Ana · WhatsApp is business already.** I answer what is asked there from the public documents (1), as you, marked [Nora]. " +
				"I stop for 30 min when you write there.\nRather see each answer first? `/delivery draft Ana`. Stop everything at once: `/pause all`.",
		},
		{
			"an encrypted one answers", "/mode business dr. weber", "Dr. Weber", policy.ModeBusiness,
			"**Dr. Weber · WhatsApp is now business.** I answer what is asked there from the public documents (1), as you, marked [Nora]. " +
				"I stop for 30 min when you write there.\nRather see each answer first? `/delivery draft Dr. Weber`. Stop everything at once: `/pause all`.",
		},
		{
			"one on shadow promises no answer", "/mode business ana · signal", "Ana signal", policy.ModeBusiness,
			"**Ana · Signal is now business.** I show you here what I would answer from the public documents (1), and send nothing: you answer.\nStop everything at once: `/pause all`.",
		},
		{
			"one that may be encrypted is set, and it says that nothing goes out", "/mode personal maybe", "Maybe", policy.ModePersonal,
			"**Maybe · Signal is now personal.** But I cannot answer there yet: I do not know whether its room is encrypted, so I send nothing in plain text.",
		},
		{
			"and one that is closed", "/mode business gone", "Gone", policy.ModeBusiness,
			"**Gone · Signal is now business.** But I cannot answer there yet: you left the room.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.addChats()
			r.addDocument("prices.md", "# Prices\n\nA fence costs 480 EUR.\n", policy.RolePublic)
			r.addDocument("secret.md", "# Secret\n\nThe fence costs us 200 EUR.\n", policy.RoleAdmin)
			if strings.Contains(test.says, "would answer") {
				require.NotEmpty(t, r.asOwner("/delivery shadow ana · signal"))
			}
			require.Equal(t, test.says, r.asOwner(test.line))
			require.Equal(t, 1,
				r.count("select count(*) from chats where lower(name || case when protocol = 'signal' and name = 'Ana' then ' signal' else '' end) = lower($1) and mode = $2",
					test.chat, test.mode))
		})
	}
}

func TestMode_BusinessWarnsWithoutDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	require.Contains(t, r.asOwner("/mode business ana"), "(0), as you, marked [Nora]. I stop for 30 min when you write there.\n"+
		"There is no public document yet, so I escalate every question to you. Send me one here: `/help index`.\n")
	r.asOwner("/pause ana")
	require.Contains(t, r.asOwner("/mode business ana"), "This chat is paused now: I begin after `/resume Ana`.")
	r.asOwner("/pause")
	require.Contains(t, r.asOwner("/mode business ana"), "Everything is paused now: I begin after `/resume`.")
	require.Contains(t, r.asOwner("/mode"), "1 Ana · WhatsApp — **business**, paused · no message yet")
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
}

func TestChatName_EqualNamesAsk(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, signal, _ := r.addChats()
	require.Equal(t, text(
		"**Which one?** 2 chats with “ana”:",
		"1 Ana · WhatsApp — **business**, answers on · 2 min ago",
		"2 Ana · Signal — silent · yesterday",
		"Reply with a number to make it **personal**. Open until 18:15.",
	), r.asOwner("/mode personal ana"))
	require.Nil(t, r.reload(signal).Mode)
	r.restart()
	require.Contains(t, r.asOwner("2"), "**Ana · Signal is now personal.**", "it knows the question after a restart")
	require.Equal(t, policy.ModePersonal, *r.reload(signal).Mode)
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
	require.Equal(t, whichQuestion, r.asOwner("2"), "the question is answered; a number means nothing now")

	require.Contains(t, r.asOwner("/mode off weber"), "**Which one?** 1 chat with “weber”:", "a part of a name is not enough to be sure")
}

func TestChatList_NumbersStayStable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 25 {
		r.setLastMessage(r.chat(fmt.Sprintf("Guest %d", i+1), "whatsapp"), time.Duration(i+1)*time.Minute)
	}
	first := r.asOwner("/mode")
	require.True(t, strings.HasPrefix(first, "**Chats** (10 of 25, newest first)\n1 Guest 1 · WhatsApp"), first)
	require.True(t, strings.HasSuffix(first,
		"\n10 Guest 10 · WhatsApp — silent · 10 min ago\nReply with a number, or `/mode business` and a name. `more` or ➡️ shows the next. Open until 18:15."), first)
	require.Equal(t, "I showed 1 to 10. Which one?", r.asOwner("11"))
	list := r.homeserver.sent[0].Event

	second := r.react(list, "➡️")
	require.True(t, strings.HasPrefix(second, "**Chats** (11 to 20 of 25, newest first)\n11 Guest 11 · WhatsApp"), second)
	page := r.lastSent().Event
	require.Equal(t, "That question is closed.", r.react(list, "➡️"), "the first page was turned already")
	require.Empty(t, r.react(list, "👍"), "a thumb is just a thumb there")
	require.Contains(t, r.react(page, "3️⃣"), "Guest 13 · WhatsApp — silent", "a reaction counts on its own page")
	require.Contains(t, r.asOwner("off"), "**Guest 13 · WhatsApp is now off.**")

	r.asOwner("/mode")
	r.asOwner("more")
	require.Contains(t, r.asOwner("more"), "**Chats** (21 to 25 of 25, newest first)")
	require.Equal(t, "That was all of them.", r.asOwner("more"))
	require.Contains(t, r.asOwner("2"), "Guest 2 · WhatsApp — silent", "a number means what it meant when it was shown")
	require.Equal(t, "1 to 4, please: business, personal, silent or off.", r.asOwner("5"))
	require.Contains(t, r.asOwner("3"), "**Guest 2 · WhatsApp is now silent.**")
}

func TestChatList_PageExplainsNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 12 {
		r.setLastMessage(r.chat(fmt.Sprintf("Guest %d", i+1), "whatsapp"), time.Duration(i+1)*time.Minute)
	}
	require.Contains(t, r.asOwner("/mode business"), "Reply with a number to make it **business**. `more` or ➡️ shows the next.")
	require.Contains(t, r.asOwner("more"), "Reply with a number to make it **business**.")
	require.Contains(t, r.asOwner("11"), "**Guest 11 · WhatsApp is now business.**")
	require.Contains(t, r.asOwner("/pause guest"), "Reply with a number to pause it.")
	require.Contains(t, r.asOwner("/resume guest"), "Reply with a number to let me answer there.")
	require.Contains(t, r.asOwner("/import guest"), "Reply with a number to read what was said there.")
}

func TestMode_SuggestsNearest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	require.Equal(t, "Did you mean `/mode business Dr. Weber`?", r.asOwner("/mode bussiness Dr. Weber"))
	require.Equal(t, "Did you mean `/mode silent bank`?", r.asOwner("/mode bank silnet"))
	require.Contains(t, r.asOwner("/mode bussiness Otto"), "I know no chat called “bussiness Otto”.")
	r.chat("Ben `x`\u202e", "signal")
	require.Contains(t, r.asOwner("/mode silent Ben 'x'"), "is now silent", "a name as it was shown")
	require.Contains(t, r.asOwner("/why bussiness Ana"), "I know no chat called “bussiness Ana”.")
}

func TestChatList_SaysWhyQuiet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.asOwner("/mode business ana")
	r.exec("update chats set owner_last_at = $2 where id = $1", ana.ID, noon.Add(-10*time.Minute))
	require.Contains(t, r.asOwner("/mode"), "1 Ana · WhatsApp — **business**, quiet until 18:20 · no message yet")
	require.Contains(t, r.asOwner("/resume ana"), "I answer again")
	require.Contains(t, r.asOwner("/mode"), "1 Ana · WhatsApp — **business**, answers on · no message yet")
	m := r.addMessage(ana, "a human please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	r.tx(func(tx store.Tx) error {
		_, err := store.OpenEscalation(r.ctx, tx, ana.ID, m.ID, "It asks for a person.", nil)
		return err
	})
	require.Contains(t, r.asOwner("/mode"), "1 Ana · WhatsApp — **business**, answers on, waits for you")
}

func TestMode_PickAsksForMode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	r.exec("update chats set mode_set_at = $1 where id = $2", noon.Add(-26*time.Hour), ana.ID)
	r.asOwner("/mode")
	require.Equal(t, text(
		"Ana · WhatsApp — **business**, answers on · 2 min ago (set by you, Thu 19 Nov, 16:00)",
		"1 business: I answer from the public documents",
		"2 personal: I answer when called Nora",
		"3 silent: I remember, I never write",
		"4 off: nothing is stored, nothing is sent",
		"Reply with a number. Open until 18:15.",
	), r.asOwner("1."))
	require.Contains(t, r.asOwner("what is silent about it?"), "You asked **what is silent about it?**", "other text is an ordinary question")
	require.Equal(t, "**Ana · WhatsApp is now off.** Nothing is stored from now on, nothing is sent. What I stored before stays.",
		r.react(r.homeserver.sent[1].Event, "4️⃣"))
	require.Contains(t, r.asOwner("/mode business"), "**Which chat becomes business?**\n**Chats** (7, newest first)")
	require.Contains(t, r.asOwner("3"), "**Ana · Signal is now business.**")
	require.Contains(t, r.asOwner("/mode ana · signal"), "Ana · Signal — **business**, answers on · yesterday (set by you, ")
}

const whichQuestion = "Which question? Reply to the one you mean, or send the command again."

func TestQuestion_NumberAnswersNewest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// between lies between the first question, "/mode", and the number.
		between func(r *rig)
		says    string
	}{
		{"a newer one is answered", func(r *rig) { r.asOwner("/mode business ana"); r.asOwner("2") }, whichQuestion},
		{"a newer one is put aside", func(r *rig) { r.asOwner("/mode business ana"); r.asOwner("cancel") }, whichQuestion},
		{"a newer one about a file is answered", func(r *rig) { r.sendFile("prices.md", prices, ""); r.asOwner("2") }, whichQuestion},
		{"a file came that was not asked about", func(r *rig) { r.sendFile("big.md", strings.Repeat("x", 11<<20), "") }, whichQuestion},
		{"a file was indexed by a command", func(r *rig) { r.sendFile("prices.md", prices, "/index admin") }, whichQuestion},
		{"it is answered itself", func(r *rig) { r.asOwner("1"); r.asOwner("0") }, whichQuestion},
		{"a question to the assistant came", func(r *rig) { r.asOwner("what is silent?") }, "1 business: I answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.addChats()
			r.asOwner("/mode")
			list := r.lastSent().Event
			test.between(r)
			modes := r.modesSetByHand()
			require.Contains(t, r.asOwner("1"), test.says)
			require.Equal(t, modes, r.modesSetByHand(), "nothing changed")
			if test.name != "it is answered itself" && test.says == whichQuestion {
				require.Contains(t, bodies(r.handle(store.Message{Body: "2", RelatesTo: list})), "Family · WhatsApp group — silent",
					"a reply may answer the older one")
			}
		})
	}
}

// modesSetByHand lists the modes of all chats that were set by hand.
func (r *rig) modesSetByHand() string {
	r.t.Helper()
	var all string
	require.NoError(r.t, r.st.DB().QueryRow(r.ctx,
		"select coalesce(string_agg(id || ' ' || mode, ',' order by id), '') from chats where mode is not null").Scan(&all))
	return all
}

func TestQuestion_ExpiredHidesOlder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	r.asOwner("/mode business ana")
	r.asOwner("/mode")
	r.exec("update dialogs set expires_at = $1 where id = (select max(id) from dialogs)", noon)
	require.Equal(t, "That question was open until 18:00. Send `/mode` again.", r.asOwner("1"))
}

func TestQuestion_CanBeCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	for _, word := range []string{"no", "cancel", "0"} {
		r.asOwner("/mode")
		require.Equal(t, "Left as it was.", r.asOwner(word))
		require.Zero(t, r.count("select count(*) from dialogs where done_at is null"))
	}
	require.Contains(t, r.asOwner("no"), "`/help`", "nothing is left to be put aside")
	r.asOwner("/mode")
	list := r.lastSent().Event
	require.Equal(t, "Left as it was.", r.react(list, "❌"))
	require.Empty(t, r.react(list, "❌"))
	r.asOwner("/mode")
	require.Empty(t, r.asOperator("no"), "operators talk to each other")
	require.Equal(t, 1, r.count("select count(*) from dialogs where done_at is null"))
}

func TestQuestion_AsksAgainAfterModeChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, family := r.addChats()
	r.asOwner("/mode family")
	asked := r.lastSent().Event
	r.asOwner("/mode off family")
	r.exec("update chats set mode_set_at = $1 where id = $2", noon, family.ID)
	again := r.react(asked, "1️⃣")
	require.Contains(t, again,
		"**The mode has changed since I asked.** Please choose again. Family · WhatsApp group — **off** · nothing is stored (set by you, 18:00)\n1 business")
	require.Equal(t, policy.ModeOff, *r.reload(family).Mode)
	require.Contains(t, r.asOwner("1"), "**Family · WhatsApp group is now business.**", "now it is known what it was")

	r.asOwner("/mode business")
	list := r.lastSent().Event
	r.asOwner("/mode off ana whatsapp")
	require.Contains(t, r.react(list, "1️⃣"), "**The mode has changed since I asked.**")
	require.Equal(t, policy.ModeOff, *r.reload(ana).Mode)
}

func TestQuestion_FilesQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sendFile("one.md", prices, "")
	r.sendFile("two.md", prices, "")
	require.Equal(t, "**two.md** is not indexed.", r.asOwner("3"))
	require.Equal(t, "**one.md** is not indexed.", r.asOwner("skip"))
	require.Equal(t, whichQuestion, r.asOwner("1"))
}

func TestQuestion_ExpiryIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	r.asOwner("/mode")
	list := r.lastSent().Event
	r.now = r.now.Add(16 * time.Minute)
	require.Equal(t, "That question was open until 18:15. Send `/mode` again.", r.asOwner("1"))
	require.Equal(t, "That question was open until 18:15. Send `/mode` again.", r.react(list, "1️⃣"))
	r.now = r.now.Add(25 * time.Hour)
	require.Contains(t, r.asOwner("1"), "You asked **1**", "a day later a number is a number")
	require.Equal(t, "That question is closed.", r.react(list, "1️⃣"))
}

func TestQuestion_ReplyAnswersItsQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addChats()
	r.asOwner("/mode business ana")
	which := r.lastSent().Event
	r.asOwner("/mode")
	got := bodies(r.handle(store.Message{Body: "2", Kind: string(bridgebridge.Text), RelatesTo: which}))
	require.Contains(t, got, "**Ana · Signal is now business.**")
	again := bodies(r.handle(store.Message{Body: "1", RelatesTo: which}))
	require.Equal(t, "That question is closed.", again, "what points to one question never answers another")
	require.Contains(t, r.asOwner("2"), "Family · WhatsApp group", "the other question is still open")
}

func TestQuestion_AnswerCountsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, signal, _ := r.addChats()
	r.asOwner("/mode off ana")
	which := r.lastSent().Event
	first, second := r.storeCommand(store.Message{Body: "1", RelatesTo: which}), r.storeCommand(store.Message{Body: "2", RelatesTo: which})
	// So old that the order of commands no longer keeps them apart: only the question itself does.
	r.exec("update messages set received_at = $1", noon.Add(-time.Hour))
	errs := make(chan error)
	for _, m := range []store.MessageID{first, second} {
		go func() { errs <- r.runJobs(m, false) }()
	}
	for range 2 {
		if err := <-errs; err != nil {
			require.True(t, jobs.IsSnooze(err), "the slower one is told to look again")
		}
	}
	changed := 0
	for _, c := range []store.Chat{r.reload(ana), r.reload(signal)} {
		if c.Mode != nil && *c.Mode == policy.ModeOff {
			changed++
		}
	}
	require.Equal(t, 1, changed)
	require.NoError(t, r.runJobs(first, false))
	require.NoError(t, r.runJobs(second, false))
	require.Zero(t, r.count("select count(*) from messages where answered_at is null"))
	require.Contains(t, bodies(r.sendQueued()), "That question is closed.", "the second one is told")
}

func TestChatName_InvisibleIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec("delete from chats where id <> (select min(id) from chats)")
	require.Equal(t, "In that name of a chat there is nothing that can be seen. `/chats` lists them.", r.asOwner("/audit \u200b\u200d\u2060"))
}
