package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/internal/plainfile"
	"multis/policy"
)

// Business holds the facts about the business that agents know, the texts for contacts, the escalation keywords and the opening hours.
type Business struct {
	Name   string   // of the business, as agents say it; empty for none
	Topics []string // subjects that contacts ask about
	Rules  []string // rules that agents must follow when they answer contacts
	Tone   string   // how agents write to contacts; empty for no instruction
	Pages  []string // prefixes of web addresses whose pages may be read for answers

	Greeting   string // answer to a greeting, in every language that has none in Texts; empty means catalog's
	Escalation Escalation
	Language   catalog.Lang // of the texts to contacts whose language is not known
	Texts      map[catalog.Lang]Texts

	Hours           []string     // lines such as "mon-fri 9-18"; without any, the business is always open
	Holidays        []hours.Days // days without opening hours
	HolidayCalendar string       // path of an iCalendar file with further holidays, relative to the folder of config.yaml; empty means none
	OutsideHours    OutsideHours
	FollowUpDays    int  // after how many days of a contact's silence a follow-up is drafted; zero for never
	AskRating       bool // whether contacts are asked, once in a conversation, whether it helped
	// CalendarHolidays are the holidays in HolidayCalendar, which is read together with the configuration.
	CalendarHolidays []hours.Days
}

// Escalation configures which messages are always escalated, even if the documents answer them, and what the contact gets then.
type Escalation struct {
	Keywords []string // whole words or phrases, any case; empty means none
	Text     string   // sent once when a conversation is escalated, in every language that has none in Texts; empty means catalog's
	Room     bool     // whether the threads are in a room for operators; otherwise they are in the admin room
	// OnCall are notified of each new escalation while the business is closed. Each is the owner or an operator.
	OnCall []id.UserID
	// ClaimWithin is how long an escalation may stay unclaimed before people are notified again; zero means that nobody is.
	ClaimWithin time.Duration
}

// Texts are the texts for contacts in one language. For an empty text, catalog's is used.
type Texts struct{ Greeting, Escalated, Danger, Away, Clarify, FollowUp, Rating string }

// OutsideHours says what contacts get while the business is closed.
type OutsideHours string

// The values of business.outside_hours.
const (
	OutsideHoursAnswer OutsideHours = "answer" // answers as at any other time
	OutsideHoursAway   OutsideHours = "away"   // sends only the away text
)

// Catalog returns the standard texts.
func (b Business) Catalog() catalog.Texts {
	texts := catalog.Texts{
		ForAll: map[catalog.Name]string{catalog.Greeting: b.Greeting, catalog.Escalated: b.Escalation.Text},
		ByLang: map[catalog.Lang]map[catalog.Name]string{},
	}
	for lang, t := range b.Texts {
		texts.ByLang[lang] = map[catalog.Name]string{
			catalog.Greeting: t.Greeting, catalog.Escalated: t.Escalated, catalog.Danger: t.Danger, catalog.Away: t.Away,
			catalog.Clarify: t.Clarify, catalog.FollowUp: t.FollowUp, catalog.Rating: t.Rating,
		}
	}
	return texts
}

// OpeningHours returns the opening hours in a zone.
func (b Business) OpeningHours(zone *time.Location) hours.Hours {
	return b.HoursAt(zone, b.Hours)
}

// HoursAt returns the opening hours that lines such as "mon-fri 9-18" describe, in a time zone, with the holidays of the business.
func (b Business) HoursAt(zone *time.Location, lines []string) hours.Hours {
	h := hours.Hours{Zone: zone, Holidays: b.allHolidays()}
	for _, line := range lines {
		if err := h.Set(line); err != nil {
			panic(err) // parseHours has accepted the line
		}
	}
	return h
}

// allHolidays returns the days without opening hours.
func (b Business) allHolidays() []hours.Days { return slices.Concat(b.Holidays, b.CalendarHolidays) }

// businessFields lists the keys of the business.
func (c *Config) businessFields() []field {
	b := &c.Business
	return []field{
		value("business.name", &b.Name, optional(lineOf(2, 100))),
		list("business.topics", &b.Topics, lineOf(2, 100)),
		list("business.rules", &b.Rules, lineOf(2, 200)),
		value("business.tone", &b.Tone, optional(lineOf(2, 200))),
		list("business.pages", &b.Pages, pagePrefix),
		value("business.greeting", &b.Greeting, optional(textUpTo(500))),
		list("business.escalation.keywords", &b.Escalation.Keywords, lineOf(1, 100)),
		value("business.escalation.text", &b.Escalation.Text, optional(textUpTo(500))),
		value("business.escalation.room", &b.Escalation.Room, boolean),
		list("business.escalation.on_call", &b.Escalation.OnCall, userID),
		durationOrOff("business.escalation.claim_within", &b.Escalation.ClaimWithin),
		value("business.language", &b.Language, oneOf(catalog.Langs()...)),
		list("business.hours", &b.Hours, parseHours),
		list("business.holidays", &b.Holidays, hours.ParseDays),
		value("business.holiday_calendar", &b.HolidayCalendar, optional(filePath)),
		value("business.outside_hours", &b.OutsideHours, oneOf(OutsideHoursAnswer, OutsideHoursAway)),
		value("business.follow_up_days", &b.FollowUpDays, followUpDays),
		value("business.ask_rating", &b.AskRating, boolean),
	}
}

