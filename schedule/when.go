package schedule

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// RefusedError says why a text does not begin with a time, as a sentence in Markdown for the one who wrote it.
type RefusedError struct{ Why string }

func (r *RefusedError) Error() string { return r.Why }

// MaxAhead is how far ahead a time may lie.
const MaxAhead = 10 * 366 * 24 * time.Hour

// defaultHour is when something happens on a day that was named without a time.
const defaultHour = 9

// When reads the time that a text begins with, and returns what follows it. What it does not understand in full it refuses with
// a *RefusedError, because a reminder at a wrong time is worse than none. now is given in the zone of the one who wrote.
func When(text string, now time.Time, lang Language) (at time.Time, rest string, err error) {
	p := &reader{text: text, words: split(text, lang), lang: lang, now: now.Truncate(time.Second), examples: lang.Examples}
	if len(p.words) == 0 {
		return time.Time{}, "", p.refuse("There is no time in it.")
	}
	at, err = p.when()
	if err != nil {
		return time.Time{}, "", err
	}
	switch {
	case !at.After(p.now):
		return time.Time{}, "", p.refuse(Text(at, p.now, p.now.Location()) + " is over.")
	case at.Sub(p.now) > MaxAhead:
		return time.Time{}, "", p.refuse("That is more than ten years ahead.")
	}
	if rest, err = p.rest(); err != nil {
		return time.Time{}, "", err
	}
	return at, rest, nil
}

// token is one word of a text: where it stands, how it was written, and what it means.
type token struct {
	start, end int
	whole      string
	raw        string // without a comma behind it
	text       string // in small letters
	word       word
}

// shown is the word as it is quoted to the one who wrote it.
func (t token) shown() string { return escape(clip(t.whole, 40)) }

func split(text string, lang Language) []token {
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
		t := token{start: start, end: end, whole: text[start:end], raw: raw, text: lower(raw)}
		t.word = lang.words[t.text]
		words = append(words, t)
		start = end
	}
	return words
}

func lower(s string) string { return strings.ToLower(s) }

// reader reads a time from the words of a text, from left to right.
type reader struct {
	text  string
	words []token
	pos   int
	lang  Language
	now   time.Time
	// examples end every refusal.
	examples []string
	// counted says that what was read last was a length of time, and dayKnown that a day was named.
	counted, dayKnown bool
}

// peek is the word n places on; its zero value is behind the end.
func (p *reader) peek(n int) token {
	if p.pos+n < len(p.words) {
		return p.words[p.pos+n]
	}
	return token{}
}

func (p *reader) is(r role) bool { return p.peek(0).word.role == r }

// take steps over the next word if it has the role.
func (p *reader) take(r role) bool {
	if p.is(r) {
		p.pos++
		return true
	}
	return false
}

// refuse makes a refusal that ends in examples.
func (p *reader) refuse(why string) error {
	return &RefusedError{Why: why + " Say it like: `" + strings.Join(p.examples, "`, `") + "`."}
}

// unknown refuses the word that cannot be read, or the end where a word is missing.
func (p *reader) unknown() error {
	if p.pos >= len(p.words) {
		return p.refuse("I miss something after *" + p.words[len(p.words)-1].shown() + "*.")
	}
	return p.refuse("I don't know *" + p.words[p.pos].shown() + "*.")
}

func (p *reader) when() (time.Time, error) {
	first := p.peek(0)
	switch {
	case first.word.role == roleEvery:
		return time.Time{}, p.refuse("For what comes again there is `/cron`.")
	case strings.ContainsRune(first.text, 'T'-'A'+'a') && isDate(first.text):
		return p.stamp(first)
	}
	if at, ok, err := p.length(); ok || err != nil {
		return at, err
	}
	if d, ok, err := p.day(); ok || err != nil {
		if err != nil {
			return time.Time{}, err
		}
		p.dayKnown = true
		return p.timeOn(d)
	}
	return p.timeFirst()
}

// stamp reads 2026-12-24T18:00, and the same with a zone.
func (p *reader) stamp(t token) (time.Time, error) {
	p.pos++
	p.dayKnown = true
	if at, err := time.Parse(time.RFC3339, t.raw); err == nil {
		return at.In(p.now.Location()).Truncate(time.Second), nil
	}
	for _, layout := range []string{"2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if wall, err := time.Parse(layout, t.text); err == nil {
			return Instant(wall, p.now.Location()), nil
		}
	}
	p.pos--
	return time.Time{}, p.unknown()
}

