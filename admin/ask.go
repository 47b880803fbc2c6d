package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// questionCommands answers questions of the owner and searches the documents.
type questionCommands struct {
	base

	search *search.Searcher
	asker  Asker
	agents *agentCommands
	orders *orderCommands
}

// commands returns the commands about questions.
func (qs *questionCommands) commands() []command {
	return []command{
		{
			name: "ask", args: "QUESTION", group: groupDocuments, run: qs.ask,
			summary: "answer from your documents, with sources",
			help:    "Plain text without a command asks as well. What I say is based on your own documents and the public ones.",
		},
		{
			name:      "search",
			args:      "WORDS",
			group:     groupDocuments,
			run:       qs.searchDocuments,
			operators: true,
			summary:   "matching passages, best first",
			help:      "You search your own documents and the public ones; operators search the public ones.",
		},
	}
}

// maxSearchHits is how many passages /search shows.
const maxSearchHits = 5

// ask passes a question of the owner to the Asker. It answers greetings, thanks and short answers such as "yes" itself.
func (qs *questionCommands) ask(ctx context.Context, r request, question string) (answer, error) {
	if question == "" {
		return answer{text: "Ask me something: `/ask when do we deliver?`, or just type it."}, nil
	}
	_, safe, err := store.SafeModeOf(ctx, qs.store.DB())
	if err != nil {
		return answer{text: "I am in safe mode, so I answer no questions. `/search` finds the passages themselves; `/safe` says why, and how to end it."}, err
	}
	if safe {
		return answer{text: "I am in safe mode, so I answer no questions. `/search` finds the passages themselves; `/safe` says why, and how to end it."}, nil
	}
	if ans := qs.agents.unknownAgent(question); ans.text != "" {
		return ans, nil
	}
	switch {
	case isSmallTalk(question):
		return answer{text: "Ask me anything about your documents, or type `/help` to see what I can do."}, nil
	case isShortAnswer(question):
		return answer{text: "Which question do you mean? Reply to it, or see `/help`."}, nil
	case policy.IsAcknowledgement(question, qs.settings.Name) && (!strings.Contains(question, "?") || !qs.asker.HasModel(r.room, question)):
		return answer{reaction: "👍", reason: "It only says thanks, goodbye or that all is well."}, nil
	}
	note := ""
	if !qs.asker.HasModel(r.room, question) {
		ans, missed, err := qs.orders.unclear(ctx, r, question)
		if err != nil {
			return answer{}, err
		}
		if ans.text != "" || ans.handled {
			return ans, nil
		}
		note = missed
		found, err := index.DocumentGroups(ctx, qs.store.DB(), r.scope())
		if err != nil {
			return answer{}, err
		}
		chats, err := store.ListChats(ctx, qs.store.DB(), "", 1, 0)
		if err != nil {
			return answer{text: qs.settings.noDocumentsText()}, err
		}
		if len(found)+len(chats) == 0 {
			return answer{text: qs.settings.noDocumentsText()}, nil
		}
	}
	return answer{handled: true}, qs.asker.AskWithNote(ctx, r.room, r.message, question, note)
}

// isSmallTalk reports whether a text is a greeting or asks for help, so that no document can answer it.
func isSmallTalk(text string) bool {
	switch normalize(text) {
	case "", "help", "help me", "hilfe", "what can you do", "was kannst du":
		return true
	default:
		return policy.IsGreeting(text)
	}
}

// isShortAnswer reports whether a text is only an answer to a question of multis.
func isShortAnswer(text string) bool {
	return slices.Contains([]string{"0", "cancel", "no", "yes"}, normalize(text))
}

// normalize returns a text in lower case without punctuation around it.
func normalize(text string) string {
	return strings.TrimFunc(foldName(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// searchDocuments shows the passages that match best, word for word.
func (qs *questionCommands) searchDocuments(ctx context.Context, r request, args string) (answer, error) {
	if args == "" {
		return answer{text: "What should I look for? `/search delivery sunday`"}, nil
	}
	quotes, err := qs.find(ctx, r.scope(), r.isOwner(), args, maxSearchHits)
	if err != nil {
		return answer{}, err
	}
	if len(quotes) == 0 {
		return answer{text: "I found nothing about that in the documents. `/docs` says which I know."}, nil
	}
	lines := []string{"**" + text.Count(len(quotes), "passage") + "** for " + quote(args, 60)}
	for i, q := range quotes {
		lines = append(lines, fmt.Sprintf("%d %s%s: %s", i+1, esc(knowledge.CiteQuote(q)), privateMark(q.Hit.Role), quote(q.Text, 400)))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// find returns the best sentences of the documents' passages that match best; none if nothing but common words was asked for.
func (qs *questionCommands) find(ctx context.Context, scope policy.Scope, asOwner bool, words string, limit int) ([]search.Quote, error) {
	find := qs.search.AsContact
	if asOwner {
		find = qs.search.AsOwner
	}
	found, err := find(ctx, scope, search.Query{Text: words, Limit: limit, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return nil, err
	}
	if len(found.Terms) == 0 {
		return nil, nil
	}
	quotes := make([]search.Quote, len(found.Hits))
	for i, hit := range found.Hits {
		if quotes[i], err = qs.search.BestSentences(ctx, found, hit); err != nil {
			return nil, err
		}
	}
	return quotes, nil
}
