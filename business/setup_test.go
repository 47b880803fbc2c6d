package business

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetup_AnswerBecomesSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step   Step
		answer string
		want   []Setting
	}{
		{StepName, " Piano House\u200b ", []Setting{{"business.name", "Piano House"}}},
		{StepGreeting, "NONE", []Setting{{"business.greeting", ""}}},
		{
			StepTopics, "prices, delivery, !refund, ! complaint",
			[]Setting{{"business.topics", `["prices","delivery"]`}, {"business.escalation.keywords", `["refund","complaint"]`}},
		},
		{StepTopics, "- prices, also used\n- delivery", []Setting{{"business.topics", `["prices, also used","delivery"]`}}},
		{StepTopics, "!", []Setting{{"business.topics", `[]`}}},
		{StepTopics, "none", []Setting{{"business.topics", `[]`}}},
		{
			StepRules, "Never promise a date; Prices include <b>tax</b>, always",
			[]Setting{{"business.rules", `["Never promise a date","Prices include <b>tax</b>, always"]`}},
		},
		{StepHours, "mon-fri 9-12:30, 13:30-18; sat 10-14", []Setting{{"business.hours", `["mon-fri 9-12:30, 13:30-18","sat 10-14"]`}}},
		{StepHours, "none", []Setting{{"business.hours", `[]`}}},
		{StepPages, "https://a.example/,\nhttps://b.example/x", []Setting{{"business.pages", `["https://a.example/","https://b.example/x"]`}}},
		{StepOperators, "@eva:x, @tom:x", []Setting{{"operators", `["@eva:x","@tom:x"]`}}},
		{StepPreview, "What does it cost?", nil},
	} {
		got, err := c.step.Read(c.answer)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.answer)
	}
	_, err := StepName.Read(" \u200b\n")
	require.Error(t, err)
}

func TestSetup_StepsAreOrdered(t *testing.T) {
	t.Parallel()
	require.Equal(t, StepName, StepName.Previous())
	require.Equal(t, StepGreeting, StepName.Next())
	require.Equal(t, StepPreview, StepPreview.Next())
	require.Equal(t, StepTone, StepOperators.Previous())
	for i, s := range Steps() {
		require.Equal(t, i+1, s.Number())
		require.NotEmpty(t, s.Question())
		parsed, ok := ParseStep(" " + string(s) + " ")
		require.True(t, ok)
		require.Equal(t, s, parsed)
	}
	_, ok := ParseStep("nonsense")
	require.False(t, ok)
}
