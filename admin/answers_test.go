package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent"
	"multis/agent/persona"
	"multis/business/catalog"
	"multis/business/hours"
	"multis/knowledge/search"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// newDesk returns an admin room with business chats that are answered from documents, without a model.
func newDesk(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.time = time.Now // the agent and the database have a clock of their own
	r.now = time.Now()
	return r
}

// customer adds a business chat.
func (r *rig) customer(name string) store.Chat {
	r.t.Helper()
	c := r.chat(name, "whatsapp")
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, c.ID, policy.ModeBusiness) })
	return r.reload(c)
}

// newTurns returns the turns of an agent without a model.
func (r *rig) newTurns() *agent.Turns {
	return agent.New(agent.Options{
		Store:    r.st,
		Box:      r.box,
		Search:   search.New(r.st),
		Personas: persona.Set{Model: llm.None{}},
		Name:     "Nora",
		Answers:  r.book,
		Language: catalog.English,
		Zone:     time.UTC,
		Defaults: r.settings.Defaults,
	}).Turns
}

// customerAsks stores a question of a customer, has it answered, and returns what was sent to the chat since.
func (r *rig) customerAsks(c store.Chat, question string) []string {
	r.t.Helper()
	return r.customerAsksIn(r.newTurns(), c, question)
}

// customerAsksIn is customerAsks with turns that are used again.
func (r *rig) customerAsksIn(turns *agent.Turns, c store.Chat, question string) []string {
	r.t.Helper()
	r.say(c, policy.AuthorContact, "@whatsapp_1:example.com", question)
	before := len(r.sentTo(c))
	require.NoError(r.t, turns.Turn(r.ctx, c.ID, fmt.Sprint("job", r.events), false))
	r.sendQueued()
	return r.sentTo(c)[before:]
}

// say stores a message in a chat.
func (r *rig) say(c store.Chat, author policy.Author, sender id.UserID, body string) store.MessageID {
	r.t.Helper()
	m := store.Message{
		ChatID:  c.ID,
		EventID: r.event(),
		Author:  author,
		Sender:  sender,
		Kind:    "text",
		Body:    body,
		At:      time.Now(),
		Action:  policy.ActionArchive,
		Code:    policy.CodeOwnerWrote,
	}
	if author == policy.AuthorContact {
		m.Action, m.Code = policy.ActionAnswer, policy.CodeAnswer
	}
	var row store.MessageID
	r.tx(func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(r.ctx, tx, m)
		return err
	})
	return row
}

// findAnswers looks for answers of people as the periodic job does, a while later, and returns what was posted.
func (r *rig) findAnswers() []sentEvent {
	r.t.Helper()
	r.time = func() time.Time { return time.Now().Add(30 * time.Second) }
	require.NoError(r.t, r.admin.Answers.FindAnswers(r.ctx))
	require.NoError(r.t, r.admin.Answers.FindAnswers(r.ctx), "as it may be repeated")
	return r.sendQueued()
}

const toldTeam = "[Nora] Let me check with the team and get back to you."

