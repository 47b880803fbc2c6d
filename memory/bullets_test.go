package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func FuzzParseBulletsKeepsKnownSourcesOnly(f *testing.F) {
	f.Add(`{"bullets": [{"kind": "happened", "text": "x", "from": [1, -1, 3, 99999999999999999999]}]}`)
	f.Add(`{"bullets": [{"kind": 7, "text": null, "from": "1"}]}`)
	f.Add(strings.Repeat("{", 1000))
	said := []store.Message{{ID: 5, Body: "a"}, {ID: 6, Body: "b"}}
	f.Fuzz(func(t *testing.T, text string) {
		bullets, err := parseBullets(text, said)
		if err != nil {
			return
		}
		for _, b := range bullets {
			require.NotEmpty(t, b.Sources)
			require.NotEmpty(t, b.Text)
			for _, m := range b.Sources {
				require.Contains(t, []store.MessageID{5, 6}, m.ID)
			}
		}
	})
}
