package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// TestOrders_InPlainWords: what stops something acts at once, what changes something asks, and what shows something shows it.
func TestOrders_InPlainWords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "none"
	r.restart()
	ana := r.chat("Ana López", "whatsapp")
	luna := r.chat("Café Luna", "whatsapp")
	mode := func(c store.Chat) policy.Mode { return r.reload(c).ModeIn(r.settings.Defaults) }

	require.Contains(t, r.asOwner("cambia a Ana a business por favor"), "`/mode business Ana López`? 👍 or `yes` does it.")
	require.Equal(t, policy.ModeSilent, mode(ana), "nothing changes without a yes")
	require.Contains(t, r.asOwner("yes"), "is now business")
	require.Equal(t, policy.ModeBusiness, mode(ana))

	require.Contains(t, r.asOwner("stop answering Ana"), "Undo: `/undo`")
	require.Equal(t, policy.ModeSilent, mode(ana))
	require.Contains(t, r.asOwner("undo that please"), "`/undo`? 👍")
	require.Contains(t, r.asOwner("yes"), "is now business")
	require.Equal(t, policy.ModeBusiness, mode(ana))
	require.Contains(t, r.asOwner("antworte ana bitte nicht mehr"), "is now silent")

	require.Contains(t, r.asOwner("stop"), "**Everything is paused.**")
	require.Contains(t, r.asOwner("ok carry on"), "`/resume all`? 👍")
	require.Contains(t, r.asOwner("no"), "Nothing changed.")
	require.Contains(t, r.asOwner("/undo"), "I'm back", "a no changes nothing that could be taken back")

	require.Contains(t, r.asOwner("remind me tomorrow at 8 to feed the cat"), "⏰ **Sat 21 Nov, 08:00** — feed the cat. Set.")
	require.Contains(t, r.asOwner("remind me to water the plants every monday"), "water the plants. Set.")
	require.Contains(t, r.asOwner("what reminders do i have"), "**2 jobs**")
	require.Contains(t, r.asOwner("cuanto llevas gastado"), "Today: 0.00 EUR")
	require.Contains(t, r.asOwner("que documentos tienes"), "documents")
	require.Contains(t, r.asOwner("wer wartet noch auf antwort?"), "No open escalations.")
	require.Contains(t, r.asOwner("pourquoi t'as pas répondu à café luna"), "Nothing came from **Café Luna")
	require.Contains(t, r.asOwner("hilfe"), "/mode")

	require.Contains(t, r.asOwner("stop answering Zoe"), "I know no chat called “Zoe”")
	require.Contains(t, r.asOwner("did Ana send the invoice?"), "You asked **did Ana send the invoice?**", "a question is looked up")
	require.Contains(t, r.asOwner("pause Café Luna until tomorrow 9am"), "is paused until Sat 21 Nov, 09:00")
	require.NotNil(t, r.reload(luna).PausedUntil)
	require.Equal(t, 21, r.reload(luna).PausedUntil.In(r.settings.Zone).Day())

	r.now = r.now.Add(11 * time.Minute)
	require.Contains(t, r.asOwner("/undo"), "Nothing was changed in the last 10 min")
}

// TestOrders_PartsOfNames: a chat is named by a word of its name, with a title or without; if several have it, the owner is asked.
func TestOrders_PartsOfNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "none"
	r.restart()
	krause := r.chat("Uwe Krause", "whatsapp")
	r.chat("Ben Carter", "whatsapp")
	r.chat("Ben Webb", "whatsapp")
	r.exec("update chats set mode = 'business'")
	require.Contains(t, r.asOwner("antworte dem Herrn Krause nicht mehr"), "**Uwe Krause · WhatsApp is now silent.**")
	require.Equal(t, policy.ModeSilent, r.reload(krause).ModeIn(r.settings.Defaults))
	require.Contains(t, r.asOwner("stop answering Ben"), "**Which one?**")
	require.Zero(t, r.count("select count(*) from chats where name like 'Ben %' and mode = 'silent'"))
	require.Contains(t, r.asOwner("stop answering Ben Webb"), "**Ben Webb · WhatsApp is now silent.**")
	require.Contains(t, r.asOwner("ask Ben Webb if thursday suits him"), "`/send Ben Webb I'm late`")
	require.Contains(t, r.asOwner("forget what you know about Mr Krause"), "**Forget what I hold about “Uwe Krause”?**")
	require.Contains(t, r.asOwner("don't spend more than 5 quid a day"), "`/config set budget.per_day 5`? 👍")
	require.Contains(t, r.asOwner("samstags nur noch bis 13 Uhr"), "`/business setup hours`? 👍")
	r.asOwner("/remind 2h call the plumber")
	require.Contains(t, r.asOwner("scrap the plumber reminder"), "`/cancel 1`, “call the plumber”? 👍")
}

func TestSend_ShownThenSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	luna := r.chat("Café Luna", "whatsapp")
	r.asOwner("tell ana i'll be 10 minutes late")
	shown := r.presentDrafts()[0]
	require.Contains(t, shown.Body, "**Draft for Ana · WhatsApp**\n\n> i'll be 10 minutes late")
	require.Contains(t, r.react(shown.Event, "👍"), "Sending to **Ana · WhatsApp**")
	require.Equal(t, []string{"i'll be 10 minutes late"}, r.sentTo(ana), "unprefixed")

	require.Contains(t, r.asOwner("/send --now Café Luna: the table for four"), "Sending to **Café Luna · WhatsApp**.")
	require.Equal(t, []string{"the table for four"}, r.sentTo(luna))

	require.Contains(t, r.asOwner("write Ana happy birthday tomorrow at 8"), "✉️ **To Ana · WhatsApp, Sat 21 Nov, 08:00**\n\n> happy birthday")
	require.Contains(t, r.asOwner("yes"), "I'll send it to **Ana · WhatsApp** in your name.")
	require.Contains(t, r.asOwner("/send Zoe hello"), "I know no chat called “Zoe”")
	require.Contains(t, r.asOwner("/send"), "To whom, and what?")
}

