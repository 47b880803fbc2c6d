package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const rentalGuide = `# Bike rental

## Prices

| Bike | 1 day | 3 days | Deposit |
|---|---|---|---|
| City bike | 12 € | 30 € | 50 € |
| E-bike | 19 € | 50 € | 100 € |
| Tandem | 32 € | 85 € | 100 € |
| Cargo bike for two children and a week of shopping | 45 € | 120 € | 200 € |
| Mountain bike, hardtail, in the sizes S, M, L and XL | 29 € | 75 € | 150 € |
| Racing bike, carbon, with clip pedals on demand | 39 € | 99 € | 300 € |
| Trailer for children up to six years or 40 kg | 9 € | 20 € | 50 € |

## The battery

The e-bike battery lasts for 80 km per day. Charge it over night.

## Cancellation

You can cancel for free until 24 hours before. Later we charge half.

## Discounts

In 2026 groups from six bikes get a discount of 10 %. The discounts can be combined with the weekend card.
`

const accessories = "Item,Price per day,Colour\nHelmet,3 €,black or white\nLock,2 €,black\nBasket,1 €,brown\nPannier bags,4 €,yellow\nChild seat,5 €,grey\n"

// indexRentalShop indexes the two documents of a bike rental shop: a guide and a price list.
func indexRentalShop(t *testing.T) (*search.Searcher, *store.Store) {
	t.Helper()
	st := storetest.New(t)
	for name, text := range map[string]string{"guide.md": rentalGuide, "accessories.csv": accessories} {
		_, err := knowledge.New(st).Index(t.Context(), knowledge.File{Name: name, Data: []byte(text), Role: policy.RolePublic})
		require.NoError(t, err)
	}
	return search.New(st), st
}

func TestRental_AnsweredByRowOrSentence(t *testing.T) {
	t.Parallel()
	s, _ := indexRentalShop(t)
	for question, want := range map[string]string{
		"What does an e-bike cost per day?":  "Bike: E-bike; 1 day: 19 €; 3 days: 50 €; Deposit: 100 €",
		"whats the desposit for an ebike":    "Bike: E-bike; 1 day: 19 €; 3 days: 50 €; Deposit: 100 €",
		"hwo far does the batery last":       "The e-bike battery lasts for 80 km per day. Charge it over night.",
		"cancelation policy":                 "You can cancel for free until 24 hours before. Later we charge half.",
		"how much is a helmet?":              "Item: Helmet; Price per day: 3 €; Colour: black or white",
		"are there yellow pannier bags":      "Item: Pannier bags; Price per day: 4 €; Colour: yellow",
		"and for 3 days?":                    "",
		"how much is the deposit?":           "",
		"who wins the world cup 2026":        "",
		"Combien coûte une nuit à l'hôtel ?": "",
	} {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: question})
		require.NoError(t, err)
		q, ok, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		require.Equal(t, want != "", ok, "%s: %s", question, q.Text)
		require.Equal(t, want, q.Text, question)
		if ok {
			require.Contains(t, text.CollapseSpaces(q.Hit.Text), text.CollapseSpaces(q.Text), question)
		}
	}
}
