package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/web"
	"multis/policy"
	"multis/store"
)

// pageQuestions returns the questions that the page shows.
func (r *rig) pageQuestions() []web.Question {
	r.t.Helper()
	list, err := r.admin.Web.Questions(r.ctx)
	require.NoError(r.t, err)
	return list
}

// answerOnPage answers a question on the page with a word, or with other words for what it proposes.
func (r *rig) answerOnPage(s store.WebSession, q web.Question, word, words string) (refused string) {
	r.t.Helper()
	refused, err := r.admin.Web.AnswerQuestion(r.ctx, s, web.QuestionAnswer{Question: q.ID, Version: q.Version, Word: word, Words: words})
	require.NoError(r.t, err)
	return refused
}

func TestWeb_QuestionIsAnsweredOnceAsInTheRoom(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	s := r.session("a")
	require.Empty(t, r.pageQuestions())
	ana := r.customer("Ana")
	r.customerAsks(ana, "Do you deliver pianos to Potsdam?")
	r.say(ana, policy.AuthorOwnerPhone, owner, "Yes, that costs 90 euro.")
	require.Len(t, r.findAnswers(), 1)
	shown := r.pageQuestions()
	require.Len(t, shown, 1)
	require.Contains(t, shown[0].Text, "Question: Do you deliver pianos to Potsdam?")
	require.NotContains(t, shown[0].Text, "Open until")
	require.Equal(t, "Yes, that costs 90 euro.", shown[0].Words)

	require.Contains(t, r.answerOnPage(s, shown[0], "maybe", ""), "not an answer")
	old := shown[0]
	require.Empty(t, r.answerOnPage(s, old, "words", "Yes, that costs 80 euro."))
	require.Contains(t, bodies(r.sendQueued()), "> Yes, that costs 80 euro.", "the room asks about the new words")
	require.Contains(t, r.answerOnPage(s, old, "yes", ""), "It has changed since the page showed it.")
	shown = r.pageQuestions()
	require.Len(t, shown, 1)
	require.Equal(t, "Yes, that costs 80 euro.", shown[0].Words)

	require.Empty(t, r.answerOnPage(s, shown[0], "public", ""))
	require.Contains(t, bodies(r.sendQueued()), "customers are answered from it as well", "the room says what was done")
	require.Equal(t, 1, r.count("select count(*) from learned_answers where answer like '%80 euro%' and role = 'public'"))
	require.Equal(t, 1, r.count("select count(*) from audit_entries where action = 'answers' and outcome = 'public' and rule = 'web_session_1'"))
	require.Empty(t, r.pageQuestions())
	require.Contains(t, r.answerOnPage(s, shown[0], "public", ""), "It has changed since the page showed it.")
	require.Contains(t, r.answerOnPage(s, web.Question{ID: 999}, "yes", ""), "no such question")
}

func TestWeb_QuestionsOfCommandsStayInTheRoom(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.customer("Ana Ribeiro")
	r.customer("Ana Lopez")
	require.Contains(t, r.asOwner("/mode business ana"), "Which")
	r.callCard(store.ApprovalConfirm, `{"url": "a"}`)
	require.Empty(t, r.pageQuestions(), "neither a choice of chats, nor a card that is shown as an approval")

	r.sendFile("prices.md", "Delivery costs 5 euro.", "")
	shown := r.pageQuestions()
	require.Len(t, shown, 1, "a file waits")
	require.Empty(t, r.answerOnPage(r.session("a"), shown[0], "private", ""))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'index' and args->>'role' = 'admin'"))
}
