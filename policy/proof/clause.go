package proof

import (
	"slices"
	"strings"
)

// clause is a part of a text that affirms or denies as a whole.
type clause struct {
	words     *vocabulary // of its language
	tokens    []token
	at        int // its number in its text
	unit      int
	statement int  // clauses between two stops or semicolons are one statement
	isRow     bool // it is a cell
	name      int  // of a cell: how many tokens the name of its column has
	afterStop bool // it begins a sentence
}

// has reports whether a clause has a word, or another form of it; or the day among those that it names.
func (c clause) has(t token) bool {
	if t.day >= 0 && c.hasDay(t.day) || t.month >= 0 && c.hasMonth(t.month) {
		return true
	}
	return slices.ContainsFunc(c.tokens, func(other token) bool {
		if t.isNumber || other.isNumber {
			return t.sameValue(other)
		}
		return t.sameMeaning(other)
	})
}

// hasDay reports whether a weekday is among those that a clause names: "Monday to Friday", "weekend".
func (c clause) hasDay(day int) bool {
	from, to, isRange := c.dayRange()
	for d := from; isRange; d = (d + 1) % 7 {
		if d == day {
			return true
		}
		if d == to {
			break
		}
	}
	isWeekend := day == 0 || day == 6
	return slices.ContainsFunc(c.tokens, func(t token) bool {
		return isWeekend && c.words.weekend[t.word] || !isWeekend && c.words.weekdays[t.word]
	})
}

// expectsMonth reports whether a month may follow the last word of a clause.
func (c clause) expectsMonth() bool {
	if len(c.tokens) == 0 {
		return false
	}
	last := c.tokens[len(c.tokens)-1]
	w := last.word
	return last.isNumber || last.month >= 0 || c.words.ranges[w] || c.words.upper[w] || c.words.lower[w] || c.words.until[w]
}

// hasMonth reports whether a month is among those that a clause names: "June to September", "25 April – 12 June".
func (c clause) hasMonth(month int) bool {
	last := -1
	isRange := false
	for _, t := range c.tokens {
		isRange = isRange || t.dash || t.starts || c.words.upper[t.word] || c.words.ranges[t.word]
		if t.month < 0 {
			continue
		}
		isBetween := last >= 0 && isRange && (month-last+12)%12 <= (t.month-last+12)%12
		if t.month == month || isBetween {
			return true
		}
		last = t.month
		isRange = false
	}
	return false
}

func hasWord(all []clause, t token) bool {
	return slices.ContainsFunc(all, func(c clause) bool { return c.has(t) })
}

func hasNumber(all []clause, t token) bool {
	return slices.ContainsFunc(all, func(c clause) bool { return slices.ContainsFunc(c.tokens, t.sameValue) })
}

// clauses splits a text into clauses of tokens.
func (v *vocabulary) clauses(s string) []clause { return v.split(s, false, false, 0) }

// unitClauses returns the clauses of a unit: of a row, one for each cell. All cells are one statement.
func (v *vocabulary) unitClauses(unit string, at int) []clause {
	return v.split(unit, strings.Contains(unit, " | "), true, at)
}

