package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRating_ReadFromEmojiOnly(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Rating{
		"👍": RatingGood, "👍🏿": RatingGood, " 👍️ ": RatingGood, "👍👍👍": RatingGood, "❤️": RatingGood, "😀": RatingGood, "🙂": RatingGood,
		"👎": RatingBad, "👎🏻": RatingBad, "☹": RatingBad, "☹️": RatingBad, "🙁": RatingBad, "😠": RatingBad,
		"": "", "👍👎": "", "👍 great": "", "great": "", "1": "", "🤷": "", "😐": "", "mxc://x/y": "", "\ufe0f": "", strings.Repeat("👍", 20): "",
	} {
		t.Run(s, func(t *testing.T) {
			require.Equal(t, want, RatingOf(s), "%q", s)
		})
	}
}

func TestFollowUps_ChatThenLabelThenDefault(t *testing.T) {
	t.Parallel()
	never := 0
	five := 5
	two := 2
	yes := true
	no := false
	d := Defaults{FollowUpDays: 3, Labels: []Label{
		{Name: "plain"},
		{Name: "late", FollowUpDays: &five, AskRating: &yes},
		{Name: "never", FollowUpDays: &never, AskRating: &no},
	}}
	for name, c := range map[string]struct {
		facts ChatFacts
		days  int
		asks  bool
	}{
		"nothing":           {ChatFacts{}, 3, false},
		"a label without":   {ChatFacts{Labels: []string{"plain"}}, 3, false},
		"a label":           {ChatFacts{Labels: []string{"plain", "late"}}, 5, true},
		"the first label":   {ChatFacts{Labels: []string{"never", "late"}}, 5, true},
		"a label ends it":   {ChatFacts{Labels: []string{"never"}}, 0, false},
		"the owner":         {ChatFacts{FollowUpDays: &two, Labels: []string{"late"}}, 2, true},
		"the owner ends it": {ChatFacts{FollowUpDays: &never, Labels: []string{"late"}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.days, d.FollowUpAfter(c.facts), name)
			require.Equal(t, c.asks, d.AsksRating(c.facts), name)
		})
	}
	require.False(t, Defaults{Labels: []Label{{FollowUpDays: &never, AskRating: &no}}}.HasFollowUps())
	require.False(t, Defaults{Labels: []Label{{FollowUpDays: &never, AskRating: &no}}}.HasRatings())
	require.True(t, d.HasFollowUps() && d.HasRatings() && Defaults{AskRating: true}.HasRatings())
}

func TestFollowUp_AlwaysWaitsForApproval(t *testing.T) {
	t.Parallel()
	for _, d := range append(Deliveries(), "") {
		require.Equal(t, d != DeliveryShadow, d.NeedsApproval(PurposeFollowUp), d)
		require.Equal(t, d == DeliveryShadow, d.IsShadow(PurposeFollowUp), d)
		require.Equal(t, d == DeliveryDraft, d.NeedsApproval(PurposeRating), d)
		require.False(t, d.NeedsApproval(PurposeDraft), d)
		require.False(t, d.NeedsApproval(PurposeNotice), d)
	}
}

func TestPlainEmoji_DropsSkinTones(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"👍🏽": "👍", "👎🏿": "👎", "✔️": "✔", "❌": "❌", "🤚🏻": "🤚", "1️⃣": "1⃣"} {
		require.Equal(t, want, PlainEmoji(in), in)
	}
}
