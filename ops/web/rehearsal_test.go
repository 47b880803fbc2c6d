package web_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestRehearsal_ShowsThenAndNow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/rehearsal"), "No rehearsal yet")
	r.fill("Ana")
	put := func(different ...store.RehearsedAnswer) {
		last := store.Rehearsal{At: r.now, Days: 30, Asked: 20, Different: different}
		require.NoError(t, r.st.InTx(t.Context(), func(tx store.Tx) error {
			return store.PutSetting(t.Context(), tx, store.SettingRehearsal, last)
		}))
	}
	put()
	require.Contains(t, r.get("/rehearsal"), "Nothing differs")
	put(
		store.RehearsedAnswer{Message: 1, Kind: store.OtherNumber, Said: "It costs <b>240 €</b>.", Sources: []string{"prices.md › Rental"}},
		store.RehearsedAnswer{Message: 99, Kind: store.NowEscalated, Why: "Zxqv", Said: ""},
	)
	page := r.get("/rehearsal")
	for _, want := range []string{
		"<h1>2 of 20 answers differ</h1>", `Other number <span class="num">1</span>`, "<p>[Nora] Ana</p>", "It costs &lt;b&gt;240 €&lt;/b&gt;.",
		"prices.md › Rental", `<a href="/chats/1" dir="auto">Ana</a>`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "Zxqv", "what was deleted since is left out")
	put(store.RehearsedAnswer{Message: 1, Kind: store.NowEscalated, Why: "No document has the answer."})
	require.Contains(t, r.get("/rehearsal"), "To a person: No document has the answer.")
}
