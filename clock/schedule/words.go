package schedule

import (
	"strconv"
	"strings"
	"time"
)

// role is the grammatical role of a word in a time.
type role int

const (
	roleNone      role = iota
	roleIn             // in 2 hours
	roleAt             // at 9
	roleOn             // on friday
	roleNext           // next monday
	roleThis           // this friday, this evening
	roleThe            // the day after tomorrow
	roleAn             // in an hour
	roleHalf           // half an hour
	roleAnd            // 1 hour and 5 minutes
	roleOf             // 24th of December
	roleDay            // today, tomorrow: n days on
	roleAfter          // the day after tomorrow
	roleTonight        // this evening
	rolePart           // morning, noon, evening: n is its hour
	roleAM             // 9 am
	rolePM             // 9 pm
	roleClock          // 9 o'clock
	roleUnit           // hours: n is the unit
	roleWeekday        // monday
	roleShortDay       // mon, sat, sun: weekdays that may also be other words
	roleMonth          // december
	roleOrdinal        // th, as in 24th
	roleLater          // 2 hours later, 2 hours from now
	roleFrom           // 2 hours from now
	roleNow            // 2 hours from now
	roleMidnight       // midnight, which may be the beginning or the end of a day
	roleTo             // to call Ana, or the end of a period
	roleEvery          // every day
	roleEach           // mondays, mornings: time after time
	roleMeal           // lunch: a time of day only in "at lunch"
	roleMe             // remind me
	roleQualifier      // last, coming, late: words that change the time after them
	roleVague          // ago, or, before: words after which a text means another time, or no time
)

// word is the meaning of a word. The meaning of n depends on the role.
type word struct {
	role role
	n    int
}

// The units, as the n of their words.
const (
	unitSecond = iota
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
)

// Language is the vocabulary for times in one language.
type Language struct {
	words map[string]word
	// numbers are the digits of number words.
	numbers map[string]string
	// feasts are the words that make one day of the year of a weekday: good friday.
	feasts map[string]bool
	// Examples are in the refusals of ParseTime, RepeatExamples in those of ParseRecurrence.
	Examples, RepeatExamples []string
}

// English returns the vocabulary of English.
func English() Language {
	words := map[string]word{}
	add := func(r role, n int, names ...string) {
		for _, name := range names {
			words[name] = word{role: r, n: n}
		}
	}
	add(roleIn, 0, "in")
	add(roleAt, 0, "at", "@")
	add(roleOn, 0, "on")
	add(roleNext, 0, "next")
	add(roleThis, 0, "this")
	add(roleThe, 0, "the")
	add(roleAn, 0, "a", "an")
	add(roleHalf, 0, "half")
	add(roleAnd, 0, "and", "&")
	add(roleOf, 0, "of")
	add(roleDay, 0, "today")
	add(roleDay, 1, "tomorrow", "tmrw", "tmr", "tommorow", "tomorow", "tommorrow", "tomorro", "tomorrrow")
	add(roleAfter, 0, "after")
	add(roleTonight, 20, "tonight")
	add(rolePart, 9, "morning")
	add(rolePart, 12, "noon", "midday")
	add(rolePart, 15, "afternoon")
	add(rolePart, 18, "evening")
	add(rolePart, 20, "night")
	add(roleMidnight, 0, "midnight")
	add(roleMeal, 0, "breakfast", "lunch", "dinner", "supper")
	add(roleAM, 0, "am", "a.m.", "a.m")
	add(rolePM, 0, "pm", "p.m.", "p.m")
	add(roleClock, 0, "o'clock", "oclock", "o’clock")
	add(roleUnit, unitSecond, "s", "sec", "secs", "second", "seconds")
	add(roleUnit, unitMinute, "m", "min", "mins", "minute", "minutes")
	add(roleUnit, unitHour, "h", "hr", "hrs", "hour", "hours")
	add(roleUnit, unitDay, "d", "day", "days")
	add(roleUnit, unitWeek, "w", "wk", "week", "weeks")
	add(roleUnit, unitMonth, "month", "months")
	add(roleLater, 0, "later", "hence")
	add(roleFrom, 0, "from", "starting", "beginning")
	add(roleNow, 0, "now")
	add(roleTo, 0, "to")
	add(roleMe, 0, "me")
	add(roleEvery, 0, "every", "each", "daily", "weekly", "monthly", "hourly")
	add(roleEach, 0, "everyday", "nightly", "mornings", "afternoons", "evenings", "nights", "weekdays", "weekends")
	add(roleVague, 0, "ago", "or", "before", "past", "until", "till", "through", "ish", "earlier", "between", "quarter",
		"year", "years", "decade", "decades", "weekend", "fortnight", "thru", "til", "as", "p", "yesterday", "lunchtime",
		"dinnertime", "bedtime", "dawn", "dusk", "sunrise", "sunset")
	add(roleQualifier, 0, "last", "previous", "following", "coming", "late", "early", "since", "mid", "around", "about", "within", "upcoming",
		"than", "ending", "christmas", "xmas", "easter", "thanksgiving", "halloween")
	add(roleOrdinal, 0, "st", "nd", "rd", "th")
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := lower(day.String())
		add(roleWeekday, int(day), name)
		add(roleEach, int(day), name+"s")
		add(roleShortDay, int(day), name[:3])
	}
	add(roleShortDay, int(time.Tuesday), "tues")
	add(roleShortDay, int(time.Wednesday), "weds")
	add(roleShortDay, int(time.Thursday), "thur", "thurs")
	for month := time.January; month <= time.December; month++ {
		name := lower(month.String())
		add(roleMonth, int(month), name, name[:3])
	}
	add(roleMonth, int(time.September), "sept")
	for day, slips := range map[time.Weekday][]string{
		time.Tuesday: {"tuseday", "teusday"}, time.Wednesday: {"wensday", "wednsday", "wendsday", "wedensday"},
		time.Thursday: {"thrusday", "thurday", "thirsday"},
		time.Friday:   {"firday"}, time.Saturday: {"saterday", "satuday"},
	} {
		add(roleWeekday, int(day), slips...)
	}
	add(roleMonth, int(time.February), "febuary")
	return Language{
		words:          words,
		feasts:         englishFeasts(),
		numbers:        englishNumbers(),
		Examples:       []string{"2h", "tomorrow 9am", "fri 14:30", "2026-12-24 18:00"},
		RepeatExamples: []string{"0 9 * * 1-5", "@daily", "every 2h", "every monday 9am", "every weekday 8:30"},
	}
}

func englishNumbers() map[string]string {
	numbers := map[string]string{
		"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90",
	}
	for i, name := range strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty") {
		numbers[name] = strconv.Itoa(i + 1)
	}
	return numbers
}

func englishFeasts() map[string]bool {
	feasts := map[string]bool{}
	for name := range strings.FieldsSeq("ash black cyber fat good holy maundy palm shrove trinity whit") {
		feasts[name] = true
	}
	return feasts
}

// zoneAbbreviations are the abbreviations of time zones that people write after a time. In lower case most of them are other words.
var zoneAbbreviations = map[string]bool{
	"UTC": true, "GMT": true, "Z": true, "CET": true, "CEST": true, "MEZ": true, "MESZ": true, "WET": true, "EET": true, "EEST": true,
	"MSK": true, "BST": true, "IST": true,
	"EST": true, "EDT": true, "CST": true, "CDT": true, "MST": true, "MDT": true, "PST": true, "PDT": true, "JST": true, "AEST": true,
	"AEDT": true, "ET": true, "PT": true,
}
