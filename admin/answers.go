package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/business/answers"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// AnswerCommands manages the owner's canned answers, and the learned ones: answers of people to questions that no document answered.
type AnswerCommands struct {
	base

	dialogs *dialogs
	keeper  *answers.Keeper // nil where no contacts are answered
}

// commands returns the command about answers.
func (ac *AnswerCommands) commands() []command {
	if ac.keeper == nil {
		return nil
	}
	return []command{{
		name:      "answers",
		args:      "[add or remove ...]",
		group:     groupCustomers,
		run:       ac.run,
		operators: true,
		summary:   "your own answers, and learned ones",
		help: "`/answers add Is there parking? = Hello {name}, there are two places behind the house.` keeps an answer; customers get it before any document or model is asked. " +
			"`{name}` is the customer's name, `{hours}` are the opening hours, `{business}` is the name of the business. `/answers` lists them with their numbers, `/answers remove 2` deletes one. " +
			"`/answers learned` lists those that you took from people, `/answers remove L3` deletes one. When you pick a suggested reply on a card, its passage also answers the next customer who asks in these words: `/answers` lists such words, `/answers remove W4` forgets them. When nobody but a person could answer, I ask here whether the answer goes into your documents.",
	}}
}

// questions returns the kinds of questions of the topic.
func (ac *AnswerCommands) questions() []func() question {
	return []func() question{
		func() question { return &offerLearnedAnswer{answers: ac} },
	}
}

// run carries out /answers.
func (ac *AnswerCommands) run(ctx context.Context, r request, args string) (answer, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	switch verb = strings.ToLower(verb); {
	case verb == "" || verb == "list":
		return ac.list(ctx)
	case verb == "learned":
		return ac.listLearned(ctx)
	case !r.isOwner():
		return notAllowedAnswer("answers"), nil
	case verb == "add":
		return ac.add(ctx, rest)
	case verb == "remove":
		return ac.remove(rest), nil
	default:
		return answer{text: "Try `/answers`, `/answers add Is there parking? = Behind the house.`, `/answers remove 2`, `/answers learned`."}, nil
	}
}

// list lists the canned answers, and counts the learned ones.
func (ac *AnswerCommands) list(ctx context.Context) (answer, error) {
	canned, err := store.CannedAnswers(ctx, ac.store.DB())
	if err != nil {
		return answer{}, err
	}
	learned, err := store.LearnedAnswers(ctx, ac.store.DB())
	if err != nil {
		return answer{}, err
	}
	wordings, err := ac.keeper.Wordings(ctx)
	if err != nil {
		return answer{}, err
	}
	if len(canned)+len(learned)+len(wordings) == 0 {
		return answer{text: "There are none yet. `/answers add Is there parking? = Behind the house.` keeps one."}, nil
	}
	lines := []string{"**Your answers**"}
	for _, a := range canned {
		lines = append(lines, fmt.Sprintf("`%d` %s — %s", a.ID, esc(a.Question), quote(text.OneLine(a.Answer), 150)))
	}
	if len(learned) > 0 {
		lines = append(lines, text.Count(len(learned), "answer")+" learned from people: `/answers learned` lists them.")
	}
	if len(wordings) > 0 {
		lines = append(lines, "", "**Learned words**: who asks in these words is answered with the passage that you picked. `/answers remove W"+
			strconv.FormatInt(wordings[0].Number, 10)+"` forgets the first.")
	}
	for _, w := range wordings {
		lines = append(lines, fmt.Sprintf("`W%d` %s → %s", w.Number, quote(w.Words, 150), esc(w.Source)))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// add keeps a canned answer.
func (ac *AnswerCommands) add(ctx context.Context, args string) (answer, error) {
	asked, said, _ := strings.Cut(args, "=")
	return ac.keep(ctx, asked, said)
}

// keep keeps an answer to a question.
func (ac *AnswerCommands) keep(ctx context.Context, asked, said string) (answer, error) {
	asked, said = answers.CleanQuestion(asked), answers.CleanAnswer(said)
	unknown := answers.UnknownVariable(said)
	switch {
	case asked == "" || said == "":
		return answer{text: "Write the question, `=` and the answer: `/answers add Is there parking? = Behind the house.`"}, nil
	case len([]rune(said)) > answers.MaxAnswer:
		return answer{text: fmt.Sprintf("The answer is too long: at most %d characters.", answers.MaxAnswer)}, nil
	case unknown != "":
		return answer{text: fmt.Sprintf("There is no variable %s: these are `{name}`, `{hours}` and `{business}`.", code(unknown))}, nil
	}
	list, err := store.CannedAnswers(ctx, ac.store.DB())
	if err != nil {
		return answer{}, err
	}
	if len(list) >= answers.MaxCanned {
		return answer{text: fmt.Sprintf("There are %d already, which is the most: `/answers remove` makes room, or send me a document.",
			len(list))}, nil
	}
	for _, a := range list {
		if strings.EqualFold(a.Question, asked) {
			return answer{text: fmt.Sprintf("That question has an answer: %s. %s first.", quote(a.Answer, 150),
				code(fmt.Sprintf("/answers remove %d", a.ID)))}, nil
		}
	}
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		number, err := store.AddCannedAnswer(ctx, tx, asked, said)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Kept as number `%d`. A customer reads: %s", number, quote(ac.keeper.Variables.Fill(said, "Ana"), 300)),
			jobs.Enqueue(ctx, tx, jobs.PublishAnswersArgs{})
	}}, nil
}