func TestLearn_AnswersNextCustomer(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana, ben := r.customer("Ana"), r.customer("Ben")
	require.Equal(t, []string{toldTeam}, r.customerAsks(ana, "Do you deliver pianos to Potsdam?"))
	require.Empty(t, r.findAnswers(), "nobody answered yet")
	r.say(ana, policy.AuthorOwnerPhone, owner, "Yes Ana, a delivery to Potsdam costs 90 euro. Call 030 1234567 for a date.")
	shown := r.findAnswers()
	require.Len(t, shown, 1, "the owner is asked once")
	require.Contains(t, shown[0].Body, "Save this answer?")
	require.Contains(t, shown[0].Body, "Question: Do you deliver pianos to Potsdam?")
	require.Contains(t, shown[0].Body, "> Yes ~~Ana~~, a delivery to Potsdam costs 90 euro. Call ~~030 1234567~~ for a date.")
	require.Contains(t, shown[0].Body, "What is struck out looks personal and is left out.")

	require.Contains(t, bodies(r.handle(store.Message{Body: "public", RelatesTo: shown[0].Event})), "customers are answered from it as well")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'publish_answers'"))
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	said := r.customerAsks(ben, "Do you deliver pianos to Potsdam?")
	require.Len(t, said, 1)
	require.Contains(t, said[0], "a delivery to Potsdam costs 90 euro")
	require.Contains(t, said[0], "(from Answers)")
	require.NotContains(t, said[0], "1234567")
	require.Contains(t, r.react(shown[0].Event, "👍"), "closed")
	require.Equal(t, 0, r.count("select count(*) from unanswered_questions where question <> '' or answer <> ''"),
		"the texts are in the document only")

	cid := r.customer("Cid")
	r.customerAsks(cid, "Can I talk to a person?")
	r.exec("update escalations set message_id = $2 where chat_id = $1", cid.ID,
		r.say(cid, policy.AuthorContact, "@c:x", "Do you deliver pianos to Potsdam"))
	r.say(cid, policy.AuthorOperator, operator, "Yes, since January it costs 120 euro.")
	shown = r.findAnswers()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "Has this changed?")
	require.Contains(t, shown[0].Body, "So far: “Yes …, a delivery to Potsdam costs 90 euro")
	require.Contains(t, r.react(shown[0].Event, "👍"), "customers are answered from it as well", "what was public stays so")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Contains(t, r.customerAsks(r.customer("Dan"), "Do you deliver pianos to Potsdam?")[0], "120 euro")
}

// personAnswers has a customer ask for a person with a question, and an operator answer it. It returns what the owner is asked about it.
func (r *rig) personAnswers(name, question, said string) []sentEvent {
	r.t.Helper()
	c := r.customer(name)
	r.customerAsks(c, "Can I talk to a person?")
	r.exec("update escalations set message_id = $2, cause = 'person' where chat_id = $1", c.ID,
		r.say(c, policy.AuthorContact, "@c:x", question))
	r.say(c, policy.AuthorOperator, operator, said)
	return r.findAnswers()
}

func TestCorrection_ProposedByContradiction(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.\n\n# Parking\n\nParking costs 2 euro an hour.",
		policy.RolePublic)
	ben := r.customer("Ben")
	r.exec("update chats set delivery = 'draft' where id = $1", ben.ID)
	r.customerAsks(ben, "What does delivery cost?")

	require.Empty(t, r.personAnswers("Eve", "What does delivery cost?", "It costs 5 euro in the city."), "as the document says")
	require.Empty(t, r.personAnswers("Fay", "What does delivery cost?", "We come at 18:00."), "that is no price")
	shown := r.personAnswers("Ana", "What does delivery cost?", "Since May it is 7 euro.")
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body,
		"📚 **Has this changed?** Ana · WhatsApp was answered differently than prices.md says.\nQuestion: What does delivery cost?\nprices.md: “Delivery costs 5 euro within the city.”\n\n> Since May it is 7 euro.")
	require.Contains(t, shown[0].Body, "👍 from now on customers get the new answer, and prices.md is not quoted on this any more")
	require.Empty(t, r.personAnswers("Gil", "And what does delivery cost?", "That is 7 euro."), "he is asked already")
	require.Contains(t, r.customerAsks(r.customer("Hal"), "What does delivery cost?")[0], "5 euro", "nothing changes without his yes")

	require.Contains(t, r.react(shown[0].Event, "👍"), "Correct prices.md when you can")
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Ian"), "How much does a delivery cost?"), "neither, before it is written")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	for _, question := range []string{
		"What does delivery cost?", "How much does a delivery cost?",
		"Delivery within the city costs how much?",
	} {
		require.Equal(t, []string{"[Nora] Since May it is 7 euro. (from Answers)"}, r.customerAsks(r.customer("Jim"), question), question)
	}
	require.Contains(t, r.customerAsks(r.customer("Kay"), "What does parking cost?")[0], "2 euro", "the rest of the document is quoted")
	require.NoError(t, r.box.WithdrawOutdatedDrafts(r.ctx))
	require.Equal(t, 1, r.count("select count(*) from outbox where chat_id = $1 and state = 'dropped' and code = 'draft_source'", ben.ID),
		"an open draft of the old price is withdrawn")
	require.Empty(t, r.personAnswers("Lou", "What does delivery cost?", "It is 7 euro."))

	shown = r.personAnswers("Max", "What does delivery cost?", "It is 9 euro now.")
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "than your document \"Answers\" says.")
	r.react(shown[0].Event, "👍")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Contains(t, r.customerAsks(r.customer("Ned"), "What does delivery cost?")[0], "9 euro now")
}

