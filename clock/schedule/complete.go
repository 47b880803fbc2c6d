package schedule

import "multis/internal/text"

// mention is another time in the text, after the one that was read: a time of day, a day, or both.
type mention struct {
	start, end int // indices of its words
	clock      *clockTime
	day        *day
}

// complete searches the rest of the text for the part that a time lacks: the time of day, or the day. It uses a mention
// at the end of the text and removes it from the text. It refuses any other mention, because the reminder would come at
// another time than its text says.
func (p *timeParser) complete(r reading) (reading, error) {
	if !r.noTime && !r.noDay && !r.weekOnly {
		return r, nil
	}
	var found []mention
	for p.pos = r.rest; p.pos < len(p.words); {
		m, err := p.mention(r)
		if err != nil {
			return reading{}, err
		}
		if (m.clock != nil && (r.noTime || m.day != nil)) || (m.day != nil && (r.noDay || r.weekOnly)) {
			found = append(found, m)
		}
		p.pos = max(m.end, p.pos+1)
	}
	if len(found) == 0 {
		return r, nil
	}
	m := found[0]
	clash := (m.clock != nil && !r.noTime) || (m.day != nil && !r.noDay && !(r.weekOnly && m.day.byWeekday))
	if len(found) > 1 || clash || m.end != len(p.words) || (m.clock != nil && m.clock.isEarly()) {
		return reading{}, p.refuse("I see *" + p.phrase(m.start, m.end) +
			"* in the text as well. Write the day and the time that you mean first, next to each other.")
	}
	switch {
	case m.day != nil && r.weekOnly:
		r.day = day{date: nextWeekday(r.day.date, m.day.date.Weekday()), part: m.day.part}
	case m.day != nil:
		r.day = *m.day
	}
	if m.clock != nil {
		r.clock = *m.clock
	}
	var err error
	if r.clock, err = p.withPartOfDay(r.day.part, r.clock); err != nil {
		return reading{}, err
	}
	r.end = m.start
	r.at, err = p.instantOn(r.day, r.clock)
	return r, err
}

// phrase returns a part of the text as a refusal quotes it.
func (p *timeParser) phrase(start, end int) string {
	return text.Escape(text.Clip(p.text[p.words[start].start:p.words[end-1].end], 40))
}

// mention returns the time that begins at the next word, without moving the position. Its end is 0 if there is none.
func (p *timeParser) mention(r reading) (mention, error) {
	saved := *p
	defer func() { *p = saved }()
	m := mention{start: p.pos}
	if m.clock = p.clockMention(); m.clock != nil {
		m.end = p.pos
	}
	d, err := p.dayMention()
	if err != nil && (r.noDay || r.weekOnly) {
		return mention{}, err
	}
	if d != nil {
		m.day, m.end = d, p.pos
		if m.clock == nil {
			if m.clock = p.clockMention(); m.clock != nil {
				m.end = p.pos
			}
		}
	}
	return m, nil
}

// clockMention reads an unmistakable time of day, such as 14:30, 5pm, at noon, or "at 9" at the end of the text. It
// returns nil if there is none.
func (p *timeParser) clockMention() *clockTime {
	start := p.pos
	if p.nextIs(roleIn) && p.peek(1).word.role == roleThe && p.peek(2).word.role == rolePart {
		hour := p.peek(2).word.n
		p.pos += 3
		return &clockTime{hour: hour}
	}
	at := p.accept(roleAt)
	if !at && !startsWithDigit(p.peek(0).text) {
		return nil
	}
	c, ok, err := p.timeOfDay()
	if err != nil || !ok || (c.hourOnly && (!at || p.pos < len(p.words))) {
		p.pos = start
		return nil
	}
	return &c
}

// dayMention reads an unmistakable day. It returns nil if there is none, also for "sat", "sun" and "may" alone, which may be other words.
func (p *timeParser) dayMention() (*day, error) {
	start := p.pos
	next := p.nextIs(roleNext) && isWeekday(p.peek(1))
	if p.nextIs(roleShortDay) || (p.nextIs(roleNext) && !next) {
		return nil, nil //nolint:nilnil // no day is no error
	}
	d, ok, err := dayParser{p}.day()
	if err != nil || !ok {
		p.pos = start
		if !next {
			err = nil // something like "version 1.2.3" is text
		}
		return nil, err
	}
	return &d, nil
}

// trailingTime reads the time of a text whose only time is at its end: "call Bob tomorrow at 5pm". It returns false for other texts.
func (p *timeParser) trailingTime() (reading, bool) {
	start, first := p.pos, p.peek(0)
	if first.word.role != roleNone && first.word.role != roleTo || first.raw == "" || startsWithDigit(first.text) {
		return reading{}, false
	}
	for at := start + 1; at < len(p.words); at++ {
		p.pos = at - 1
		m, err := p.mention(reading{})
		if err != nil {
			return reading{}, false
		}
		if m.end != 0 {
			return reading{}, false
		}
		switch w := p.words[at]; w.word.role {
		case roleIn, roleAt, roleOn, roleDay, roleTonight, roleThis, roleNext, roleWeekday:
		default:
			if isPosition := positions[w.text] != 0 && p.words[at-1].word.role != roleThe; !startsWithDigit(w.text) && !isPosition {
				continue
			}
		}
		p.pos = at
		r, err := p.readTime()
		if err != nil || p.pos != len(p.words) {
			continue
		}
		r.rest = start
		r.end = at
		p.trailing = true
		return r, true
	}
	return reading{}, false
}

// isEarly reports whether a time is so early that it is probably something else, such as the verse 3:16.
func (c clockTime) isEarly() bool { return !c.hourOnly && !c.isTwelveHour && c.hour < 6 }
