package business

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"multis/business/catalog"
)

// Hours are typed in many ways. These find what the configuration writes otherwise.
var (
	hoursDay  = regexp.MustCompile(`(?i)\b(?:monday|montag|mo|tuesday|tues|dienstag|di|wednesday|mittwoch|mi|thursday|thurs|thur|donnerstag|do|friday|freitag|fr|saturday|samstag|sonnabend|sa|sunday|sonntag|so)s?\b\.?`)
	hoursTime = regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.](\d{2}))?\s*([ap])\.?m\b\.?`)
	hoursUnit = regexp.MustCompile(`(?i)(\d)\s*(?:uhr|h|u|o'clock)\b`)
	hoursTo   = regexp.MustCompile(`(?i)\s*(?:\b(?:bis|to|until|till|through)\b|–|—)\s*`)
	hoursAnd  = regexp.MustCompile(`(?i)\s*(?:\b(?:und|and)\b|&|\+)\s*`)
	hoursShut = regexp.MustCompile(`(?i)\b(?:geschlossen|zu|ruhetag)\b`)
	hoursAll  = regexp.MustCompile(`(?i)\b(?:täglich|every day)\b`)
	// hoursNext matches the place where other days begin behind times: "mon-fri 7-18, sat 7-13".
	hoursNext = regexp.MustCompile(`(\d|\bclosed)[,\s]+([a-z])`)
)

// hoursLong matches a whole day whose unit was removed.
var hoursLong = regexp.MustCompile(`(\pL\s+)24\s*$`)

// hoursJoin matches what joins two weekdays in other languages: "mon a fri", "sat en sun".
var hoursJoin = regexp.MustCompile(`\b(sun|mon|tue|wed|thu|fri|sat)\s+(?:(a|à|au|al|tot|tot en met|t/m|по|-)|e|et|y|en|ve|и|و)\s+(sun|mon|tue|wed|thu|fri|sat)\b`)

// readHours returns opening hours, typed in a language of the standard texts, as the configuration has them: a line for
// each group of days. Short names of weekdays are known in English and German only, because others are ambiguous: "di" is
// a Tuesday in Dutch and a Sunday in French.
func readHours(answer string) []string {
	var lines []string
	for _, line := range split(answer, false, "\n", ";") {
		line = hoursTime.ReplaceAllStringFunc(line, in24Hours)
		line = hoursLong.ReplaceAllString(hoursUnit.ReplaceAllString(line, "$1"), "${1}24h")
		line = hoursJoin.ReplaceAllStringFunc(catalog.ReadHoursWords(line), joinDays)
		line = hoursShut.ReplaceAllString(hoursAll.ReplaceAllString(line, "daily"), "closed")
		line = hoursAnd.ReplaceAllString(hoursTo.ReplaceAllString(line, "-"), ", ")
		line = hoursDay.ReplaceAllStringFunc(strings.ToLower(line), dayOfHours)
		lines = append(lines, strings.Split(hoursNext.ReplaceAllString(line, "$1\n$2"), "\n")...)
	}
	return lines
}

// joinDays returns what hoursJoin matches as the configuration has it.
func joinDays(typed string) string {
	m := hoursJoin.FindStringSubmatch(typed)
	if m[2] == "" {
		return m[1] + ", " + m[3]
	}
	return m[1] + "-" + m[3]
}

// dayOfHours returns the name of a day of the week as the configuration has it.
func dayOfHours(word string) string {
	switch strings.ToLower(word)[:2] {
	case "mo":
		return "mon"
	case "tu", "di":
		return "tue"
	case "we", "mi":
		return "wed"
	case "th", "do":
		return "thu"
	case "fr":
		return "fri"
	case "sa":
		return "sat"
	case "su", "so":
		return "sun"
	}
	return word
}

// in24Hours returns a time such as "5:30 pm" as 17:30.
func in24Hours(typed string) string {
	m := hoursTime.FindStringSubmatch(typed)
	hour, err := strconv.Atoi(m[1])
	if err != nil {
		return typed
	}
	if hour < 1 || hour > 12 {
		return typed
	}
	hour %= 12
	if strings.EqualFold(m[3], "p") {
		hour += 12
	}
	if m[2] == "" {
		return strconv.Itoa(hour)
	}
	return fmt.Sprintf("%d:%s", hour, m[2])
}