func TestCorrection_EndsWithDocumentChange(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	prices := func(text string) { r.addDocument("prices.md", "# Delivery\n\n"+text, policy.RolePublic) }
	correct := func() {
		shown := r.personAnswers("Ana", "What does delivery cost?", "It is 7 euro.")
		require.Len(t, shown, 1)
		r.react(shown[0].Event, "👍")
		require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	}
	prices("Delivery costs 5 euro within the city.")
	correct()
	prices("Delivery costs 5 euro within the city. Ask us about abroad.")
	has, err := r.admin.Answers.HasAnswers(r.ctx)
	require.NoError(t, err)
	require.False(t, has, "the sentence still stands there")
	require.Contains(t, r.customerAsks(r.customer("Ben"), "What does delivery cost?")[0], "7 euro")

	prices("Delivery costs 8 euro within the city.")
	told := r.findAnswers()
	require.Len(t, told, 1)
	require.Contains(t, told[0].Body, "prices.md no longer says “Delivery costs 5 euro within the city.”, and answers the question itself.")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Contains(t, r.customerAsks(r.customer("Cid"), "What does delivery cost?")[0], "8 euro")

	r.exec("delete from unanswered_questions")
	correct()
	prices("Ask us about the delivery.")
	require.Contains(t, bodies(r.findAnswers()), "is now one like others: `/answers remove L2` deletes it.")
	require.Contains(t, r.customerAsks(r.customer("Dan"), "What does delivery cost?")[0], "7 euro")
	require.Contains(t, r.asOwner("/answers learned"), "`L2` What does delivery cost? — “It is 7 euro.” (for customers)")
	require.Equal(t, "Deleted.", r.asOwner("/answers remove l2"))
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Eve"), "What does delivery cost?"))
}

func TestAnswer_IsPrivateByDefault(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana := r.customer("Ana")
	r.customerAsks(ana, "Do you rent out tents?")
	r.say(ana, policy.AuthorOwnerClient, owner, "We do, ask me again in May.")
	shown := r.findAnswers()
	require.Len(t, shown, 1)
	again := r.handle(store.Message{Body: "We rent out tents from May to August.", RelatesTo: shown[0].Event})
	require.Len(t, again, 1)
	require.Contains(t, again[0].Body, "> We rent out tents from May to August.")
	require.Contains(t, r.react(again[0].Event, "👍"), "only for you")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Equal(t, 1, r.count("select count(*) from documents where origin = 'answers:private' and role = 'admin'"))
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Ben"), "Do you rent out tents?"))
}