func (v *vocabulary) split(s string, isRow, isUnit bool, unit int) (all []clause) {
	c := clause{words: v, isRow: isRow, unit: unit, afterStop: true}
	end := func(stop, next bool) {
		statement := c.statement
		if next {
			statement++
		}
		if len(c.tokens) > 0 {
			c.tokens = c.withDayParts()
			c.markRanges()
			all = append(all, c)
			c = clause{
				words:     v,
				at:        len(all),
				isRow:     isRow,
				unit:      unit,
				afterStop: stop,
			}
		}
		c.statement = statement
	}
	dash := false
	folded := attached.ReplaceAllString(fold(s), "$1\u00a0$2")
	for _, place := range piece.FindAllStringIndex(folded, -1) {
		at := place[0]
		p := folded[at:place[1]]
		switch p {
		case ",":
			if !isRow {
				end(false, false)
			}
			dash = false
			continue
		case ";", ":", ".", "!", "?", "\n", "(", ")", "|":
			switch {
			case isRow && p == "|":
				end(true, false)
			case isRow && p == ":" && c.name == 0:
				c.name = len(c.tokens)
			case !isRow && !(p == ":" && isUnit):
				end(p != ";", p != "(" && p != ")" && p != ":")
			}
			dash = false
			continue
		case "-", "–", "—", "/":
			dash = p != "/"
			continue
		}
		v.add(&c, v.token(p, dash), isSigned(folded, at))
		dash = false
		v.join(&c)
		if n := len(c.tokens) - 1; n > 0 && !isRow && v.beginsException(c.tokens[n]) {
			except := c.tokens[n]
			c.tokens = c.tokens[:n]
			end(false, false)
			c.tokens = append(c.tokens, except)
		}
	}
	end(false, false)
	return all
}

// beginsException reports whether a word means nothing but "except": what stands behind it is a clause of its own.
func (v *vocabulary) beginsException(t token) bool {
	return v.except[t.word] && !v.upper[t.word] && !v.upperAfter[t.word] && !v.condition[t.word]
}

// add adds a token to a clause. A dash before a number is its sign, or makes a range with the number before it.
func (v *vocabulary) add(c *clause, t token, isSigned bool) {
	if v.harmless[t.word] && !c.expectsMonth() {
		t.month = -1 // "may" is a month only behind a day, or a word such as "to"
	}
	if isSigned && t.isNumber {
		t.value = -t.value
		t.dash = false
	}
	if n := len(c.tokens); t.dash && t.isNumber {
		if t.dash = n > 0 && c.tokens[n-1].isNumber; t.dash {
			c.tokens[n-1].starts = true
		}
	}
	c.tokens = append(c.tokens, t)
}

// isThanks reports whether a clause only thanks for a message: "thank you for your question".
func (c clause) isThanks() bool {
	thanks := func(t token) bool { return c.words.thanks[t.word] }
	isMore := func(t token) bool { return c.words.isContent(t) && !thanks(t) && !c.words.messages[t.word] }
	return slices.ContainsFunc(c.tokens, thanks) && !slices.ContainsFunc(c.tokens, isMore)
}

// denies reports whether a clause denies.
func (c clause) denies() bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.negative[t.word] })
}

// limits reports whether a clause has a word such as "only".
func (c clause) limits() bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.only[t.word] })
}

// hasCondition reports whether a clause has a word such as "if". Alone it is the "yes" of some languages: "Sí, ..." is written as "si".
func (c clause) hasCondition() bool {
	return len(c.tokens) > 1 && slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.condition[t.word] })
}

// isException reports whether a clause begins with a word such as "except".
func (c clause) isException() bool {
	return slices.ContainsFunc(c.tokens[:min(len(c.tokens), 2)], func(t token) bool { return c.words.except[t.word] })
}

// hasLoneLimit reports whether a clause has a number that limits and is no part of a range.
func (c clause) hasLoneLimit() bool {
	lone := false
	for i := range c.tokens {
		if c.limitAt(i) == noLimit {
			continue
		}
		if next := nextNumber(c, i, 1); next >= 0 && c.limitAt(next) == upper {
			continue
		}
		if before := nextNumber(c, i, -1); before >= 0 && c.limitAt(before) == lower {
			continue
		}
		lone = true
	}
	return lone
}

// limitAt returns the limit that a number of a clause is.
func (c clause) limitAt(at int) limit {
	switch t := c.tokens[at]; {
	case !t.isNumber:
		return noLimit
	case t.dash:
		return upper
	}
	if l := c.limitBefore(at); l != noLimit {
		return l
	}
	if c.tokens[at].starts {
		return lower
	}
	return c.limitBehind(at)
}

// maxSearch is how many words may stand between a number and its limit.
const maxSearch = 4

