package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/answers"
	"multis/knowledge"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

const lodgeRules = `# Lodge

## Arrival

You can move into your rooms from 15:00. The reception is staffed until 22:00.

## Kitchen

Each cottage has a coffee maker and a kettle.

## Animals

Dogs are welcome in cottages 1 to 4.
`

// lodge is a fixture with the rules of a lodge.
func lodge(t *testing.T) *fixture {
	t.Helper()
	b := setup(t, llm.None{})
	b.agent.Turns.answers = &answers.Keeper{Store: b.store, Search: b.agent.search}
	b.indexPublic("lodge.md", lodgeRules)
	return b
}

func (b *fixture) indexPublic(name, text string) {
	b.t.Helper()
	_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{Name: name, Data: []byte(text), Role: policy.RolePublic})
	require.NoError(b.t, err)
}

// pick learns from a message as if the owner had picked a quote for it.
func (b *fixture) pick(m store.Message, quote string) {
	b.t.Helper()
	ctx := context.Background()
	chunk := storetest.Count(b.t, b.store, "select id from chunks where position($1 in content) > 0", quote)
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		return b.agent.Turns.answers.LearnWords(ctx, tx, m.ID, store.Citation{Ref: store.ChunkRef(store.ChunkID(chunk)), Quote: quote})
	}))
}

// reply returns what a customer would get for a question now.
func (b *fixture) reply(question string) string {
	b.t.Helper()
	p, err := b.agent.Turns.Preview(context.Background(), b.admin, b.storeQuestion("/business preview "+question), question)
	require.NoError(b.t, err)
	return p.Text
}

func TestLearnedWords_AnswerNextCustomer(t *testing.T) {
	t.Parallel()
	const coffee, arrival, dogs = "Each cottage has a coffee maker and a kettle.", "The reception is staffed until 22:00.",
		"Dogs are welcome in cottages 1 to 4."
	for name, c := range map[string]struct {
		asked, quote string
		again        []string
		other        string // is not answered with it
	}{
		"a word of no document": {"Do you have a Keurig?", coffee, []string{"Is there a keurig?", "do you have keurigs"}, "Do you have a sauna?"},
		"common words":          {"How late may we turn up?", arrival, []string{"how late can we turn up?"}, "How do I turn on the heating?"},
		"another language":      {"Darf der Wauwau mit?", dogs, []string{"Darf der Wauwau mit?"}, "Darf die Katze mit?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := lodge(t)
			asked := b.storeAnsweredMessage(c.asked)
			require.Equal(t, codeEscalated, asked.Code, asked.Reason)
			b.pick(asked, c.quote)
			for _, again := range c.again {
				require.Contains(t, b.reply(again), c.quote, again)
			}
			require.NotContains(t, b.reply(c.other), c.quote)
		})
	}
}

func TestLearnedWords_EndWithTheirPassage(t *testing.T) {
	t.Parallel()
	const question, coffee = "Do you have a Keurig?", "Each cottage has a coffee maker and a kettle."
	for name, end := range map[string]func(b *fixture){
		"the document is removed": func(b *fixture) {
			require.NoError(b.t, knowledge.New(b.store).Remove(context.Background(), "lodge.md"))
		},
		"it becomes private": func(b *fixture) {
			_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
				Name: "lodge.md",
				Data: []byte(lodgeRules),
				Role: policy.RoleAdmin,
			})
			require.NoError(b.t, err)
		},
		"its text changes": func(b *fixture) {
			b.indexPublic("lodge.md", strings.ReplaceAll(lodgeRules, "kettle", "toaster"))
		},
		"the message is deleted": func(b *fixture) { b.exec("delete from messages where body = $1", question) },
		"the message is edited":  func(b *fixture) { b.exec("update messages set body = 'hello' where body = $1", question) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := lodge(t)
			b.pick(b.storeAnsweredMessage(question), coffee)
			require.Equal(t, 1, b.count("select count(*) from learned_words"))
			end(b)
			require.Zero(t, b.count("select count(*) from learned_words"))
			require.NotContains(t, b.reply(question), coffee)
		})
	}
}

func TestLearnedWords_TellNothingOfContact(t *testing.T) {
	t.Parallel()
	b := lodge(t)
	b.otherChat("Brunhilde")
	const coffee = "Each cottage has a coffee maker and a kettle."
	for asked, want := range map[string]string{
		"Do you have a coffee maker for Ana?":                      "{coffee,maker}",
		"Is the coffee of Brunhilde from 2019 strong?":             "{coffee,strong}",
		"I am Tom Jones, +49 151 234 56789: is there a kettle?":    "{kettle}",
		"Do you have a cottage? And how much is a cottage in May?": "",
		"And the kettle?": "",
		"My wife left me in spring, her sister cried, the lawyer called, the neighbours laughed: is there a kettle in cottage five or six or seven with sugar": "",
	} {
		b.exec("delete from learned_words")
		b.pick(b.storeAnsweredMessage(asked), coffee)
		got := ""
		require.NoError(t, b.store.DB().QueryRow(context.Background(), "select coalesce(string_agg(words::text, ' '), '') from learned_words").Scan(&got))
		require.Equal(t, want, got, asked)
		if want == "{coffee,maker}" {
			require.Equal(t, 1, b.count("select count(*) from learned_words where sources = '{}'"), "all of its words are in a document")
		}
	}
}

func TestTitle_NamesDocumentToCustomer(t *testing.T) {
	t.Parallel()
	b := lodge(t)
	const question, quote = "Are dogs welcome?", "Dogs are welcome in cottages 1 to 4."
	require.Equal(t, quote+" (from Lodge)", b.reply(question))
	b.giveTitle("lodge.md", "our house rules 2026")
	require.Equal(t, quote+" (from our house rules 2026)", b.reply(question))
	b.indexPublic("lodge.md", lodgeRules+"\n## Bikes\n\nBikes are free.\n")
	require.Equal(t, quote+" (from our house rules 2026)", b.reply(question), "it stays with the next version")
	b.storeAnsweredMessage(question)
	require.Equal(t, 1, b.count("select count(*) from outbox where citations::text like '%lodge.md%'"), "the owner reads the file")
	require.Equal(t, quote, strings.TrimPrefix(strings.TrimSuffix(b.queuedTexts(b.chat)[0], " (from our house rules 2026)"), "[Nora] "))
	b.giveTitle("lodge.md", "")
	require.Equal(t, quote+" (from Lodge)", b.reply(question))
}

func (b *fixture) giveTitle(origin, title string) {
	b.t.Helper()
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		return index.GiveTitle(context.Background(), tx, origin, title)
	}))
}