// TestOrders_TimesInFourLanguages: reminders, pauses and later messages are set at times in the owner's language.
func TestOrders_TimesInFourLanguages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "none"
	r.restart()
	ana := r.chat("Ana", "whatsapp")
	require.Contains(t, r.asOwner("/remind 2h reunión del lunes"), "⏰ **Fri 20 Nov, 20:00** — reunión del lunes. Set.")
	require.Contains(t, r.asOwner("/jobs 1 edit morgen um 8"), "Changed: **Sat 21 Nov, 08:00**")
	for typed, want := range map[string]string{
		"erinnere mich morgen um 8 an die Milch":               "⏰ **Sat 21 Nov, 08:00** — die Milch. Set.",
		"weck mich morgen um 7":                                "⏰ **Sat 21 Nov, 07:00** — wake up. Set.",
		"recuérdame llamar al banco el lunes":                  "⏰ **Mon 23 Nov, 09:00** — llamar al banco. Set.",
		"dans 2h rappelle moi d'appeler le notaire":            "⏰ **Fri 20 Nov, 20:00** — appeler le notaire. Set.",
		"cada día a las 8 de la mañana recuérdame la pastilla": "🔁 `0 8 * * *` — la pastilla. Set.",
		"tous les lundis rappelle moi la réunion de 10h":       "🔁 `0 9 * * 1` — la réunion de 10h. Set.",
		"in ner stunde wäsche aufhängen":                       "`/remind in ner stunde wäsche aufhängen`? 👍",
		"mañana a las 8 dile a ana que salgo ya":               "✉️ **To Ana · WhatsApp, Sat 21 Nov, 08:00**\n\n> salgo ya",
		"tomorrow at 8 tell ana happy birthday":                "✉️ **To Ana · WhatsApp, Sat 21 Nov, 08:00**\n\n> happy birthday",
		"schreib ana morgen früh um 9 dass ich absage":         "✉️ **To Ana · WhatsApp, Sat 21 Nov, 09:00**\n\n> ich absage",
		"wake me up tomorrow at 7 to call Ben":                 "⏰ **Sat 21 Nov, 07:00** — call Ben. Set.",
	} {
		got := r.asOwner(typed)
		require.Contains(t, got, want, typed)
		require.Empty(t, r.sentTo(ana), typed)
	}
	for _, typed := range []string{
		"can you at least tell ana that i am late, or is it off", "every monday at 8 tell Ana good morning",
	} {
		got := r.asOwner(typed)
		require.NotContains(t, got, "✉️", typed)
		require.NotContains(t, got, "Set.", typed)
		require.Empty(t, r.presentDrafts(), typed)
	}
	require.Contains(t, r.asOwner("laisse ana tranquille jusqu'à 9h"), "is paused until Sat 21 Nov, 09:00")
	require.Contains(t, r.asOwner("mute Ana for 1h"), "is paused until Fri 20 Nov, 19:00")
	require.Contains(t, r.asOwner("mute Ana for 20 min"), "is paused until Fri 20 Nov, 18:20")
	require.Contains(t, r.asOwner("laisse ana tranquille jusqu'à 19h"), "is paused until Fri 20 Nov, 19:00")
}

// TestSend_LaterSendsWhatWasShown: no time is read in the text after the yes.
func TestSend_LaterSendsWhatWasShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	for _, said := range []string{"schönen Samstag", "bis morgen", "see you every monday", "lunes a las 8", "9:30 or tomorrow"} {
		require.Contains(t, r.asOwner("/send Ana tomorrow at 8: "+said), "> "+said, said)
		require.Contains(t, r.asOwner("yes"), "I'll send it to **Ana · WhatsApp** in your name.", said)
		require.Equal(t, 1, r.count("select count(*) from schedules where kind = 'at' and body = $1", said), said)
	}
}

// TestOrders_CancelsByWords: a reminder that is named by its words is ended after a yes.
func TestOrders_CancelsByWords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "none"
	r.restart()
	r.asOwner("/remind tomorrow 9am call the dentist")
	require.Contains(t, r.asOwner("annule le notaire"), "No reminder is about “notaire”.")
	require.Contains(t, r.asOwner("the dentist is sorted"), "`/cancel 1`, “call the dentist”? 👍")
	require.Equal(t, 1, r.count("select count(*) from schedules"))
	require.Contains(t, r.asOwner("yes"), "Cancelled: call the dentist.")
	require.Zero(t, r.count("select count(*) from schedules"))
	require.NotContains(t, r.asOwner("the dentist is sorted"), "/cancel")
	r.asOwner("/remind tomorrow 9am call Ben")
	r.asOwner("/remind tomorrow 10am call Ana")
	require.Contains(t, r.asOwner("/cancel call"), "Which one?")
	require.Contains(t, r.asOwner("/cancel ben"), "`/cancel 2` ends it.")
}

// TestOrders_CancelLeavesWhatIsNoReminder: with a model, a line that cancels something else is the model's.
func TestOrders_CancelLeavesWhatIsNoReminder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NotContains(t, r.asOwner("cancel my gym subscription"), "No reminder is about")
}

// TestForget_NamesTheChat: what is no topic but the name of a chat is deleted by another command.
func TestForget_NamesTheChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ben", "whatsapp")
	require.Contains(t, r.asOwner("/forget Ben"), "I hold nothing about that. `/forget all Ben` deletes the messages of that chat.")
}
