package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

const twoShops = `# Shops

## Shop in Harbour Street

Our workshop is open Monday to Friday from 9:00 to 18:00.
Parking costs 2 euro per hour.

## Shop at the Station

Our workshop is open Tuesday to Saturday from 10:00 to 20:00.
Parking costs 2 euro per hour.

# Rental

Each helmet costs 3 euro.

## Canoes

A deposit of 50 euro is due.

## Sailing boats

A deposit of 300 euro is due.

## Skates

Skates are for rent all year. A key costs 5 euro.

## Sledges

Sledges are for rent in winter. A key costs 6 euro.

## Skis

Skis are for rent in winter. A key costs 7 euro.
`

func TestChoice_NeedsTwoDifferentValues(t *testing.T) {
	t.Parallel()
	s := indexAll(t, storetest.New(t), [2]string{"shops.md", twoShops}, [2]string{"garage.north.md", "The car wash costs 12 euro."},
		[2]string{"south.md", "The car wash costs 15 euro."})
	for question, want := range map[string][]string{
		"When is the workshop open?":                     {"Shop in Harbour Street", "Shop at the Station"},
		"When is the workshop at the station open?":      nil,
		"How much is the deposit?":                       {"Canoes", "Sailing boats"},
		"How much is the deposit for a canoe?":           nil,
		"What does the car wash cost?":                   {"garage", "south"},
		"How much is the parking?":                       nil, // the same at both
		"How much is a helmet?":                          nil,
		"How much does a key cost?":                      nil, // of three
		"What do helicopters cost?":                      nil,
		"Is the deposit for canoes or for sailing boats": nil,
	} {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: question})
		require.NoError(t, err)
		options, err := s.Options(t.Context(), found)
		require.NoError(t, err)
		var subjects []string
		for _, o := range options {
			subjects = append(subjects, o.Subject)
			require.Contains(t, o.Quote.Hit.Text, o.Quote.Text)
		}
		require.ElementsMatch(t, want, subjects, question)
		_, answered, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		if len(want) > 0 {
			require.False(t, answered, "which one is meant is not known: %s", question)
		}
	}
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "How much does a key cost?"})
	require.NoError(t, err)
	_, answered, err := s.Answer(t.Context(), found)
	require.NoError(t, err)
	require.False(t, answered, "one of three would be a guess")
	found, err = s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: "How much is the deposit for a canoe?"})
	require.NoError(t, err)
	quote, answered, err := s.Answer(t.Context(), found)
	require.NoError(t, err)
	require.True(t, answered)
	require.Contains(t, quote.Text, "50 euro")
}

func TestChoice_ReplyPicksByWords(t *testing.T) {
	t.Parallel()
	shops := []search.Option{{Subject: "Shop in Harbour Street"}, {Subject: "Shop at the Station"}}
	boats := []search.Option{{Subject: "Canoes"}, {Subject: "Sailing boats"}}
	french := []search.Option{{Subject: "Chambre simple"}, {Subject: "Chambre familiale"}}
	for _, c := range []struct {
		options []search.Option
		reply   string
		want    int
	}{
		{shops, "the station please", 1},
		{shops, "Harbour", 0},
		{shops, "harbour street or station, I am not sure", -1},
		{shops, "the shop", -1},
		{shops, "what is the weather?", -1},
		{boats, "a canoe", 0},
		{boats, "The SAILING one", 1},
		{boats, "boat", 1},
		{boats, "", -1},
		{french, "la familiale s'il vous plaît", 1},
		{french, "simple", 0},
		{french, "une chambre", -1},
	} {
		require.Equal(t, c.want, search.PickOption(c.options, c.reply), c.reply)
	}
}
