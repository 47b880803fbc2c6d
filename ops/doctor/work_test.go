package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