// timeFirst reads a time of day that may have its day behind it: "9am", "14:30 on friday".
func (p *reader) timeFirst() (time.Time, error) {
	at := p.take(roleAt)
	start := p.pos
	c, ok, err := p.clock()
	if err != nil {
		return time.Time{}, err
	}
	if !ok || (c.bare && !at && !p.dayFollows()) {
		p.pos = start
		return time.Time{}, p.unknown()
	}
	if p.dayFollows() {
		d, _, err := p.day()
		if err != nil {
			return time.Time{}, err
		}
		p.dayKnown = true
		return p.on(d, c)
	}
	if c.bare && c.hour < 13 {
		return time.Time{}, p.refuse(fmt.Sprintf("At %d in the morning or in the evening?", c.hour))
	}
	wall := asUTC(p.now)
	when := Instant(c.of(wall), p.now.Location())
	if !when.After(p.now) {
		when = Instant(c.of(wall.AddDate(0, 0, 1)), p.now.Location())
	}
	return when, nil
}

// dayFollows tells whether a day is what comes next.
func (p *reader) dayFollows() bool {
	saved := *p
	defer func() { *p = saved }()
	named := p.take(roleOn)
	if p.is(roleShortDay) && !named && len(p.words) > p.pos+1 {
		return false // "9am sun cream" is not about Sunday
	}
	_, ok, err := p.day()
	return ok && err == nil
}

// rest is what follows the time, unless it says that the time is another one.
func (p *reader) rest() (string, error) {
	next := p.peek(0)
	if next.end == 0 {
		return "", nil
	}
	if zones[next.raw] || strings.HasPrefix(next.raw, "UTC+") || strings.HasPrefix(next.raw, "GMT+") {
		return "", p.refuse(fmt.Sprintf("I go by %s time; *%s* I leave alone.", p.now.Location(), next.shown()))
	}
	if p.doubtful(next, p.peek(1)) {
		return "", p.refuse("*" + next.shown() + "* behind the time makes me doubt it.")
	}
	start := next.start
	if next.word.role == roleTo || isDash(next.text) { // "2h to call Ana" is about calling her
		start = max(next.end, p.peek(1).start)
	}
	return strings.TrimSpace(p.text[start:]), nil
}

// doubtful tells whether what stands behind a time may still belong to it.
func (p *reader) doubtful(next, then token) bool {
	digit := startsWithDigit(then.text)
	switch next.word.role {
	case roleVague, roleAfter, roleFrom, roleEvery, roleAM, rolePM, roleClock, roleMidnight, roleTonight, roleDay:
		return true
	case roleUnit: // "monday week" is another Monday
		before := p.peek(-1).word.role
		return p.counted || before == roleWeekday || before == roleDay
	case roleAn: // "7 days a week" is no time at all
		return p.counted && then.word.role == roleUnit
	case roleWeekday, roleShortDay:
		return !p.dayKnown
	case roleIn:
		return digit || then.word.role == roleAn || then.word.role == roleHalf
	case roleAt:
		return digit || then.word.role == rolePart
	case roleAnd:
		return digit || p.timeWord(then)
	case roleOn:
		return p.timeWord(then)
	case roleThe:
		return p.ordinal(then.text) > 0
	case roleTo:
		return digit
	default:
		return next.raw == "" || (isDash(next.text) && digit) || p.numberDoubtful(next.text)
	}
}

// numberDoubtful tells whether a number behind a time may belong to it.
func (p *reader) numberDoubtful(s string) bool {
	if after := strings.TrimLeft(s, "-–"); after != s {
		return startsWithDigit(after)
	}
	return startsWithDigit(s) && (p.counted || strings.ContainsAny(s, ":.-/") || p.unitBehind(s))
}

func isDash(s string) bool { return s == "-" || s == "–" || s == "—" }

// timeWord tells whether a word is about time.
func (p *reader) timeWord(t token) bool {
	switch t.word.role {
	case roleAn, roleHalf, roleDay, roleTonight, rolePart, roleUnit, roleWeekday, roleShortDay, roleMonth, roleVague, roleMidnight, roleAt, roleIn, roleNext, roleEvery:
		return true
	default:
		return startsWithDigit(t.text)
	}
}

// unitBehind tells whether a text is a number right before a unit: 2h, 9am.
func (p *reader) unitBehind(s string) bool {
	_, unit, ok := number(s)
	switch w := p.lang.words[unit]; {
	case !ok || unit == "":
		return false
	default:
		return w.role == roleUnit || w.role == roleAM || w.role == rolePM
	}
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// number splits a number of at most four digits from what stands right behind it.
func number(s string) (n int, behind string, ok bool) {
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

func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// escape keeps somebody's words from being read as Markdown.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", "&lt;", "&", "&amp;").Replace(s)
}