// fields lists the keys of the texts in one language.
func (t *Texts) fields(section string) []field {
	return []field{
		value(section+".greeting", &t.Greeting, textUpTo(500)),
		value(section+".escalated", &t.Escalated, textUpTo(500)),
		value(section+".danger", &t.Danger, textUpTo(500)),
		value(section+".away", &t.Away, func(s string) (string, error) {
			text, err := textUpTo(500)(s)
			if err == nil && catalog.Check(catalog.Away, text) != nil {
				err = fmt.Errorf("does not say when you open again; write %s where that goes", catalog.Away.Variables()[0])
			}
			return text, err
		}),
		value(section+".clarify", &t.Clarify, func(s string) (string, error) {
			text, err := textUpTo(300)(s)
			if err == nil && catalog.Check(catalog.Clarify, text) != nil {
				err = fmt.Errorf("does not name the two things; write %s where they go", strings.Join(catalog.Clarify.Variables(), " and "))
			}
			return text, err
		}),
		value(section+".follow_up", &t.FollowUp, textUpTo(500)),
		value(section+".rating", &t.Rating, textUpTo(500)),
	}
}

// followUpDays parses a number of days, at most policy.MaxFollowUpDays; "off" is zero.
func followUpDays(s string) (int, error) {
	if s == "off" || s == "false" { // YAML reads off without quotation marks as false
		return 0, nil
	}
	return between(0, policy.MaxFollowUpDays)(s)
}

// maxBusinessItems is the maximum number of topics, of rules and of pages, because models read all of them for each answer.
const maxBusinessItems = 30

// pagePrefix parses the prefix of a web address. The result ends in a slash, so that it matches no other host and no other folder.
func pagePrefix(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "", len(s) > 500:
		return "", fmt.Errorf("%.60q is not the beginning of a web address; write one like https://example.com/help/", s)
	case strings.HasSuffix(u.Path, "/"):
		return s, nil
	default:
		return s + "/", nil
	}
}

// parseHours checks a line of opening hours.
func parseHours(line string) (string, error) {
	var h hours.Hours
	if err := h.Set(line); err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	return line, nil
}

// checkBusiness reads the calendar of holidays, and rejects lists that are too long, unknown languages, and keys that have no effect.
func (c *Config) checkBusiness(r *reader) {
	b := &c.Business
	for key, n := range map[string]int{"business.topics": len(b.Topics), "business.rules": len(b.Rules), "business.pages": len(b.Pages)} {
		if n > maxBusinessItems {
			r.reportKey(key, fmt.Sprintf("has %d items; write at most %d", n, maxBusinessItems))
		}
	}
	for _, who := range b.Escalation.OnCall {
		if who != c.Owner && !slices.Contains(c.Operators, who) {
			r.reportKey("business.escalation.on_call", "names "+who.String()+
				", who is neither the owner nor one of the operators; add that one to operators")
		}
	}
	for lang := range b.Texts {
		if !catalog.HasTexts(lang) {
			_, err := oneOf(catalog.Langs()...)(string(lang))
			r.reportKey("business.texts."+string(lang), err.Error())
		}
	}
	if b.HolidayCalendar != "" {
		b.HolidayCalendar = resolvePath(filepath.Dir(r.file), b.HolidayCalendar)
		days, err := readCalendar(b.HolidayCalendar)
		if err != nil {
			r.reportKey("business.holiday_calendar", err.Error())
		}
		b.CalendarHolidays = days
	}
	if b.OpeningHours(time.UTC).IsZero() && !slices.ContainsFunc(c.Chats.Labels, func(l Label) bool { return len(l.Hours) > 0 }) {
		for key, set := range map[string]bool{
			"business.holidays": len(b.Holidays) > 0, "business.holiday_calendar": b.HolidayCalendar != "",
			"business.outside_hours": b.OutsideHours != OutsideHoursAnswer,
		} {
			if set {
				r.reportKey(key, `has no effect without business.hours; write them, such as [mon-fri 9-18, sat 10-14]`)
			}
		}
	}
}

// readCalendar reads the holidays of a calendar file.
func readCalendar(path string) ([]hours.Days, error) {
	f, _, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	days, err := hours.ParseCalendar(f)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return days, nil
}
