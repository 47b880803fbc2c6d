package setup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComplete_OwnerAndZone(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"anna": "@anna:example.org", "@anna": "@anna:example.org", " anna ": "@anna:example.org",
		"@anna:else.org": "@anna:else.org", "anna:example.org": "anna:example.org", "": "", "@": "@", "anna smith": "anna smith",
	} {
		t.Run("owner "+typed, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, completeOwner(typed, "example.org"))
		})
	}
	require.Equal(t, "anna", completeOwner("anna", ""), "no domain is known")
	names := []string{"Europe/Vienna", "America/New_York", "America/Kentucky/Louisville", "Europe/Here", "Asia/Here"}
	for typed, want := range map[string]string{
		"vienna": "Europe/Vienna", "europe/vienna": "Europe/Vienna", "Europe/Vienna": "Europe/Vienna", "new york": "America/New_York",
		"here": "here", "Mars": "Mars", "": "", "UTC": "UTC",
	} {
		t.Run("zone "+typed, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, completeZone(typed, names))
		})
	}
}
