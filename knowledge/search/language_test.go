package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/language"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/index"
	"multis/store/storetest"
)

// The words of each question are inflected differently in the document that answers it.
func TestStems_PerLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of          language.Language
		text, other string
		query       string
	}{
		{
			language.English, "Our loaves are baked each morning before the shop is opened for you.",
			"The parking is behind the house and it is free.", "baking a loaf",
		},
		{
			language.German, "Die Bestellungen werden innerhalb von drei Tagen geliefert.", "Der Parkplatz ist hinter dem Haus und für Gäste frei.",
			"Wann wird die Bestellung geliefert?",
		},
		{
			language.French, "Les livraisons sont effectuées dans les trois jours après la commande.",
			"Le parking est derrière la maison et il est gratuit.", "livraison des commandes",
		},
		{
			language.Spanish, "Las entregas de los pedidos se hacen en tres días por la mañana.",
			"El aparcamiento está detrás de la casa y es gratis.", "¿Cuándo se hace la entrega de un pedido?",
		},
		{
			language.Portuguese, "As entregas das encomendas são feitas em três dias pela manhã.",
			"O estacionamento não tem custo e fica atrás da casa.", "entrega de uma encomenda",
		},
		{
			language.Italian, "Le consegne degli ordini sono fatte entro tre giorni dalla richiesta.",
			"Il parcheggio è dietro la casa e non costa nulla.", "consegna di un ordine",
		},
		{
			language.Dutch, "De leveringen van uw bestellingen worden binnen drie dagen gedaan.", "Het parkeren is achter het huis en niet duur.",
			"levering van een bestelling",
		},
		{
			language.Russian, "Доставка заказов осуществляется в течение трёх дней.", "Парковка находится за домом и бесплатна.",
			"когда доставят заказ",
		},
		{language.Arabic, "يتم تسليم الطلبات خلال ثلاثة أيام من الشراء", "موقف السيارات خلف المنزل وهو مجاني", "تسليم الطلب"},
		{language.Simple, "パン屋は日曜日の朝八時に開きます。", "駐車場は家の裏にあります。", "日曜日のパン屋"},
		{language.Simple, "面包店星期天早上八点开门。", "停车场在房子后面。", "星期天几点开门"},
	} {
		t.Run(string(c.of)+" "+c.query, func(t *testing.T) {
			t.Parallel()
			s := indexAll(t, storetest.New(t), [2]string{"right.txt", c.text}, [2]string{"wrong.txt", c.other},
				[2]string{"english.txt", "The delivery of orders and the opening hours are on the other page."})
			found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: c.query})
			require.NoError(t, err)
			require.NotEmpty(t, found.Hits)
			require.Equal(t, "right.txt", found.Hits[0].Title)
			require.Equal(t, c.of, found.Hits[0].Language)
			require.NotContains(t, titles(found), "wrong.txt")
		})
	}
}

func TestRank_AdjacentWordsInEachLanguage(t *testing.T) {
	t.Parallel()
	s := indexAll(t, storetest.New(t), [2]string{"apart.txt", "The baking of the bread, which the guests like, is done before the course."},
		[2]string{"together.txt", "The guests like the bread and the baking course, which is done before it."},
		[2]string{"german.txt", "Unser Baking Team und der Course Planer sind nicht im Haus, aber das ist auch nicht schlimm."})
	for range 3 { // asked of the database, then in memory
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "the baking courses", Explain: true})
		require.NoError(t, err)
		require.Equal(t, language.German, found.Hits[slices.Index(titles(found), "german.txt")].Language)
		require.Positive(t, found.Hits[slices.Index(titles(found), "together.txt")].Why.Cues)
		require.Zero(t, found.Hits[slices.Index(titles(found), "apart.txt")].Why.Cues)
	}
}

