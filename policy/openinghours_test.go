package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpeningHours_AskedInManyWords(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Wann macht ihr auf?": "Wann habt ihr geöffnet?", "Wann macht ihr zu?": "Wann habt ihr geöffnet?",
		"Bis wann habt ihr heute offen?": "Wann habt ihr geöffnet?", "Wie lange habt ihr auf?": "Wann habt ihr geöffnet?",
		"Habt ihr sonntags auf": "Wann habt ihr sonntag geöffnet?", "Macht ihr am Samstag auf?": "Wann habt ihr samstag geöffnet?",
		"Hallo, ab wie viel Uhr haben Sie morgen geöffnet?": "Wann habt ihr geöffnet?",
		"Wann ist Ladenschluss?":                            "Wann habt ihr geöffnet?", "Öffnungszeiten?": "Wann habt ihr geöffnet?",
		"Wann schließt ihr am Freitag?": "Wann habt ihr freitag geöffnet?", "Seid ihr noch offen?": "Wann habt ihr geöffnet?",
		"HABT IHR OFFEN???": "Wann habt ihr geöffnet?",
		"When do you open?": "When are you open ?", "How late are you open tonight?": "When are you open ?",
		"What time do you close on Fridays": "When are you open friday ?", "What are your hours?": "When are you open ?",
		"are u open now??": "When are you open ?",
		"Hi, until when are you open on Saturday, please?": "When are you open saturday ?", "Is the shop still open?": "When are you open ?",
		"Business hours?": "When are you open ?",
	} {
		t.Run(question, func(t *testing.T) {
			got := HoursWordings(question)
			require.Len(t, got, 2, question)
			require.Equal(t, want, got[0], question)
		})
	}
	for _, question := range []string{
		"", "ok", "Hallo", "Was macht ihr heute?", "Macht ihr auch Torten auf Bestellung?", "Habt ihr Brot?", "Kann ich zu euch kommen?",
		"Habt ihr an Weihnachten offen?", "Seid ihr am 24.12. offen?", "Ist die Stelle noch offen für Bewerber?",
		"How long is the course?", "Are you open on Christmas Day?", "Are you close to the station?", "Do you open the window for me?",
		"What time is the delivery?", "How many hours is the flight?", "Is the job still open to students?",
		"open open open open open open open open open open open open open open open open open",
	} {
		t.Run(question, func(t *testing.T) {
			require.Empty(t, HoursWordings(question), question)
		})
	}
}
