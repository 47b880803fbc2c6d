package business

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/hours"
)

func TestParseHours_AsPeopleType(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"mon-fri 9-12:30, 13:30-18; sat 10-14":                               `["mon-fri 9-12:30, 13:30-18","sat 10-14"]`,
		"mon-fri 7-18, sat 7-13":                                             `["mon-fri 7-18","sat 7-13"]`,
		"Mo-Fr 7-18 Uhr; Sa 7-13 Uhr":                                        `["mon-fri 7-18","sat 7-13"]`,
		"Mo-Fr 9-12.30 und 13.30-18 Uhr, Sa 9-13 Uhr":                        `["mon-fri 9-12.30, 13.30-18","sat 9-13"]`,
		"Montag bis Freitag 9 bis 18 Uhr\nSamstag und Sonntag geschlossen":   `["mon-fri 9-18","sat, sun closed"]`,
		"Monday to Friday 9am-5:30pm, Saturday 10 am - 12 pm, Sunday closed": `["mon-fri 9-17:30","sat 10 - 12","sun closed"]`,
		"mon, wed 9-17; täglich 8-20":                                        `["mon, wed 9-17","daily 8-20"]`,
		"daily 12am-6am":                                                     `["daily 0-6"]`,
		"fri 20-2":                                                           `["fri 20-2"]`,
		"mon-sat 24h":                                                        `["mon-sat 24h"]`,
		"segunda a sexta 7-19h; domingo 8h-13h":                              `["mon-fri 7-19","sun 8-13"]`,
		"terça-feira a sábado 7-19, domingo fechado":                         `["tue-sat 7-19","sun closed"]`,
		"maandag t/m vrijdag 9 u-18 u, zaterdag en zondag gesloten":          `["mon-fri 9-18","sat, sun closed"]`,
		"Pazartesi-Cuma 09:00-18:00, Cumartesi 9-13, Pazar kapalı":           `["mon-fri 09:00-18:00","sat 9-13","sun closed"]`,
		"lundi-samedi 9h-19h":                                                `["mon-sat 9-19"]`,
		"tutti i giorni 8-20":                                                `["daily 8-20"]`,
		"none":                                                               `[]`,
	} {
		got, err := StepHours.Read(typed)
		require.NoError(t, err)
		require.Equal(t, []Setting{{"business.hours", want}}, got, typed)
		var h hours.Hours
		if typed != "none" {
			for _, line := range readHours(typed) {
				require.NoError(t, h.Set(line), line)
			}
		}
	}
}
