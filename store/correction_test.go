package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCorrection_SplitsPassage(t *testing.T) {
	t.Parallel()
	const passage = "We deliver on Tuesdays.\nDelivery  costs\n3 EUR (in town). Ask us.\nParking is free."
	correction := func(document DocumentID, quote string) Correction {
		return Correction{LearnedAnswer: LearnedAnswer{CorrectsQuote: quote}, DocumentID: document}
	}
	rest, corrected := SplitPassage([]Correction{
		correction(7, "Delivery costs 3 EUR (in town)."), correction(7, "Parking is free."),
		correction(8, "Ask us."), correction(7, ""),
	}, 7, passage)
	require.Equal(t, []PassagePart{{"We deliver on Tuesdays.\n", 0}, {" Ask us.\n", 2}}, rest)
	require.Equal(t, []PassagePart{{"Delivery  costs\n3 EUR (in town).", 1}, {"Parking is free.", 3}}, corrected)
	rest, corrected = SplitPassage(nil, 7, passage)
	require.Equal(t, []PassagePart{{passage, 0}}, rest)
	require.Empty(t, corrected)
}