// listLearned lists the learned answers with their numbers.
func (ac *AnswerCommands) listLearned(ctx context.Context) (answer, error) {
	learned, err := store.LearnedAnswers(ctx, ac.store.DB())
	if err != nil {
		return answer{}, err
	}
	if len(learned) == 0 {
		return answer{text: "None yet. When a person answers what no document says, I ask you here whether I shall learn it."}, nil
	}
	lines := []string{"**Learned from people**"}
	for _, a := range learned {
		who := "only for you"
		if a.Role == policy.RolePublic {
			who = "for customers"
		}
		lines = append(lines, fmt.Sprintf("`L%d` %s — %s (%s)", a.ID, esc(a.Question), quote(text.OneLine(a.Answer), 150), who))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// remove deletes a canned answer; with an L before its number a learned one, with a W learned words.
func (ac *AnswerCommands) remove(args string) answer {
	args = strings.ToUpper(strings.TrimSpace(args))
	removeFrom := store.RemoveCannedAnswer
	if rest, isLearned := strings.CutPrefix(args, "L"); isLearned {
		args, removeFrom = rest, store.RemoveLearnedAnswer
	}
	if rest, isWords := strings.CutPrefix(args, "W"); isWords {
		args, removeFrom = rest, index.RemoveLearnedWords
	}
	number := parseNumber(args)
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		removed, err := removeFrom(ctx, tx, number)
		if err != nil {
			return "Which one? `/answers` and `/answers learned` list them with their numbers.", err
		}
		if !removed {
			return "Which one? `/answers` and `/answers learned` list them with their numbers.", nil
		}
		return "Deleted.", jobs.Enqueue(ctx, tx, jobs.PublishAnswersArgs{})
	}}
}

// PublishAnswers writes the answers into their documents.
func (ac *AnswerCommands) PublishAnswers(ctx context.Context) error {
	if ac.keeper == nil {
		return nil
	}
	return ac.keeper.Publish(ctx)
}

// HasAnswers reports whether FindAnswers may have work: a person's answer that it has not seen, or a correction that has
// ended.
func (ac *AnswerCommands) HasAnswers(ctx context.Context) (bool, error) {
	if ac.keeper == nil {
		return false, nil
	}
	has, err := ac.keeper.HasNewAnswers(ctx, ac.room.now())
	if err != nil {
		return has, err
	}
	if has {
		return has, nil
	}
	ended, err := ac.keeper.EndedCorrections(ctx)
	return len(ended) > 0, err
}

// FindAnswers asks the owner once about each answer of a person to a question that no document answers, or that a
// document answers differently. It also ends the corrections of sentences that their documents no longer contain.
func (ac *AnswerCommands) FindAnswers(ctx context.Context) error {
	if ac.keeper == nil {
		return nil
	}
	found, err := ac.keeper.NewAnswers(ctx, ac.room.now())
	if err != nil {
		return err
	}
	for _, g := range found {
		if err := ac.store.InTx(ctx, func(tx store.Tx) error { return ac.propose(ctx, tx, g) }); err != nil {
			return err
		}
	}
	return ac.endCorrections(ctx)
}

