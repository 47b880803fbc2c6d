package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"multis/internal/text"
)

// RefusedError is the error for a text from which no time can be read.
type RefusedError struct {
	Why string // Markdown sentences for the text's author, with examples
}

// Error returns Why.
func (r *RefusedError) Error() string { return r.Why }

// MaxAhead is how far in the future a time that ParseTime returns may be.
const MaxAhead = 10 * 366 * 24 * time.Hour

// defaultHour is the hour for a day without a time.
const defaultHour = 9

// ParseTime reads the time at the beginning or end of a text, and returns the rest of the text. now is in the time zone
// of the text's author. If it does not fully understand the text, it returns a *RefusedError, because a reminder at a
// wrong time is worse than none.
func ParseTime(text string, now time.Time, lang Language) (at time.Time, rest string, err error) {
	p := &timeParser{
		text:     text,
		cursor:   cursor{words: tokenize(text, lang)},
		lang:     lang,
		now:      now.Truncate(time.Second),
		examples: lang.Examples,
	}
	if len(p.words) == 0 {
		return time.Time{}, "", p.refuse("There is no time in it.")
	}
	if p.recurs() {
		return time.Time{}, "", p.refuse("For recurring reminders: `/cron every monday 9am bins`.")
	}
	r, err := p.read()
	if err != nil {
		return time.Time{}, "", err
	}
	switch {
	case !r.at.After(p.now):
		return time.Time{}, "", p.refuse(FormatTime(r.at, p.now, p.now.Location()) + " has passed.")
	case r.at.Sub(p.now) > MaxAhead:
		return time.Time{}, "", p.refuse("That is more than ten years ahead.")
	}
	p.pos = r.rest
	rest, err = p.rest(r.end)
	if err != nil {
		return time.Time{}, "", err
	}
	return r.at, rest, nil
}

// recurs reports whether a text names a time that comes again: "every monday" anywhere, or "daily" at its end.
func (p *timeParser) recurs() bool {
	for i, w := range p.words {
		if w.word.role != roleEvery {
			continue
		}
		isLast := i == len(p.words)-1
		isWord := w.text == "every" || w.text == "each"
		switch {
		case isLast && i > 0 && !isWord && p.words[i-1].word.role != roleThe:
			return true
		case !isLast && isWord && (isTimeWord(p.words[i+1]) ||
			positions[p.words[i+1].text] != 0 || slices.Contains([]string{"other", "weekday", "workday"}, p.words[i+1].text)):
			return true
		}
	}
	return false
}

// reading is a time that was read from a text.
type reading struct {
	at    time.Time
	day   day
	clock clockTime
	// noTime says that no time of day was written, noDay that no day was, weekOnly that only a week was.
	noTime, noDay, weekOnly bool
	// incomplete is the refusal if the rest of the text does not complete the time; nil when it is complete.
	incomplete error
	// The rest of the text is the words from rest to end.
	rest, end int
}

// read reads the time, including parts of it in the rest of the text.
func (p *timeParser) read() (reading, error) {
	p.accept(roleMe)
	start := p.pos
	r, err := p.readTime()
	if err != nil {
		p.pos = start
		if r, ok := p.trailingTime(); ok {
			return r, nil
		}
		return reading{}, err
	}
	if p.pos = r.rest; p.pos < len(p.words) {
		if _, err := p.rest(len(p.words)); err != nil {
			return reading{}, err
		}
	}
	end := r.end
	if r, err = p.complete(r); err == nil && r.incomplete != nil && r.end == end {
		err = r.incomplete
	}
	return r, err
}

// token is one word of a text: its position, its spelling, and its meaning.
type token struct {
	start, end int
	spelling   string
	raw        string // without punctuation suffix it
	text       string // raw in lower case
	word       word
}

// quoted returns the word as a refusal quotes it.
func (t *token) quoted() string { return text.Escape(text.Clip(t.spelling, 40)) }

// tokenize splits a text into words and looks them up.
func tokenize(text string, lang Language) []token {
	var words []token
	for start := 0; start < len(text); {
		n := strings.IndexFunc(text[start:], func(r rune) bool { return !unicode.IsSpace(r) })
		if n < 0 {
			break
		}
		start += n
		end := len(text)
		if n = strings.IndexFunc(text[start:], unicode.IsSpace); n >= 0 {
			end = start + n
		}
		raw := strings.TrimRight(text[start:end], ",;:")
		t := token{
			start:    start,
			end:      end,
			spelling: text[start:end],
			raw:      raw,
			text:     lower(raw),
		}
		t.lookUp(lang)
		words = append(words, t)
		start = end
	}
	for i := range words {
		words[i].replaceNumberWord(words, i, lang)
	}
	return words
}