func TestLearn_SkipsDeclinedAndDeleted(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana, ben := r.customer("Ana"), r.customer("Ben")
	r.customerAsks(ana, "Do you rent out tents?")
	r.say(ana, policy.AuthorOwnerClient, owner, "No.")
	shown := r.findAnswers()
	require.Contains(t, r.react(shown[0].Event, "👎"), "Left out.")
	r.customerAsks(ben, "do you rent out tents")
	r.say(ben, policy.AuthorOwnerClient, owner, "No.")
	require.Empty(t, r.findAnswers(), "he has declined it")

	cid := r.customer("Cid")
	r.customerAsks(cid, "Where can I buy violins?")
	m := r.say(cid, policy.AuthorOwnerClient, owner, "Nowhere near.")
	shown = r.findAnswers()
	require.Len(t, shown, 1)
	r.tx(func(tx store.Tx) error {
		_, err := store.Forget(r.ctx, tx, store.DeletionSet{Messages: []store.MessageID{m}}, time.Now())
		return err
	})
	require.Contains(t, r.react(shown[0].Event, "👍"), "was changed or deleted")
	require.Equal(t, 0, r.count("select count(*) from learned_answers"))
}

func TestCannedAnswer_PrecedesDocuments(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("house.md", "# Parking\n\nThe parking costs 2 euro an hour.", policy.RolePublic)
	require.Contains(t, r.asOwner("/answers"), "There are none yet")
	require.Contains(t, r.asOwner("/answers add Is there parking? = Hello {name}, two places behind the house, {hours}."),
		"A customer reads: “Hello Ana, two places behind the house, Monday-Friday 9-17.”")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	ana := r.customer("Ana")
	require.Equal(t, []string{"[Nora] Hello Ana, two places behind the house, Monday-Friday 9-17."},
		r.customerAsks(ana, "Is there any parking?"))
	require.Contains(t, r.asOwner("/why Ana"), "your answer 1: Is there parking?")
	require.Equal(t, []string{"[Nora] Hello, two places behind the house, Monday-Friday 9-17."},
		r.customerAsks(r.customer("free 1 euro"), "Is there any parking?"))
	text, err := r.book.ByNumber(r.ctx, 1, "Tom")
	require.NoError(t, err)
	require.Equal(t, "Hello Tom, two places behind the house, Monday-Friday 9-17.", text)
	_, err = r.book.ByNumber(r.ctx, 2, "Tom")
	require.ErrorIs(t, err, store.ErrNotFound)

	require.Contains(t, r.asOperator("/answers"), "`1` Is there parking?")
	require.Contains(t, r.asOperator("/answers remove 1"), "Only the owner can use")
	require.Contains(t, r.asOwner("/answers add is there parking? = No."), "That question has an answer")
	require.Contains(t, r.asOwner("/answers add parking"), "Write the question")
	require.Contains(t, r.asOwner("/answers add Are you open? = {hours} {NAME}"), "There is no variable `{NAME}`")
	require.Contains(t, r.asOwner("/answers remove 7"), "Which one?")
	require.Contains(t, r.asOwner("/answers remove 1"), "Deleted.")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Contains(t, r.customerAsks(ana, "What does the parking cost?")[0], "2 euro")
	require.Equal(t, 0, r.count("select count(*) from documents where origin = 'answers:canned'"))
}

