package desk

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestStats_SumFacts(t *testing.T) {
	t.Parallel()
	n := Summarize([]store.DeskFact{
		{Kind: store.FactAlone},
		{Kind: store.FactEscalated, Cause: policy.CausePerson},
		{Kind: store.FactEscalated, Cause: policy.CausePerson},
		{Kind: store.FactConversation},
		{Kind: store.FactConversation},
		{Kind: store.FactCost, Cost: 30},
		{Kind: store.FactCost, Cost: 11},
		{Kind: store.FactAnswered, Seconds: 100},
		{Kind: store.FactAnswered, Seconds: 10},
		{Kind: store.FactAnswered, Seconds: 20},
		{Kind: store.FactPerson, Seconds: 30},
		{Kind: store.FactPerson, Seconds: 60},
	})
	require.Equal(t, 1, n.Counts[store.FactAlone])
	require.Equal(t, map[policy.Cause]int{policy.CausePerson: 2}, n.ByCause)
	require.Equal(t, 20*time.Second, n.FirstAnswerWait)
	require.Equal(t, 45*time.Second, n.PersonWait)
	require.EqualValues(t, 20, n.CostPerConversation())
	require.True(t, Summarize(nil).IsZero())
	require.Zero(t, Summarize(nil).CostPerConversation())
}

func TestChart_HasBarPerDay(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	facts := []store.DeskFact{
		{Kind: store.FactAlone, At: from},
		{Kind: store.FactEscalated, At: from},
		{Kind: store.FactAlone, At: from.AddDate(0, 0, 6)},
		{Kind: store.FactAlone, At: from.AddDate(0, 0, 7)},
	}
	counts, highest := countDays(facts, from, 7)
	require.Equal(t, 2, highest)
	require.Equal(t, []int{1, 0, 1}, counts[0])
	require.Equal(t, []int{1, 0, 0}, counts[6])
	data, err := Chart(facts, from, 7)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	pixels := map[color.Color]int{}
	for x := range ChartWidth {
		for y := chartTop; y < ChartHeight-chartBottom; y++ {
			pixels[color.RGBAModel.Convert(picture.At(x, y))]++
		}
	}
	require.Equal(t, 2*pixels[series[2].color], pixels[series[0].color], "two bars of one, and one")
	require.Positive(t, pixels[series[2].color])
	_, err = Chart(nil, from, 7)
	require.NoError(t, err, "an empty week")
}
