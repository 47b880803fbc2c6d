package catalog

import (
	"regexp"
	"strings"
	"time"
)

// hoursWord matches the words of opening hours as the configuration has them.
var hoursWord = regexp.MustCompile(`(?i)\b(?:sun|mon|tue|wed|thu|fri|sat|daily|closed)\b`)

// hoursWords returns the words for "daily" and "closed" of all languages.
func hoursWords() map[Lang][2]string {
	return map[Lang][2]string{
		English: {"daily", "closed"}, German: {"täglich", "geschlossen"}, French: {"tous les jours", "fermé"}, Spanish: {"todos los días", "cerrado"},
		Portuguese: {"todos os dias", "fechado"}, Italian: {"tutti i giorni", "chiuso"}, Dutch: {"dagelijks", "gesloten"}, Russian: {"ежедневно", "закрыто"},
		Turkish: {"her gün", "kapalı"}, Arabic: {"يوميًا", "مغلق"},
	}
}

// FormatHours returns opening hours of the configuration, such as "mon-fri 9-17", with their words in a language.
func FormatHours(lang Lang, hours string) string {
	days, known := weekdays()[lang]
	if !known {
		lang, days = English, weekdays()[English]
	}
	return hoursWord.ReplaceAllStringFunc(hours, func(word string) string {
		switch word = strings.ToLower(word); word {
		case "daily":
			return hoursWords()[lang][0]
		case "closed":
			return hoursWords()[lang][1]
		}
		for day := time.Sunday; day <= time.Saturday; day++ {
			if strings.EqualFold(day.String()[:3], word) {
				return days[day]
			}
		}
		return word
	})
}