func TestCorrection_ProposedWithoutEscalation(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("house.md", "# Sundays\n\nWe deliver on Sundays.\n\n# Prices\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ana := r.customer("Ana")
	require.Contains(t, r.customerAsks(ana, "Do you deliver on Sundays?")[0], "We deliver on Sundays.")
	r.say(ana, policy.AuthorOwnerPhone, owner, "Sorry Ana, no: we stopped that in May.")
	shown := r.findAnswers()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body,
		"📚 **Has this changed?** Ana · WhatsApp was answered differently than house.md says.\nQuestion: Do you deliver on Sundays?\nhouse.md: “We deliver on Sundays.”")
	require.Contains(t, r.react(shown[0].Event, "👍"), "Correct house.md when you can")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Contains(t, r.customerAsks(r.customer("Ben"), "Do you deliver on Sundays?")[0], "we stopped that in May")

	cid := r.customer("Cid")
	r.customerAsks(cid, "Can I talk to a person?")
	r.exec("update escalations set cause = 'person' where chat_id = $1", cid.ID)
	r.say(cid, policy.AuthorOwnerClient, owner, "Hello, here I am.")
	r.exec("update messages set code = 'owner_active', action = 'archive' where id = $1",
		r.say(cid, policy.AuthorContact, "@c:x", "What does delivery cost?"))
	r.say(cid, policy.AuthorOperator, operator, "It is 7 euro.")
	shown = r.findAnswers()
	require.Len(t, shown, 1, "a later line of an escalation")
	require.Contains(t, shown[0].Body, "house.md: “Delivery costs 5 euro within the city.”\n\n> It is 7 euro.")
	require.Contains(t, r.react(shown[0].Event, "👎"), "Left out.")

	for name, said := range map[string]string{
		"Dan": "It is 7 euro.", "Eve": "5 euro in the city.", "Fay": "For you it is 3 euro.",
		"Gus": "That is on our page.",
	} {
		c := r.customer(name)
		r.say(c, policy.AuthorContact, "@c:x", "What does delivery cost?")
		r.say(c, policy.AuthorOwnerPhone, owner, said)
		require.Empty(t, r.findAnswers(), "%s: he was asked, or it is none", said)
	}
	friend := r.customer("Hal")
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, friend.ID, policy.ModePersonal) })
	r.say(friend, policy.AuthorContact, "@c:x", "Do you deliver on Sundays?")
	r.say(friend, policy.AuthorOwnerPhone, owner, "Yes.")
	require.Empty(t, r.findAnswers(), "that is no business chat")
	require.Zero(t,
		r.count("select count(*) from unanswered_questions where state = 'known' and question_id is not null and question || answer || person <> ''"), "no text is kept of what changes nothing")
	has, err := r.admin.Answers.HasAnswers(r.ctx)
	require.NoError(t, err)
	require.False(t, has, "all were looked at")
}

func TestCorrection_SparesOtherSentences(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md",
		"# Delivery\n\nWe deliver Tuesday to Friday between 7 and 11. Delivery costs 3 EUR.\n\n# Parking\n\nThere are two places behind the house.", policy.RolePublic)
	shown := r.personAnswers("Ana", "What does delivery cost?", "Delivery costs 5 EUR.")
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "prices.md: “Delivery costs 3 EUR.”")
	require.Empty(t, r.personAnswers("Gil", "And what does delivery cost?", "Delivery costs 5 EUR."), "he is asked already")
	r.react(shown[0].Event, "👍")
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Equal(t, []string{"[Nora] Delivery costs 5 EUR. (from Answers)"}, r.customerAsks(r.customer("Ben"), "What does delivery cost?"))
	for _, question := range []string{"How much is delivery?", "How much do you charge for a delivery?"} {
		require.Equal(t, []string{"[Nora] Delivery costs 5 EUR. (from Answers)"}, r.customerAsks(r.customer("Fay"), question), question)
	}
	for name, question := range map[string]string{"Ida": "When do you deliver?", "Jan": "On which days do you deliver?"} {
		require.Equal(t, []string{"[Nora] We deliver Tuesday to Friday between 7 and 11. (from prices.md)"},
			r.customerAsks(r.customer(name), question), "the other sentence still holds")
	}
	require.Contains(t, r.asOwner("/why Ida"), "The rest of the passage answers this question.")
	for _, question := range []string{
		"When do you deliver?", "On which days do you deliver?",
		"When do you deliver, and what does delivery cost?",
	} {
		for _, got := range r.customerAsks(r.customer("Cid"), question) {
			if !strings.Contains(question, "cost") {
				require.NotContains(t, got, "5 EUR", "the price answers another question")
			}
			require.NotContains(t, got, "3 EUR", "the old price")
		}
	}
	require.Empty(t, r.personAnswers("Dan", "What does delivery cost?", "Delivery costs 5 EUR."), "as learned")
	require.Len(t, r.personAnswers("Eve", "On which days do you deliver?", "We deliver Monday and Saturday."), 1,
		"the days still stand in the document")
}