func TestCorrect_OneNearWordSupportsAnswer(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := indexAll(t, st, [2]string{"a.txt", "Breakfast is served in the conservatory."}, [2]string{"b.txt", "The sauna is heated at noon."})
	var installed bool
	require.NoError(t, st.DB().QueryRow(t.Context(), "select to_regclass('term_stats_similar') is not null").Scan(&installed))
	require.True(t, installed, "the extension for similar words is part of Postgres")
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "the conservatroy"})
	require.NoError(t, err)
	require.Equal(t, []string{"a.txt"}, titles(found))
	_, ok, err := s.Answer(t.Context(), found)
	require.NoError(t, err)
	require.True(t, ok, "no other word of the documents is as near")
}

func TestCorrect_RevealsNoOtherChat(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.UserRole(1))
	found, err := search.New(st).AsContact(t.Context(), policy.ContactScope(2), search.Query{Text: "umbrelba"})
	require.NoError(t, err)
	require.Empty(t, found.Hits)
	for _, term := range found.Terms {
		require.False(t, term.Correction, "a word of another chat must not be offered")
	}
}

func TestCorrect_IgnoresOtherChats(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ana, ben := a.chat("Ana", policy.KindDM), a.chat("Ben", policy.KindDM)
	var others strings.Builder
	for c := range strings.SplitSeq("bcdfghjklmnpqrstuvwxzé", "") {
		others.WriteString("\nconservatro" + c + "\nconservatr" + c) // more similar to the query's word than the correct one is
	}
	a.say(ben, policy.AuthorContact, 0, strings.Fields(others.String())...)
	a.say(ana, policy.AuthorContact, 0, "Breakfast is in the conservatory.")
	a.index()
	lib := knowledge.New(a.st)
	for _, f := range []knowledge.File{
		{Name: "ana.txt", Role: policy.UserRole(ana.ID), Data: []byte("Breakfast is in the conservatory.")},
		{Name: "ben.txt", Role: policy.UserRole(ben.ID), Data: []byte(others.String())},
		{Name: "public.txt", Role: policy.RolePublic, Data: []byte("The sauna is heated at noon.")},
	} {
		_, err := lib.Index(t.Context(), f)
		require.NoError(t, err)
	}
	for _, in := range []index.Source{index.Documents, index.Messages} {
		found, err := search.New(a.st).AsContact(t.Context(), policy.ContactScope(ana.ID), search.Query{Text: "conservatroy", Source: in})
		require.NoError(t, err)
		require.Len(t, found.Hits, 1, in)
		require.Equal(t, "Breakfast is in the conservatory.", found.Hits[0].Text)
		require.Equal(t, "conservatori", found.Terms[0].Lexeme)
		require.EqualValues(t, 1, found.Terms[0].Chunks)
	}
}

func TestExplain_AddsUpToScore(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := indexAll(t, st, [2]string{"a.txt", "The rye bread is baked on Monday."}, [2]string{"b.txt", "Bread and butter."})
	found, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: "When is rye bread baked?", Explain: true})
	require.NoError(t, err)
	require.Len(t, found.Hits, 2)
	for _, h := range found.Hits {
		sum := 0.0
		for _, term := range h.Why.Terms {
			sum += term.Score
		}
		require.InDelta(t, h.Score, sum*h.Why.Author+h.Why.Conversation+h.Why.Cues+h.Why.Activation, 1e-9)
	}
	require.Positive(t, found.Hits[0].Why.Cues, "rye bread stands together, and a day is named")
}

func TestPlan_EqualsExhaustiveInSmallScope(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	indexRoles(t, st, policy.RolePublic, policy.UserRole(1))
	s := search.New(st)
	for _, text := range []string{"apple bridge", "zebra", "garden harbour island jacket kitchen ladder mirror needle orange pencil"} {
		fast, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text})
		require.NoError(t, err)
		exact, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: text, Exhaustive: true})
		require.NoError(t, err)
		require.Equal(t, exact.Hits, fast.Hits)
	}
}