// lookUp sets the token's word. It first removes the full stop of an abbreviation or a sentence, as in "10 min." and "5pm.".
func (t *token) lookUp(lang Language) {
	short := strings.TrimSuffix(t.text, ".")
	_, known := lang.words[t.text]
	_, unit := lang.words[strings.TrimLeft(short, "0123456789:")]
	if !known && short != t.text && (unit || strings.Contains(short, ":")) {
		t.text = short
	}
	t.word = lang.words[t.text]
}

// replaceNumberWord replaces a number word by digits where a number is expected: "two hours", "at nine".
func (t *token) replaceNumberWord(words []token, i int, lang Language) {
	digits, is := lang.numbers[t.text]
	if !is {
		return
	}
	after := i > 0 && words[i-1].word.role == roleAt
	before := i+1 < len(words) && slices.Contains([]role{roleUnit, roleAM, rolePM, roleClock}, words[i+1].word.role)
	if after || before {
		t.text = digits
	}
}

func lower(s string) string { return strings.ToLower(s) }

// cursor is a position in the words of a text: the index of the next word.
type cursor struct {
	words []token
	pos   int
}

// peek returns the word n places ahead of the position; the zero token after the end.
func (c *cursor) peek(n int) token {
	if at := c.pos + n; at >= 0 && at < len(c.words) {
		return c.words[c.pos+n]
	}
	return token{}
}

// nextIs reports whether the next word has the role.
func (c *cursor) nextIs(r role) bool { return c.peek(0).word.role == r }

// accept skips the next word if it has the role, and reports whether it has.
func (c *cursor) accept(r role) bool {
	if c.nextIs(r) {
		c.pos++
		return true
	}
	return false
}

// timeParser is a parser that reads a time from the words of a text, from left to right.
type timeParser struct {
	cursor

	text string
	lang Language
	now  time.Time
	// examples are appended to every refusal.
	examples []string
	// isAfterDuration is true if the last words read were a length of time, and dayKnown if a day was read.
	isAfterDuration, dayKnown bool
	// trailing says that the time is at the end of the text.
	trailing bool
}

// refuse returns a refusal that ends with examples.
func (p *timeParser) refuse(why string) error {
	return &RefusedError{Why: why + " Try `" + strings.Join(p.examples, "`, `") + "`."}
}

// unknown returns the refusal of a next word without a known meaning, or of the end of the text where a word is missing.
func (p *timeParser) unknown() error {
	if p.pos >= len(p.words) {
		return p.refuse("I miss something after *" + p.words[len(p.words)-1].quoted() + "*.")
	}
	return p.refuse("I don't know *" + p.words[p.pos].quoted() + "*.")
}

// readTime reads the time at the current position.
func (p *timeParser) readTime() (reading, error) {
	first := p.peek(0)
	switch {
	case first.word.role == roleEvery:
		return reading{}, p.refuse("For recurring reminders: `/cron every monday 9am bins`.")
	case strings.ContainsRune(first.text, 'T'-'A'+'a') && isDate(first.text):
		return p.timestamp(first)
	}
	if r, ok, err := p.relativeTime(); ok || err != nil {
		return r, err
	}
	if d, ok, err := (dayParser{p}).day(); ok || err != nil {
		if err != nil {
			return reading{}, err
		}
		p.dayKnown = true
		return p.timeOn(d)
	}
	return p.timeFirst()
}

// timestamp reads 2026-12-24T18:00, which may be followed by a time zone.
func (p *timeParser) timestamp(t token) (reading, error) {
	p.pos++
	p.dayKnown = true
	if at, err := time.Parse(time.RFC3339, t.raw); err == nil {
		return reading{at: at.In(p.now.Location()).Truncate(time.Second), rest: p.pos, end: len(p.words)}, nil
	}
	for _, layout := range []string{"2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if wall, err := time.Parse(layout, t.text); err == nil {
			return reading{at: InZone(wall, p.now.Location()), rest: p.pos, end: len(p.words)}, nil
		}
	}
	p.pos--
	return reading{}, p.unknown()
}