// The hours of the configuration answer customers, in whatever words and language they ask.
func TestOpeningHours_FromConfiguration(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	now := time.Now().UTC().Truncate(24 * time.Hour)
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	for question, want := range map[string]string{
		"When are you open?":                "[Nora] We are open Monday-Friday 9-17. (from Opening hours)",
		"How late are you open on Fridays?": "[Nora] We are open Monday-Friday 9-17. (from Opening hours)",
		"What time do you close today?":     "[Nora] We are open Monday-Friday 9-17. (from Opening hours)",
		"Wann macht ihr auf?":               "[Nora] Wir haben geöffnet: Montag-Freitag 9-17. (aus Opening hours)",
		"Habt ihr sonntags offen?":          "[Nora] Wir haben geöffnet: Montag-Freitag 9-17. (aus Opening hours)",
		"Wanneer zijn jullie open?":         "[Nora] Wij zijn open: maandag-vrijdag 9-17. (uit Opening hours)",
		"Zijn jullie op maandag open?":      "[Nora] Wij zijn open: maandag-vrijdag 9-17. (uit Opening hours)",
		"Quand êtes-vous ouverts ?":         "[Nora] Nous sommes ouverts lundi-vendredi 9-17. (d’après Opening hours)",
	} {
		require.Equal(t, []string{want}, r.customerAsks(r.customer("Ana"), question), question)
	}
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Ben"), "Are you open on Christmas Day?"), "the hours do not say that")

	monday := now.AddDate(0, 0, 1+(7-int(now.Weekday()))%7) // the next one, within the two weeks that are told
	r.book.Variables.OpeningHours = hours.Hours{Holidays: []hours.Days{
		{First: monday.AddDate(0, 0, -2), Last: monday.AddDate(0, 0, 1)},
		{First: now.AddDate(0, 1, 0), Last: now.AddDate(0, 2, 0)},
	}}
	require.NoError(t, r.book.Variables.OpeningHours.Set(r.book.Variables.Hours))
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	const day = "2 January 2006"
	require.Equal(t, []string{"[Nora] We are open Monday-Friday 9-17 (closed " + monday.Format(day) + ", " +
		monday.AddDate(0, 0, 1).Format(day) + "). (from Opening hours)"}, r.customerAsks(r.customer("Cid"), "When are you open?"))

	r.tx(func(tx store.Tx) error {
		_, err := store.AddCannedAnswer(r.ctx, tx, "Wann habt ihr geöffnet?", "Wir sind für Sie da: {hours}.")
		return err
	})
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Equal(t, []string{"[Nora] Wir sind für Sie da: Montag-Freitag 9-17 (geschlossen " + monday.Format("02.01.2006") + ", " +
		monday.AddDate(0, 0, 1).Format("02.01.2006") + ")."}, r.customerAsks(r.customer("Dan"), "Wann macht ihr zu?"),
		"the owner's own words come first")

	r.book.Variables.Hours = ""
	require.NoError(t, r.admin.Answers.PublishAnswers(r.ctx))
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Eve"), "When are you open?"), "without hours there is nothing to tell")
}