// limitBefore returns the limit that the words before a number make it: "at least two days", "from a height of 1.20 m".
func (c clause) limitBefore(at int) limit {
	w := c.words
	far := at > 0 && w.of[c.tokens[at-1].word]
	for i := at - 1; i >= max(0, at-maxSearch); i-- {
		t := c.tokens[i]
		switch {
		case (w.from[t.word] || w.until[t.word]) && c.isAhead(at):
			// "until three days before" is at least three days before
			if w.from[t.word] {
				return upper
			}
			return lower
		case w.lower[t.word] || w.from[t.word]:
			return lower
		case w.upper[t.word] || w.until[t.word]:
			return upper
		case t.isNumber || !far && !w.isJoint(t):
			return noLimit
		}
	}
	return noLimit
}

// limitBehind returns the limit that the words behind a number make it: "12 or older".
func (c clause) limitBehind(at int) limit {
	for i := at + 1; i < min(len(c.tokens), at+1+maxSearch); i++ {
		t := c.tokens[i]
		isOfNext := i+1 < len(c.tokens) && c.tokens[i+1].isNumber // "£35 for under 26"
		switch {
		case isOfNext, i == at+1 && c.tokens[at].currency != "" && c.words.more[t.word]: // "it is £3 more"
			return noLimit
		case c.words.lowerAfter[t.word]:
			return lower
		case c.words.upperAfter[t.word]:
			return upper
		case !c.words.isJoint(t):
			return noLimit
		}
	}
	return noLimit
}

// isAhead reports whether a number is a length of time before something: "three days before arrival".
func (c clause) isAhead(at int) bool {
	for i := at + 1; i < min(len(c.tokens), at+2+maxSearch); i++ {
		if c.words.ahead[c.tokens[i].word] {
			isOfPrice := i+1 < len(c.tokens) && c.tokens[i+1].currency != "" // the Dutch "voor" is "for", too
			return c.periodAt(at) != "" && !isOfPrice
		}
	}
	return false
}

// isUnit reports whether a word is the unit of the number before it. The number is compared with it.
func (c clause) isUnit(at int) bool {
	for i := at - 1; i >= max(0, at-3); i-- {
		if c.tokens[i].isNumber {
			return c.tokens[at].period != ""
		}
	}
	return false
}

// withDayParts returns the tokens of a clause with times in place of the numbers beside which stands a part of the day: "three in the
// afternoon", "akşam yedi". What is said of the part of the day is said by the time then.
func (c clause) withDayParts() []token {
	for i := 0; i < len(c.tokens); i++ {
		t := &c.tokens[i]
		part := c.dayPartAt(i)
		if part < 0 {
			continue
		}
		isMorning := c.words.morning[c.tokens[part].word]
		t.isMorning = isMorning
		t.isTime = true
		if t.clock > 0 {
			t.value = t.clock
		}
		if !isMorning && t.value < noon {
			t.value += noon
		}
		c.tokens = slices.Delete(c.tokens, part, part+1)
		if part < i {
			i--
		}
	}
	return c.tokens
}

// noon is the hour from which the hours of the afternoon count.
const noon = 12

// dayPartAt returns the place of the part of the day that is said of an hour; -1 if there is none.
func (c clause) dayPartAt(at int) int {
	t := c.tokens[at]
	if !t.isNumber || t.value < 1 || t.value > noon || t.currency != "" || t.isMorning {
		return -1
	}
	const before, behind = 2, 3
	for i := at + 1; i < min(len(c.tokens), at+1+behind); i++ {
		switch other := c.tokens[i]; {
		case c.isDayPart(i):
			return i
		case other.isNumber || other.period != "" && !(other.period == "hour" && i+1 < len(c.tokens) && c.isDayPart(i+1)):
			return -1 // "8 nights", but the Russian "2 hours of the day" is a time
		}
	}
	for i := at - 1; i >= max(0, at-before) && !c.tokens[i].isNumber; i-- {
		if c.isDayPart(i) {
			return i
		}
	}
	return -1
}

