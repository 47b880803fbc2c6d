package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApproval_OnlyYesAllows(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"8h", "an hour", "2 hours", "one hour.", "h", "hours", "1 2 3 h", "for h", "yes h"} {
		a, ok := parseCardAnswer(said)
		require.False(t, ok && a.allowed, said)
	}
}
