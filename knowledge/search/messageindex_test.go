package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// archive is a database with chats whose messages are indexed.
type archive struct {
	*testing.T

	st    *store.Store
	s     *search.Searcher
	start time.Time
	event int
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	st := storetest.New(t)
	return &archive{T: t, st: st, s: search.New(st), start: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

func (a *archive) inTx(fn func(tx store.Tx) error) {
	a.Helper()
	require.NoError(a, a.st.InTx(a.Context(), fn))
}

func (a *archive) chat(name string, kind policy.Kind) (chat store.Chat) {
	a.Helper()
	a.inTx(func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(a.Context(), tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  name,
			Name:       name,
			OwnerName:  "Hannes",
			Kind:       kind,
			Encryption: policy.EncryptionNo,
		})
		return err
	})
	return chat
}

// say stores messages of a chat, one per minute beginning at minute, and returns their event ids.
func (a *archive) say(chat store.Chat, author policy.Author, minute int, bodies ...string) []id.EventID {
	a.Helper()
	events := make([]id.EventID, len(bodies))
	a.inTx(func(tx store.Tx) error {
		for i, body := range bodies {
			a.event++
			events[i] = id.EventID(fmt.Sprint("$", a.event))
			_, err := store.InsertMessage(a.Context(), tx, store.Message{
				ChatID:  chat.ID,
				EventID: events[i],
				Author:  author,
				Sender:  "@x:example.com",
				Kind:    "text",
				Body:    body,
				At:      a.start.Add(time.Duration(minute+i) * time.Minute),
				Action:  policy.ActionArchive,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return events
}

func (a *archive) index() {
	a.Helper()
	for more := true; more; {
		var err error
		more, err = search.IndexMessages(a.Context(), a.st, time.UTC)
		require.NoError(a, err)
	}
}

// find searches the message index in the owner's scope with the given chats, and returns the texts.
func (a *archive) find(text string, chats ...store.Chat) []string {
	a.Helper()
	ids := make([]store.ChatID, len(chats))
	for i, c := range chats {
		ids[i] = c.ID
	}
	found, err := a.s.AsOwner(a.Context(), policy.OwnerScope(ids...), search.Query{Text: text, Source: index.Messages})
	require.NoError(a, err)
	var texts []string
	for _, h := range found.Hits {
		texts = append(texts, h.Text)
	}
	return texts
}

func (a *archive) count(sql string) (n int) {
	a.Helper()
	require.NoError(a, a.st.DB().QueryRow(a.Context(), sql).Scan(&n))
	return n
}

func TestMessageIndex_IsSeparate(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana, admin := a.chat("Ana", policy.KindDM), a.chat("admin", policy.KindAdmin)
	a.say(ana, policy.AuthorContact, 0, "Shall we paint the fence?", "Green would be nice", "The ladder is in the barn")
	a.say(ana, policy.AuthorOwnerClient, 10, "I bought 480 euros worth of wood")
	a.say(admin, policy.AuthorOwnerClient, 11, "what did Ana say about the fence and the ladder")
	require.Empty(t, a.find("fence ladder", ana, admin), "not indexed yet")
	a.index()
	require.Equal(t, []string{"Shall we paint the fence?", "Green would be nice", "The ladder is in the barn"}, a.find("fence", ana, admin),
		"the line after a question is its answer, what else was said nearby follows; what was asked in the admin room is not found")
	require.Equal(t, []string{"I bought 480 euros worth of wood"}, a.find("buying euros", ana)[:1])
	require.Empty(t, a.find("fence"), "the owner did not name the chat")

	found, err := a.s.AsOwner(t.Context(), policy.OwnerScope(ana.ID), search.Query{Text: "fence ladder"})
	require.NoError(t, err)
	require.Empty(t, found.Hits, "no document says so")

	found, err = a.s.AsContact(t.Context(), policy.ContactScope(ana.ID), search.Query{Text: "what was it", Source: index.Messages, Limit: 2})
	require.NoError(t, err)
	require.Len(t, found.Hits, 2)
	require.Equal(t, "I bought 480 euros worth of wood", found.Hits[0].Text, "a query of stop words finds the newest")
	require.Equal(t, ana.ID, found.Hits[0].ChatID)
	require.Equal(t, a.start.Add(10*time.Minute), found.Hits[0].IndexedAt.UTC())
}

func TestMessageIndex_NamedAuthorRanksFirst(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana Berg", policy.KindDM)
	a.say(ana, policy.AuthorOwnerClient, 0, "the trip to Rome is long")
	a.say(ana, policy.AuthorContact, 60, "the trip to Oslo is long")
	a.index()
	require.Equal(t, "the trip to Oslo is long", a.find("what did Ana say about the long trip", ana)[0])
	require.Equal(t, "the trip to Rome is long", a.find("what did Hannes say about the long trip", ana)[0],
		"the owner's own lines have his name")
}

func TestMessageIndex_OwnersLaterName(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana Berg", policy.KindDM)
	_, err := a.st.Pool().Exec(a.Context(), "update chats set owner_name = ''")
	require.NoError(t, err)
	a.say(ana, policy.AuthorOwnerClient, 0, "the trip to Rome is long")
	a.say(ana, policy.AuthorContact, 60, "the trip to Oslo is long")
	a.index()
	a.inTx(func(tx store.Tx) error { return store.SetOwnerName(a.Context(), tx, "") })
	require.Zero(t, a.count("select count(*) from messages where unindexed"), "no name is no change")
	a.inTx(func(tx store.Tx) error { return store.SetOwnerName(a.Context(), tx, "Hannes") })
	a.index()
	require.Equal(t, "the trip to Rome is long", a.find("what did Hannes say about the long trip", ana)[0])
	require.Equal(t, 2, a.count("select count(*) from message_index"))
	a.inTx(func(tx store.Tx) error { return store.SetOwnerName(a.Context(), tx, "Olga") })
	require.Zero(t, a.count("select count(*) from messages where unindexed"), "who has a name keeps it")
}

func TestMessageIndex_DayIsConversation(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana", policy.KindDM)
	const day = 24 * 60
	a.say(ana, policy.AuthorContact, 0, "The ladder?")
	a.say(ana, policy.AuthorContact, day, "Good morning to you")
	a.say(ana, policy.AuthorContact, 3*day, "Where is the saw?")
	a.say(ana, policy.AuthorContact, 3*day+18*60, "In the barn") // at three in the morning, which belongs to the day before
	a.index()
	require.Equal(t, []string{"The ladder?"}, a.find("ladder", ana), "what comes a day later is no answer")
	require.ElementsMatch(t, []string{"Where is the saw?", "In the barn"}, a.find("saw", ana), "the night belongs to the day before")
}

func TestMessageIndex_KeepsHistoryOrder(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana", policy.KindDM)
	for _, minute := range []int{20, 10, 0, 30} {
		var said []string
		for i := range 10 {
			said = append(said, fmt.Sprint("line ", minute+i))
		}
		a.say(ana, policy.AuthorContact, minute, said...)
		a.index()
	}
	require.Zero(t,
		a.count(`select count(*) from (select ord - lag(ord) over (order by ts) as step from message_index join messages using (id)) s where step <> 1`))
	require.Equal(t, 40, a.count("select count(*) from message_index"))
}

// traces counts all rows and sums of the message index and its statistics; it is 0 when nothing is left of deleted messages.
const traces = `select (select count(*) from message_index) + (select count(*) from message_terms)
	+ (select count(*) from message_configs) + (select count(*) from message_sizes where role <> '*') + (select sum(chunks) + sum(words) from message_sizes)`

func TestMessageIndex_OmitsEditedAndDeleted(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana := a.chat("Ana", policy.KindDM)
	events := a.say(ana, policy.AuthorContact, 0, "the safe opens with 4711", "the parrot sleeps", "tulips")
	a.index()
	found, err := a.s.AsOwner(t.Context(), policy.OwnerScope(ana.ID), search.Query{Text: "safe parrot tulips", Source: index.Messages})
	require.NoError(t, err)
	var ids []int64
	for _, h := range found.Hits {
		ids = append(ids, h.Ref.ID)
	}
	require.Len(t, ids, 3)
	a.inTx(func(tx store.Tx) error {
		_, err := store.RedactMessage(t.Context(), tx, ana.ID, events[0], time.Now())
		return err
	})
	a.inTx(func(tx store.Tx) error {
		_, err := store.EditMessage(t.Context(), tx, ana.ID, events[1], "@x:example.com", "the canary sleeps", time.Now())
		return err
	})
	scope := policy.OwnerScope(ana.ID)
	db, err := a.st.OwnerReader(scope)
	require.NoError(t, err)
	texts, err := index.MessageTexts(t.Context(), db, scope, ids)
	require.NoError(t, err)
	require.Len(t, texts, 1, "nor by a search that found them a moment before")
	require.Equal(t, "tulips", texts[0].Content)
	require.Empty(t, a.find("safe", ana))
	require.Empty(t, a.find("parrot", ana), "at once, before it is indexed anew")
	a.index()
	require.Equal(t, []string{"the canary sleeps"}, a.find("canary", ana)[:1])
	require.Zero(t, a.count("select count(*) from message_terms where word in ('4711', 'safe', 'open', 'parrot')"))
	require.Equal(t, 2, a.count("select chunks from message_sizes where role = '*'"))

	a.inTx(func(tx store.Tx) error {
		_, err := tx.Exec(t.Context(), "delete from messages where event_id = $1", events[2])
		return err
	})
	require.Zero(t, a.count("select count(*) from message_terms where word = 'tulip'"))
	a.inTx(func(tx store.Tx) error {
		_, err := tx.Exec(t.Context(), "delete from chats where id = $1", ana.ID)
		return err
	})
	require.Zero(t, a.count(traces), "with its chat, everything goes")
}

func TestMessageIndex_RespectsScopes(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	r := rand.New(rand.NewPCG(3, 4))
	chats := []store.Chat{a.chat("one", policy.KindDM), a.chat("two", policy.KindDM), a.chat("three", policy.KindGroup)}
	for i, c := range chats {
		var said []string
		for range 60 {
			said = append(said, fmt.Sprintf("of %d: %s", i, randomText(r, 8)))
		}
		said = append(said, fmt.Sprintf("of %d: only here is the word %s", i, inventedWord(uint64(1000+i))))
		a.say(c, policy.AuthorContact, i, said...)
	}
	a.index()
	for n := range 300 {
		i := r.IntN(len(chats))
		text := randomText(r, 1+r.IntN(4))
		switch n % 5 {
		case 0:
			text = "what is it" // the newest
		case 1:
			text = strings.Replace(text, "e", "a", 1) // a typing error
		case 2:
			text = inventedWord(uint64(1000 + r.IntN(len(chats)))) // a word of one chat
		}
		scope := policy.ContactScope(chats[i].ID)
		found, err := a.s.AsContact(t.Context(), scope, search.Query{Text: text, Source: index.Messages, Limit: 50})
		require.NoError(t, err)
		for _, h := range found.Hits {
			require.Equal(t, chats[i].ID, h.ChatID)
			require.True(t, strings.HasPrefix(h.Text, fmt.Sprintf("of %d:", i)), h.Text)
		}
		if text == inventedWord(uint64(1000+i)) {
			require.NotEmpty(t, found.Hits)
		}
	}
	require.NoError(t, a.st.AsContact(t.Context(), policy.ContactScope(chats[0].ID), func(tx store.Tx) error {
		var n int
		err := tx.QueryRow(t.Context(),
			"select count(*) from search_message_passages('{appl}', '{1}', 'appl', '{appl}', '{1}', 50, '{conv}', 8000, 8000) where doc_id <> $1",
			chats[0].ID).Scan(&n)
		require.Zero(t, n, "without a where of ours")
		return err
	}))
	require.Error(t, a.st.AsContact(t.Context(), policy.ContactScope(chats[0].ID), func(tx store.Tx) error {
		_, err := tx.Exec(t.Context(), "select from message_index")
		return err
	}))
}