func (c clause) isDayPart(at int) bool {
	w := c.tokens[at].word
	return c.words.afternoon[w] || c.words.morning[w] || c.words.noon[w]
}

// markRanges marks the numbers between which stands a word such as "to": "10 to 20", "1 June to 30 September", "between 9 and 5".
func (c clause) markRanges() {
	for i, t := range c.tokens {
		first := nextNumber(c, i, -1)
		if !t.isNumber || first < 0 || t.currency != c.tokens[first].currency {
			continue
		}
		between := c.tokens[first+1 : i]
		long := 0
		for _, w := range between {
			if !c.words.isJoint(w) {
				long++
			}
		}
		isJoined := func(w token) bool { return c.words.joins[w.word] }
		isBetween := func(w token) bool { return c.words.between[w.word] }
		around := slices.Concat(c.tokens[max(0, first-2):first], c.tokens[i+1:min(len(c.tokens), i+4)])
		ranges := func(w token) bool {
			if slices.ContainsFunc(between, isJoined) {
				return isJoined(w) && slices.ContainsFunc(around, isBetween)
			}
			return c.words.ranges[w.word]
		}
		if n := len(between); n > 0 && long <= 1 && slices.ContainsFunc(between[max(0, n-2):], ranges) {
			c.tokens[first].starts = true
			c.tokens[i].dash = true
		}
	}
}

// maxJoint is the length of the words that may stand between a number and its limit, beside units of time.
const maxJoint = 4

func (v *vocabulary) isJoint(t token) bool {
	return !t.isNumber && (len(t.word) <= maxJoint && v.isFunction(t.word) || v.hours[t.word] || t.period != "" || t.currency != "")
}

// sameLimit reports whether two numbers limit the same. Two numbers that are one range in both are the same limits.
func sameLimit(c clause, at int, s clause, i int) bool {
	said, source := c.limitAt(at), s.limitAt(i)
	if said == source || source != noLimit && said == noLimit && s.tokens[i].isTime && s.tokens[i].starts {
		return true
	}
	for _, step := range []int{-1, 1} {
		other, otherSource := nextNumber(c, at, step), nextNumber(s, i, step)
		if other < 0 || otherSource < 0 || !c.tokens[other].sameValue(s.tokens[otherSource]) {
			continue
		}
		first, last := min(i, otherSource), max(i, otherSource)
		if s.tokens[last].dash || s.limitAt(first) == lower && s.limitAt(last) == upper {
			return true
		}
	}
	return false
}

// nextNumber returns the nearest number behind or before a token of a clause; -1 if there is none.
func nextNumber(c clause, at, step int) int {
	for i := at + step; i >= 0 && i < len(c.tokens); i += step {
		if c.tokens[i].isNumber {
			return i
		}
	}
	return -1
}

// periodAt returns the unit of time behind a number; empty if there is none, and for a time of day.
func (c clause) periodAt(at int) string {
	if c.tokens[at].isTime {
		return ""
	}
	for i := at + 1; i < min(len(c.tokens), at+4); i++ {
		if c.tokens[i].isNumber {
			break
		}
		if period := c.tokens[i].period; period != "" {
			return period
		}
	}
	return ""
}

// hasPeriod reports whether a number has a unit of time: the nearest one in its clause.
func (c clause) hasPeriod(at int, period string) bool {
	if found := c.periodAt(at); found != "" {
		return found == period
	}
	for i := at - 1; i >= 0; i-- {
		if found := c.tokens[i].period; found != "" {
			return found == period
		}
	}
	return false
}

// dayRange returns the two days of a clause between which stands a dash or a word such as "to".
func (c clause) dayRange() (from, to int, ok bool) {
	from = -1
	isRange := false
	for _, t := range c.tokens {
		switch {
		case t.day < 0:
			isRange = isRange || from >= 0 && (c.words.upper[t.word] || c.words.ranges[t.word])
		case from < 0:
			from = t.day
		default:
			return from, t.day, isRange || t.dash
		}
	}
	return 0, 0, false
}
