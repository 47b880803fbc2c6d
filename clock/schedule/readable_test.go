package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

// TestReadable_LeavesEnglish: a text that begins with a time in English is left as it is, whatever words it has.
func TestReadable_LeavesEnglish(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2h reunión del lunes":                        "2h reunión del lunes",
		"tomorrow at 8 schönen Samstag":               "tomorrow at 8 schönen Samstag",
		"every monday at 8 pan el martes":             "every monday at 8 pan el martes",
		"tous les lundis la réunion de 10h":           "every monday la réunion de 10h",
		"morgen um 8":                                 "tomorrow at 8",
		"24. Dezember um 18 Uhr Geschenke":            "24 december 18:00 Geschenke",
		strings.Repeat("pan ", 20) + "mañana a las 8": "tomorrow at 8 " + strings.TrimSpace(strings.Repeat("pan ", 20)),
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, schedule.Readable(text, now))
		})
	}
}
