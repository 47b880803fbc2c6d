package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// newFixtureWithoutModel returns a business whose memory works and whose model does not.
func newFixtureWithoutModel(t *testing.T) *fixture {
	t.Helper()
	b := setup(t, llm.None{})
	b.agent.memory = memory.New(memory.Options{
		Store:    b.store,
		Search:   search.New(b.store),
		Model:    llm.None{},
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	return b
}

func TestPassages_UnrelatedQuestionFindsNothing(t *testing.T) {
	t.Parallel()
	b := newFixtureWithoutModel(t)
	_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
		Name: "discounts.md",
		Data: []byte("In 2026 groups get a discount of 10 %. Discounts can be combined.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	require.Equal(t,
		"I found nothing about that in your documents or chats. `/search who wins the world cup 2026` shows the nearest passages.",
		b.ask("who wins the world cup 2026"))
	require.Contains(t, b.ask("Combien coûte la chambre ?"), "I found nothing about that")
	require.Contains(t, b.ask("what is the discount for groups?"), "groups get a discount")
}

func TestPassages_OwnersNoteComesFirst(t *testing.T) {
	t.Parallel()
	b := newFixtureWithoutModel(t)
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
		_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
			Name: name,
			Data: []byte("The alarm is tested. The code of the till is on paper, " + name + ".\n"),
			Role: policy.RoleAdmin,
		})
		require.NoError(t, err)
	}
	b.notes("The alarm code is 4711")
	text := b.ask("what is the alarm code?")
	require.Regexp(t, `(?s)1\\?\. .*The alarm code is 4711`, text)
}

func TestPassages_NewestMessagesOfPerson(t *testing.T) {
	t.Parallel()
	b := newFixtureWithoutModel(t)
	b.storeContactMessage("the bench arrives on Monday", policy.ActionArchive)
	for _, question := range []string{
		"what did Ana say?", "what did we talk about last with Ana?", "What did Ana write last?",
		"what did we talk about last",
	} {
		require.Contains(t, b.ask(question), "the bench arrives on Monday", question)
	}
	require.NotContains(t, b.ask("what did Ana say about a helicopter?"), "bench")

	b.agent.memory.NotesOnly = true
	for _, question := range []string{"what did Ana say?", "what did we talk about last"} {
		require.NotContains(t, b.ask(question), "bench", "messages are not to be searched")
	}
}

func TestChatName_CommonWordIsNoName(t *testing.T) {
	t.Parallel()
	b := newFixtureWithoutModel(t)
	for _, name := range []string{"What", "Price", "Will"} {
		require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
			_, err := store.UpsertChat(context.Background(), tx, store.Chat{
				Protocol:   "demo",
				ChannelID:  name,
				Kind:       policy.KindDM,
				Name:       name,
				Encryption: policy.EncryptionNo,
			})
			return err
		}))
	}
	for question, named := range map[string]int{
		"What is the price of bread? Will it rise?": 0,
		"is it ana's": 0, // not written as a name
		"is it Ana's": 1,
	} {
		places, err := b.agent.searchAreaOf(context.Background(), question)
		require.NoError(t, err)
		require.Len(t, places.named, named, question)
	}
}

func TestPassages_UsageNoteMayFail(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	ctx := context.Background()
	_, err := b.store.Pool().Exec(ctx, "create function refuses() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$")
	require.NoError(t, err)
	_, err = b.store.Pool().Exec(ctx, "create trigger refuses before update on chunks for each row execute function refuses()")
	require.NoError(t, err)
	b.storeContactMessage("How much is a baguette?", policy.ActionAnswer)
	before := time.Now()
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)
	require.Less(t, time.Since(before), time.Minute)
}
