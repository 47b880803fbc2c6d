package policy

import (
	"slices"
	"strings"
)

// The words of a question about opening hours, in German and English. A question with any other word is not taken for
// one, because it may be about something else: "Macht ihr auch Torten auf Bestellung?".
const (
	germanHoursWords = `wann|ab|bis|um|wie|wieviel|viel|uhr|lang|lange|spät|früh|von|was|welche|welchen|zeiten|sind|eure|euer|euere|ihre|deine|die|der|das|den|dem|im|in|ihr|sie|du|man|ich|wir|es|denn|eigentlich|noch|schon|auch|immer|normalerweise|bitte|mal
habt|haben|hat|macht|machen|machst|seid|bist|ist|wird|werdet|auf|zu|laden|geschäft|büro|praxis|am|an|heute|heut|morgen|übermorgen|jetzt|gerade|momentan|wochenende|wochenenden|tagen|tage|abend|abends|morgens|mittags|nachmittags|früh
kann|kannst|können|könnt|könnten|könntet|mir|sagen|wissen|sagt|feierabend|hallo|hi|hey|moin|guten|tag|und|danke|liebes|team|zusammen`
	germanDays = `montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag`
	// germanParticles are a verb's second part, which says by itself nothing about opening hours; germanVerbs are the first parts.
	germanParticles = `auf|zu`
	germanVerbs     = `habt|haben|hat|macht|machen|machst|seid|sind`
	germanHours     = `offen|geöffnet|geoeffnet|öffnet|öffnen|öffnest|geschlossen|schließt|schließen|schliesst|schliessen|öffnungszeiten|öffnungszeit|geschäftszeiten|ladenzeiten|aufmachen|zumachen|aufhaben|zuhaben|ladenschluss`

	englishHoursWords = `times|time|business|when|what|what's|whats|when's|which|till|til|until|how|late|long|early|do|does|are|is|will|be|you|your|u|ya|guys|the|shop|store|office|place|on|at|in|today|tomorrow|tonight|now|right|still|currently|moment|days|day|week|weekend|weekends|weekdays
morning|mornings|evening|evenings|please|pls|hi|hello|hey|can|could|would|tell|me|i|know|a|of|and|or|to|for|from|there|thanks|thank|normally|usually|also|it|good|afternoon`
	englishDays  = `monday|tuesday|wednesday|thursday|friday|saturday|sunday`
	englishHours = `open|opening|opened|opens|close|closes|closed|closing|shut|shuts|hours`

	maxHoursWords = 16
)

// HoursWordings returns other wordings of a question about opening hours, with the days that it names; none for any other
// question. People ask for them in many words ("Wann macht ihr auf?", "How late are you open?") that no document has.
func HoursWordings(question string) []string {
	words := intentWords(question)
	if len(words) == 0 || len(words) > maxHoursWords {
		return nil
	}
	asksInGerman := hasWord(words, germanHours) || hasWord(words, germanParticles) && hasWord(words, germanVerbs)
	if days, ok := hoursDays(words, germanHours+"\n"+germanHoursWords, germanDays); ok && asksInGerman {
		return []string{joinWords("Wann habt ihr", days, "geöffnet?"), joinWords("Was sind eure Öffnungszeiten", days, "?")}
	}
	if days, ok := hoursDays(words, englishHours+"\n"+englishHoursWords, englishDays); ok && hasWord(words, englishHours) {
		return []string{joinWords("When are you open", days, "?"), joinWords("What are your opening hours", days, "?")}
	}
	return nil
}

// hoursDays returns the days of the week among words. ok is false if one of the words is neither a day nor known.
func hoursDays(words []string, known, names string) (days []string, ok bool) {
	list, weekdays := phrases(known), phrases(names)
	for _, word := range words {
		switch day := strings.TrimSuffix(word, "s"); {
		case slices.Contains(weekdays, day):
			days = append(days, day)
		case !slices.Contains(list, word):
			return nil, false
		}
	}
	return days, true
}

// hasWord reports whether one of words is in a table.
func hasWord(words []string, table string) bool {
	list := phrases(table)
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}

// joinWords returns a question with days in it.
func joinWords(before string, days []string, after string) string {
	return strings.Join(slices.Concat([]string{before}, days, []string{after}), " ")
}
