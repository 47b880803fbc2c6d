package catalog

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// hoursWord matches the words of opening hours as the configuration has them.
var hoursWord = regexp.MustCompile(`(?i)\b(?:sun|mon|tue|wed|thu|fri|sat|daily|closed)\b`)

// hoursRange matches a range of weekdays.
var hoursRange = regexp.MustCompile(`(?i)\b(sun|mon|tue|wed|thu|fri|sat) *- *(sun|mon|tue|wed|thu|fri|sat)\b`)

// FormatHours returns opening hours of the configuration, such as "mon-fri 9-17", with their words in a language, and in
// brackets the days of the next holidays, which may be none.
func FormatHours(lang Lang, hours string, closed []time.Time) string {
	days, known := weekdays()[lang]
	if !known {
		lang, days = English, weekdays()[English]
	}
	if lang == Portuguese { // its weekdays have hyphens themselves
		hours = hoursRange.ReplaceAllString(hours, "$1 a $2")
	}
	said := hoursWord.ReplaceAllStringFunc(hours, func(word string) string {
		switch word = strings.ToLower(word); word {
		case "daily":
			return phrase(lang, "hours_daily")
		case "closed":
			return phrase(lang, "hours_closed")
		}
		for day := time.Sunday; day <= time.Saturday; day++ {
			if strings.EqualFold(day.String()[:3], word) {
				return days[day]
			}
		}
		return word
	})
	var dates []string
	for _, day := range closed {
		dates = append(dates, day.Format(dateLayout(lang)))
	}
	if len(dates) > 0 {
		said += " (" + phrase(lang, "hours_closed") + " " + strings.Join(dates, ", ") + ")"
	}
	return said
}

// ReadHoursWords returns typed opening hours, in lower case, with the names of weekdays and the words for "daily" and
// "closed" of all languages as the configuration has them. It is the inverse of FormatHours.
func ReadHoursWords(typed string) string {
	var pairs [][2]string
	for _, lang := range Langs() {
		for day, name := range weekdays()[lang] {
			config := strings.ToLower(time.Weekday(day).String()[:3])
			pairs = append(pairs, [2]string{strings.ToLower(name), config})
			if short, isPortuguese := strings.CutSuffix(name, "-feira"); isPortuguese {
				pairs = append(pairs, [2]string{short, config})
			}
		}
		pairs = append(pairs, [2]string{phrase(lang, "hours_daily"), "daily"}, [2]string{phrase(lang, "hours_closed"), "closed"})
	}
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) }) // "cumartesi" before "cuma"
	var list []string
	for _, p := range pairs {
		list = append(list, p[0], p[1])
	}
	return strings.NewReplacer(list...).Replace(strings.ToLower(typed))
}

// HoursDocument returns the opening hours of the configuration as a document in Markdown, a section for each language.
// closed are the days of the next holidays, which may be none. Each section is one sentence, so that no quote of it has
// the hours without the holidays.
func HoursDocument(hours string, closed []time.Time) string {
	var sections []string
	for _, lang := range Langs() {
		sections = append(sections, "## "+phrase(lang, "hours_heading")+"\n\n"+HoursSentence(lang, hours, closed)+"\n")
	}
	return strings.Join(sections, "\n")
}

// HoursSentence returns the sentence of HoursDocument in a language.
func HoursSentence(lang Lang, hours string, closed []time.Time) string {
	return strings.ReplaceAll(phrase(lang, "hours_sentence"), "{hours}", FormatHours(lang, hours, closed))
}

// HoursTitle returns the name of the document of the opening hours in a language.
func HoursTitle(lang Lang) string {
	title, _, _ := strings.Cut(phrase(lang, "hours_heading"), ":")
	return strings.TrimSpace(title)
}
