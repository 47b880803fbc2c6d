package transcript

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxLine is the maximum length of a line of a file, in bytes.
const maxLine = 1 << 20

// The marks of the two halves of a day, in the languages that phones write them in. A mark stands before or after the time.
const (
	beforeNoon = `a\.? ?m\.?|vorm\.|ص|ق\.ظ\.?|上午|오전|午前|πμ|π\.μ\.|öö|de\.|пп`
	afterNoon  = `p\.? ?m\.?|nachm\.|م|ب\.ظ\.?|下午|오후|午後|μμ|μ\.μ\.|ös|du\.|дп`
)

// messageStart matches the first line of a message, which begins with the time: in brackets on an iPhone, before a dash
// on Android. The lines up to the next match belong to the message. The order of day and month depends on the phone, and so does the word
// between date and time, such as "at".
var messageStart = regexp.MustCompile(`(?i)^\[?(\d{1,4})[./-] ?(\d{1,2})[./-] ?(\d{1,4})[.,،]?\s+(?:(` + beforeNoon + `|` + afterNoon + `|\pL{1,5})\s*)?` +
	`(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*(` + beforeNoon + `|` + afterNoon + `))?\]?(?:\s+[-–]|:)?\s+(.*)$`)

var (
	isAfterNoon = regexp.MustCompile(`(?i)^(?:` + afterNoon + `)$`)
	isHalfDay   = regexp.MustCompile(`(?i)^(?:` + beforeNoon + `|` + afterNoon + `)$`)
)

// undatedMessage is a message with the three numbers of its date. Which of them is the day is decided later, for the whole file.
type undatedMessage struct {
	first, second, third  int
	yearFirst             bool
	hour, minute, seconds int
	line                  int
	sender, text          string
	more                  []string
}

// WhatsApp parses a chat that WhatsApp exported as text. The file does not tell the order of day and month: it is found from dates that are
// possible in one order only, else from the order of the messages, else the day comes first.
func WhatsApp(name string, r io.Reader, zone *time.Location) ([]Line, error) {
	var stamps []undatedMessage
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	n := 0
	for in.Scan() {
		n++
		text := stripDirectionMarks(in.Text())
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		m := messageStart.FindStringSubmatch(plainDigits(text))
		switch {
		case m != nil:
			s, err := parseMessageStart(m, n)
			if err != nil {
				return nil, &LineError{name, n, err.Error()}
			}
			stamps = append(stamps, s)
		case len(stamps) > 0:
			last := &stamps[len(stamps)-1]
			last.more = append(last.more, text)
		case strings.TrimSpace(text) != "":
			return nil, &LineError{name, n, "a chat that WhatsApp exported begins with a date, as in \"21.11.26, 18:05 - Ana: hello\""}
		}
	}
	if err := in.Err(); err != nil {
		return nil, &LineError{name, n + 1, err.Error()}
	}
	return datedLines(name, stamps, zone)
}

// maxTimeLength is the maximum length of the time at the beginning of a message, in characters.
const maxTimeLength = 32

// plainDigits replaces the digits of other scripts in the time at the beginning of a line. The text of the message stays as it is.
func plainDigits(line string) string {
	head := []rune(strings.TrimPrefix(line, "["))
	if len(head) == 0 || head[0] < '\u0660' || !unicode.IsDigit(head[0]) {
		return line
	}
	runes := []rune(line)
	for i, r := range runes[:min(len(runes), maxTimeLength)] {
		for _, zero := range []rune{'٠', '۰', '०', '০'} {
			if r >= zero && r <= zero+9 {
				runes[i] = '0' + r - zero
			}
		}
	}
	return string(runes)
}

// stripDirectionMarks removes the direction marks that WhatsApp inserts, and replaces special spaces by plain ones.
func stripDirectionMarks(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u2068', '\u2069', '\r':
			return -1
		case '\u202f', '\u00a0', '\u2009':
			return ' '
		default:
			return r
		}
	}, s)
}

func parseMessageStart(m []string, line int) (undatedMessage, error) {
	numbers := make([]int, 6)
	for i, part := range []string{m[1], m[2], m[3], m[5], m[6], m[7]} {
		if part != "" {
			numbers[i], _ = strconv.Atoi(part) // four digits at most
		}
	}
	s := undatedMessage{
		first:     numbers[0],
		second:    numbers[1],
		third:     numbers[2],
		hour:      numbers[3],
		minute:    numbers[4],
		seconds:   numbers[5],
		line:      line,
		yearFirst: len(m[1]) == 4,
	}
	half := m[8]
	if half == "" && isHalfDay.MatchString(m[4]) {
		half = m[4]
	}
	switch {
	case half == "":
	case s.hour > 12: // some phones write 0:25 PM
		return undatedMessage{}, fmt.Errorf("%d is no hour of a half day", s.hour)
	default:
		s.hour %= 12
		if isAfterNoon.MatchString(half) {
			s.hour += 12
		}
	}
	if s.hour > 23 || s.minute > 59 || s.seconds > 59 {
		return undatedMessage{}, fmt.Errorf("%d:%02d is not a time", s.hour, s.minute)
	}
	who, text, said := strings.Cut(m[9], ": ")
	if !said && strings.HasSuffix(m[9], ":") {
		who, said = strings.TrimSuffix(m[9], ":"), true
	}
	if said { // the tilde marks who is no contact of the phone's owner
		s.sender, s.text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(who), "~")), text
	}
	return s, nil // a line without a sender is a notice of WhatsApp's
}

// datedLines determines the order of day and month and converts the messages to lines.
func datedLines(name string, stamps []undatedMessage, zone *time.Location) ([]Line, error) {
	monthFirst := isMonthFirst(stamps, zone)
	var lines []Line
	for _, s := range stamps {
		at, ok := s.at(monthFirst, zone)
		if !ok {
			return nil, &LineError{name, s.line, "there is no such day"}
		}
		if text := strings.TrimSpace(strings.Join(append([]string{s.text}, s.more...), "\n")); s.sender != "" && text != "" {
			lines = append(lines, Line{At: at, Sender: s.sender, Text: text})
		}
	}
	return lines, nil
}

// isMonthFirst reports whether the month comes before the day: whether dates in that order are impossible less often than
// in the other, or, if equally often, jump back in time less often.
func isMonthFirst(stamps []undatedMessage, zone *time.Location) bool {
	back := map[bool]int{}
	for _, monthFirst := range []bool{false, true} {
		var last time.Time
		for _, s := range stamps {
			at, ok := s.at(monthFirst, zone)
			switch {
			case !ok:
				back[monthFirst] += len(stamps) + 1
			case at.Before(last.Add(-24 * time.Hour)):
				back[monthFirst]++
			}
			last = at
		}
	}
	return back[true] < back[false]
}

// at returns the time of the message. It returns false if there is no such day.
func (s undatedMessage) at(monthFirst bool, zone *time.Location) (time.Time, bool) {
	day := s.first
	month := s.second
	year := s.third
	switch {
	case s.yearFirst:
		year, day = s.first, s.third
	case monthFirst:
		day, month = s.second, s.first
	}
	if year < 100 {
		year += 2000
	}
	if year < 2000 || year > 2100 || month < 1 || month > 12 || day < 1 {
		return time.Time{}, false
	}
	at := time.Date(year, time.Month(month), day, s.hour, s.minute, s.seconds, 0, zone)
	return at, at.Day() == day
}