// propose stores an unanswered question, and asks the owner about it if it is open.
func (ac *AnswerCommands) propose(ctx context.Context, tx store.Tx, g store.UnansweredQuestion) error {
	added, ok, err := store.AddUnanswered(ctx, tx, g)
	if err != nil {
		return err
	}
	if !ok || g.State != store.UnansweredOpen {
		return nil
	}
	g.ID = added
	return ac.show(ctx, tx, g)
}

// offerLifetime is how long the owner can decide about an unanswered question.
const offerLifetime = 30 * 24 * time.Hour

// show shows an unanswered question to the owner, personal data struck out.
func (ac *AnswerCommands) show(ctx context.Context, tx store.Tx, g store.UnansweredQuestion) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, tx, g.ChatID)
	if err != nil {
		return err
	}
	names := []string{bridgebridge.DisplayName(chat.Name)}
	heading, before, into, err := ac.cardParts(ctx, tx, g, chat)
	if err != nil {
		return err
	}
	lines := []string{heading, "Question: " + answers.StrikePersonalData(g.Question, names)}
	if before != "" {
		lines = append(lines, before)
	}
	for line := range strings.SplitSeq(g.Answer, "\n") {
		lines = append(lines, "> "+answers.StrikePersonalData(line, names))
	}
	had, err := store.UnsentEdits(ctx, tx, g.ChatID, g.MessageIDs)
	if err != nil {
		return err
	}
	for _, old := range had {
		lines = append(lines, "\nThe edit did not reach the customer, who has got: “"+answers.StrikePersonalData(text.OneLine(old), names)+"”")
	}
	if len(answers.FindPersonalData(g.Question+"\n"+g.Answer, names)) > 0 {
		lines = append(lines, "\nWhat is struck out looks personal and is left out.")
	}
	question := "\n" + into + " · reply with other words to change the answer · 👎 no."
	_, err = ac.room.notify(ctx, tx, room, outbox.Quiet, strings.Join(lines, "\n")+"\n"+question,
		&offerLearnedAnswer{answers: ac, QuestionID: g.ID}, g.MessageIDs...)
	return err
}

// cardParts returns parts of the card of an unanswered question: its heading, the answer in the owner's documents that
// the new one contradicts (empty for none), and what a yes does.
func (ac *AnswerCommands) cardParts(ctx context.Context, tx store.Tx, g store.UnansweredQuestion,
	chat store.Chat,
) (heading, before, into string, err error) {
	heading = "📚 **Save this answer?** " + esc(chat.Label()) + " asked what no document of yours says, and was answered."
	into = "👍 save for me · `public` also for customers"
	if g.Contradicts != nil {
		learned, err := store.LearnedAnswers(ctx, tx)
		if i := slices.IndexFunc(learned, func(a store.LearnedAnswer) bool { return a.ID == *g.Contradicts }); i >= 0 {
			heading = "📚 **Has this changed?** " + esc(chat.Label()) + " was answered differently than your document \"Answers\" says."
			before, into = "So far: "+quote(learned[i].Answer, 500), "👍 the new answer takes its place, for whom the old one is"
		}
		return heading, before, into, err
	}
	if g.CorrectsQuote != "" {
		name, err := documentName(ctx, tx, g.CorrectsOrigin)
		heading = "📚 **Has this changed?** " + esc(chat.Label()) + " was answered differently than " + esc(name) + " says."
		before, into = esc(name)+": "+quote(g.CorrectsQuote, 500), "👍 from now on customers get the new answer, and "+esc(name)+
			" is not quoted on this any more"
		return heading, before, into, err
	}
	return heading, before, into, nil
}

// documentName returns the name of a document by its origin.
func documentName(ctx context.Context, db store.DB, origin string) (string, error) {
	doc, err := index.DocumentByOrigin(ctx, db, origin)
	if errors.Is(err, store.ErrNotFound) {
		return "a document that was removed since", nil
	}
	return doc.Name, err
}
