package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"multis/knowledge"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// searchHits is how many passages are shown.
const searchHits = 5

// ask answers a question of the owner.
func (a *Admin) ask(ctx context.Context, r request, question string) (answer, error) {
	if question == "" {
		return answer{text: "Ask me something: `/ask when do we deliver?`, or just type it."}, nil
	}
	if ans := a.meantAgent(question); ans.text != "" {
		return ans, nil
	}
	switch {
	case isSmallTalk(question):
		return answer{text: "Ask me anything about your documents, or type `/help` to see what I can do."}, nil
	case isReply(question):
		return answer{text: "Which question do you mean? Reply to it, or see `/help`."}, nil
	case policy.IsAcknowledgement(question, a.Rules.Name) && (!strings.Contains(question, "?") || !a.Asker.Thinks(r.room, question)):
		return answer{react: "👍", why: "It only says thanks, goodbye or that all is well."}, nil
	}
	if !a.Asker.Thinks(r.room, question) {
		held, err := store.DocumentGroups(ctx, a.Store.DB(), r.scope())
		if err != nil {
			return answer{}, err
		}
		chats, err := store.ListChats(ctx, a.Store.DB(), "", 1, 0)
		if err != nil || len(held)+len(chats) == 0 {
			return answer{text: a.Rules.noDocuments()}, err
		}
	}
	return answer{said: true}, a.Asker.Ask(ctx, r.room, r.message, question)
}

// noModel is what the configuration says for no language model at all.
const noModel = "none"

// noDocuments answers everything that needs some, without any.
func (r Rules) noDocuments() string {
	return "I know no documents yet. " + r.giveOne() + ": PDF, Word, Markdown, text, CSV or HTML. `/help index` says more."
}

// giveOne says how a document comes here.
func (r Rules) giveOne() string {
	if r.Terminal {
		return "Name one that is in " + code(r.folder) + ", as in `/index prices.pdf`"
	}
	return "Send me one here"
}

// nameOne says how /index is told what to read.
func (r Rules) nameOne() string {
	if r.Terminal {
		return "Name"
	}
	return "Send a file here (with `/index` as its caption, before or after it, or as a reply to it), or name"
}

// isSmallTalk tells whether nothing is asked that could stand in a document: a greeting, a sign, a call for help.
func isSmallTalk(text string) bool {
	switch bare(text) {
	case "", "help", "help me", "hilfe", "what can you do", "was kannst du":
		return true
	default:
		return policy.IsGreeting(text)
	}
}

// isReply tells whether a text is an answer to a question of ours, and no question itself.
func isReply(text string) bool {
	return slices.Contains([]string{"0", "cancel", "no", "yes"}, bare(text))
}

// bare is a text in small letters, without signs around it.
func bare(text string) string {
	return strings.TrimFunc(fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// search shows passages as they are.
func (a *Admin) search(ctx context.Context, r request, args string) (answer, error) {
	if args == "" {
		return answer{text: "What shall I look for? `/search delivery sunday`"}, nil
	}
	find := a.Search.AsContact
	if r.byOwner() {
		find = a.Search.AsOwner
	}
	found, err := find(ctx, r.scope(), search.Query{Text: args, Limit: searchHits, Kinds: []store.Kind{store.KindKnowledge}})
	if err != nil {
		return answer{}, err
	}
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return answer{text: "I found nothing about that in the documents. `/docs` says which I know."}, nil
	}
	lines := []string{"**" + count(len(found.Hits), "passage") + "** for " + quote(args, 60)}
	for i, hit := range found.Hits {
		q, err := a.Search.BestSentences(ctx, found, hit)
		if err != nil {
			return answer{}, err
		}
		lines = append(lines, fmt.Sprintf("%d %s%s: %s", i+1, esc(knowledge.CiteQuote(q)), onlyYours(hit.Role), quote(q.Text, 400)))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// onlyYours marks what customers never see.
func onlyYours(role policy.Role) string {
	if role == policy.Public {
		return ""
	}
	return " (only you)"
}

// whose says who may see data of a role.
func whose(role policy.Role) string {
	switch role {
	case policy.Public:
		return "public"
	case policy.Admin:
		return "only you"
	default:
		return "of one chat"
	}
}

// countDocuments counts the documents that a scope may see: public ones, and others.
func countDocuments(ctx context.Context, db store.DB, scope policy.Scope) (public, private int, err error) {
	groups, err := store.DocumentGroups(ctx, db, scope)
	for _, g := range groups {
		switch {
		case g.Kind != store.KindKnowledge:
		case g.Role == policy.Public:
			public += g.Documents
		default:
			private += g.Documents
		}
	}
	return public, private, err
}