// A model may quote one sentence and say the figure of another, which the owner corrects while the draft waits.
func TestCorrection_WithdrawsDraftWithFigure(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	const quote = "We deliver on Mondays and Fridays."
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.\n\n"+quote, policy.RolePublic)
	var chunk store.ChunkID
	require.NoError(t, r.st.AsOwner(r.ctx, policy.PublicScope(), func(tx store.Tx) error {
		return tx.QueryRow(r.ctx, "select c.id from chunks c join documents d on d.id = c.doc_id where d.name = 'prices.md'").Scan(&chunk)
	}))
	draft := func(name, text string) uuid.UUID {
		c := r.customer(name)
		asked := r.say(c, policy.AuthorContact, "@c:x", "How do you deliver?")
		var out uuid.UUID
		r.tx(func(tx store.Tx) (err error) {
			out, _, err = r.box.Queue(r.ctx, tx, outbox.Message{
				Chat:      c,
				Purpose:   policy.PurposeReply,
				Text:      text,
				Draft:     true,
				SeenID:    asked,
				Citations: []store.Citation{{Ref: store.ChunkRef(chunk), Source: "[prices.md]", Quote: quote}},
			})
			return err
		})
		return out
	}
	decided := draft("Ana", "On Mondays and Fridays, for 5 euro.")
	open := draft("Ben", "On Mondays and Fridays, for 5 euro.")
	other := draft("Cid", "On Mondays and Fridays.")
	long := strings.Repeat("On Mondays and Fridays. ", 80) // more than one part
	decidedPart := draft("Dan", long+"For 5 euro.")
	openPart := draft("Fay", long+"For 5 euro.")
	otherPart := draft("Gus", long)
	inFile, decidedFile := draft("Hal", strings.Repeat(long, 3)+"For 5 euro."), draft("Ian", strings.Repeat(long, 3)+"For 5 euro.")
	shown := r.personAnswers("Eve", "What does delivery cost?", "Since May it is 7 euro.")
	require.Len(t, shown, 1)
	r.react(shown[0].Event, "👍")
	for _, out := range []uuid.UUID{decided, decidedPart, decidedFile} {
		r.tx(func(tx store.Tx) error {
			decision, err := r.box.ApproveDraft(r.ctx, tx, out)
			require.Equal(t, policy.CodeDraftSource, decision.Code)
			return err
		})
	}
	found, err := r.box.HasOutdatedDrafts(r.ctx)
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, r.box.WithdrawOutdatedDrafts(r.ctx))
	for out, state := range map[uuid.UUID]store.OutboxState{
		decided:     store.OutboxDropped,
		open:        store.OutboxDropped,
		other:       store.OutboxDraft,
		decidedPart: store.OutboxDropped,
		openPart:    store.OutboxDropped,
		otherPart:   store.OutboxDraft,
		decidedFile: store.OutboxDropped,
		inFile:      store.OutboxDropped,
	} {
		o, err := store.OutboxMessageByID(r.ctx, r.st.DB(), out)
		require.NoError(t, err)
		require.Equal(t, state, o.State, o.Text())
	}
}

// A person says first that he will look, and answers later.
func TestLearn_SkipsPromiseToLook(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana := r.customer("Ana")
	r.customerAsks(ana, "Do you rent out tents?")
	r.say(ana, policy.AuthorOperator, operator, "Hello Ana!")
	r.say(ana, policy.AuthorOperator, operator, "Let me check.")
	require.Empty(t, r.findAnswers(), "that is no answer yet")
	r.say(ana, policy.AuthorOperator, operator, "For how many people?")
	r.customerAsks(ana, "ok thanks, for two")
	require.Empty(t, r.findAnswers(), "nor is a question")
	r.say(ana, policy.AuthorOperator, operator, "Yes, we rent out tents from May to August.")
	shown := r.findAnswers()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "Question: Do you rent out tents?\n\n> Yes, we rent out tents from May to August.\n\n")
	require.Equal(t, 1, r.count("select count(*) from unanswered_questions where state = 'open'"))
}

func TestLearn_QuestionOmitsGreeting(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ana := r.customer("Ana")
	r.say(ana, policy.AuthorContact, "@c:x", "hi")
	r.say(ana, policy.AuthorContact, "@c:x", "Good morning! What does delivery cost?")
	r.say(ana, policy.AuthorOwnerPhone, owner, "That is 7 euro now.")
	shown := r.findAnswers()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Body, "Question: What does delivery cost?")
}
