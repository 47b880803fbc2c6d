package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestModels_ShowExam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	setYAML("llm:\n  model: mine/small\n  prices: [mine/small 1 2]\n  providers:\n    mine: {base_url: " + provider(t) + ", api_key: right-key}\n")(w)
	fact := func() string {
		for _, s := range Run(t.Context(), w.openInput()).Sections {
			if s.Name == "models" {
				return s.Fact
			}
		}
		return ""
	}
	require.Equal(t, "mine/small - never examined (multis models exam mine/small)", fact())
	require.Empty(t, w.findingIDs(), "that is no fault")
	require.NoError(t, store.PutModelExam(t.Context(), w.st.Writer(), store.ModelExam{
		Model:      "mine/small",
		ExaminedAt: time.Now(),
		Summary:    "should not answer customers (9 of 50 tasks right)",
		Card:       []byte("{}"),
	}))
	require.Equal(t, "mine/small - should not answer customers (9 of 50 tasks right)", fact())
}

// A model that answers customers before anybody reads it must have passed the exam.
func TestModels_WarnOfUnfitAnswerers(t *testing.T) {
	t.Parallel()
	const unexamined = "mine/small answers customers in 1 chat without your approval, and was never examined: until then it may not judge its own sentences there."
	for name, c := range map[string]struct {
		delivery policy.Delivery
		card     string
		want     string
	}{
		"never examined": {policy.DeliveryAuto, "", unexamined},
		"did not pass": {
			policy.DeliveryAuto,
			`{"verdict": "no"}`,
			"mine/small answers customers in 1 chat without your approval, and should not answer customers (9 of 50 tasks right).",
		},
		"passed":         {policy.DeliveryAuto, `{"verdict": "answers"}`, ""},
		"may draft":      {policy.DeliveryAuto, `{"verdict": "drafts"}`, ""},
		"drafts only":    {policy.DeliveryDraft, "", ""},
		"shadow answers": {policy.DeliveryShadow, `{"verdict": "no"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			setYAML("llm:\n  model: mine/small\n  prices: [mine/small 1 2]\n  providers:\n    mine: {base_url: " + provider(t) + ", api_key: right-key}\n")(w)
			w.exec("update chats set mode = 'business', mode_set_at = now(), delivery = $1 where channel_id = 'ana'", string(c.delivery))
			if c.card != "" {
				require.NoError(t, store.PutModelExam(t.Context(), w.st.Writer(), store.ModelExam{
					Model:      "mine/small",
					ExaminedAt: time.Now(),
					Summary:    "should not answer customers (9 of 50 tasks right)",
					Card:       []byte(c.card),
				}))
			}
			found := Run(t.Context(), w.openInput()).Findings()
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, c.want, found[0].Message)
			id, line := ModelUnfit, "/delivery draft"
			if c.want == unexamined {
				id, line = ModelUnexamined, "multis models exam mine/small"
			}
			require.Equal(t, id, found[0].ID)
			require.Contains(t, found[0].Fix, line)
		})
	}
}
