package media

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIsSilence_KnowsPhantoms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said    string
		seconds int
		want    bool
	}{
		{"Untertitel der Amara.org-Community", 2, true},
		{"Untertitelung des ZDF, 2020", 2, true},
		{"Sous-titres réalisés par la communauté d'Amara.org", 3, true},
		{"Субтитры сделал DimaTorzok", 3, true},
		{" [BLANK_AUDIO]", 2, true},
		{"(music)", 9, true},
		{"♪♪", 9, true},
		{"Thanks for watching!", 3, true},
		{"Thank you. Thank you. Bye.", 9, true},
		{"Vielen Dank.", 8, true},
		{"...", 3, true},
		{"Thank you.", 2, false},
		{"Danke!", 1, false},
		{"Yes, Saturday.", 30, true},
		{"Yes, Saturday.", 3, false},
		{"Yes, Saturday.", 0, false},
		{"Thank you, we would like a table for two.", 9, false},
		{"Do you deliver (free) on Saturday?", 9, false},
		{"我想订一个星期六的蛋糕", 20, false},
	} {
		require.Equal(t, c.want, isSilence(c.said, time.Duration(c.seconds)*time.Second), "%q in %d s", c.said, c.seconds)
	}
}