// timeFirst reads a time of day and the day after it, if there is one: "9am", "14:30 on friday".
func (p *timeParser) timeFirst() (reading, error) {
	at := p.accept(roleAt)
	start := p.pos
	c, ok, err := p.timeOfDay()
	if err != nil {
		return reading{}, err
	}
	if !ok || (c.hourOnly && !at && !p.dayFollows()) {
		p.pos = start
		return reading{}, p.unknown()
	}
	if p.dayFollows() {
		d, _, err := dayParser{p}.day()
		if err != nil {
			return reading{}, err
		}
		if d.part != 0 { // "10 tonight"
			if c, err = p.withPartOfDay(d.part, c); err != nil {
				return reading{}, err
			}
		}
		p.dayKnown = true
		return p.reading(d, c)
	}
	if c.hourOnly && c.hour < 13 {
		return reading{}, p.refuse(fmt.Sprintf("At %d in the morning or in the evening?", c.hour))
	}
	d := day{date: midnight(wallClock(p.now))}
	if !InZone(c.onDay(d.date), p.now.Location()).After(p.now) {
		d.date = d.date.AddDate(0, 0, 1)
	}
	r, err := p.reading(d, c)
	r.noDay = true
	return r, err
}

// dayFollows reports whether the next words name a day, without moving the position.
func (p *timeParser) dayFollows() bool {
	saved := *p
	defer func() { *p = saved }()
	named := p.accept(roleOn)
	if p.nextIs(roleShortDay) && !named && len(p.words) > p.pos+1 {
		return false // in "9am sun cream", sun is not Sunday
	}
	_, ok, err := dayParser{p}.day()
	return ok && err == nil
}

// rest returns the text from the current position up to the word at end. It refuses a text that may still belong to the time.
func (p *timeParser) rest(end int) (string, error) {
	next := p.peek(0)
	if next.end == 0 || p.pos >= end {
		return "", nil
	}
	if err := p.refuseOtherDay(p.pos, end); err != nil {
		return "", err
	}
	stop := len(p.text)
	if end < len(p.words) {
		stop = p.words[end].start
	}
	if p.trailing {
		if end > p.pos && p.isQualified(end) {
			return "", p.refuse(fmt.Sprintf("I'm not sure what *%s* before the time means.", p.words[end-1].quoted()))
		}
		if next.word.role == roleTo {
			next.start = max(next.end, min(p.peek(1).start, stop))
		}
		return strings.TrimRight(p.text[next.start:stop], " \t\n,;:-–—"), nil
	}
	if p.isZone(next) {
		return "", p.refuse(fmt.Sprintf("I go by %s time; *%s* I leave alone.", p.now.Location(), next.quoted()))
	}
	if p.isAmbiguous(next, p.peek(1)) {
		return "", p.refuse(fmt.Sprintf("I'm not sure what *%s* after the time means.", next.quoted()))
	}
	start := next.start
	if next.word.role == roleTo || isDash(next.text) { // "2h to call Ana" is about calling her
		start = max(next.end, min(p.peek(1).start, stop))
	}
	if end < len(p.words) {
		return strings.TrimRight(p.text[min(start, stop):stop], " \t\n,;:-–—"), nil
	}
	return strings.TrimSpace(p.text[start:]), nil
}

func isDash(s string) bool { return s == "-" || s == "–" || s == "—" }

// isTimeWord reports whether a word is used in times.
func isTimeWord(t token) bool {
	switch t.word.role {
	case roleAn, roleHalf, roleDay, roleTonight, rolePart, roleUnit, roleWeekday, roleShortDay, roleMonth, roleVague, roleMidnight, roleAt,
		roleIn, roleNext, roleEvery, roleEach:
		return true
	default:
		return startsWithDigit(t.text)
	}
}

// isNumberWithUnit reports whether a text is a number with a unit: 2h, 9am.
func (l Language) isNumberWithUnit(s string) bool {
	_, unit, ok := parseNumber(s)
	switch w := l.words[unit]; {
	case !ok || unit == "":
		return false
	default:
		return w.role == roleUnit || w.role == roleAM || w.role == rolePM
	}
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// parseNumber splits a text into a number of at most four digits and the suffix after it.
func parseNumber(s string) (n int, suffix string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if i == 4 {
			return 0, "", false
		}
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}
