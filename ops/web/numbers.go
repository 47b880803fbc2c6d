package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/business/desk"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// openTooLong is how long an escalation may be open before the numbers count it.
const openTooLong = 24 * time.Hour

// periods are the periods that can be shown, in days.
var periods = []int{7, 30, 90}

// figure is a number with the one of the period before.
type figure struct{ Name, Value, Before string }

// share is a part of a whole.
type share struct {
	Name  string
	Count int
}

// numbersPage is what the page of the numbers shows.
type numbersPage struct {
	Days    int
	Periods []filter
	Figures []figure
	Charts  []chart
	Causes  []share
	Total   int // of the causes
}

// numbers shows the numbers of the desk and the costs, by day.
func (s *Site) numbers(v *visit) error {
	days := int(parseID(v.r.URL.Query().Get("days")))
	if !slices.Contains(periods, days) {
		days = periods[0]
	}
	y, m, d := v.now.In(s.Zone).Date()
	from := time.Date(y, m, d+1-days, 0, 0, 0, 0, s.Zone)
	before := time.Date(y, m, d+1-2*days, 0, 0, 0, 0, s.Zone)
	facts, err := store.DeskFacts(v.r.Context(), v.db, from, v.now, openTooLong)
	if err != nil {
		return err
	}
	earlier, err := store.DeskFacts(v.r.Context(), v.db, before, from, openTooLong)
	if err != nil {
		return err
	}
	costs, err := store.UsageByDay(v.r.Context(), v.db, v.now.In(s.Zone).Format(time.DateOnly), 2*days)
	if err != nil {
		return err
	}
	page := numbersPage{Days: days, Figures: s.figures(desk.Summarize(facts), desk.Summarize(earlier), costs[days:], costs[:days])}
	for _, n := range periods {
		page.Periods = append(page.Periods, filter{Name: inDays(n), Path: numbersPath(n), Current: n == days})
	}
	page.Charts = []chart{
		s.factChart("Answers without a person", "f1", facts, from, days, store.FactAlone),
		s.factChart("Escalations", "f2", facts, from, days, store.FactEscalated),
		s.costChart(from, costs[days:]),
	}
	page.Causes, page.Total = causes(desk.Summarize(facts).ByCause)
	s.show(v, http.StatusOK, "numbers", "Numbers of the last "+inDays(days), page)
	return nil
}

// causes returns why conversations were escalated, the most frequent first.
func causes(counts map[policy.Cause]int) (list []share, total int) {
	for _, c := range slices.Sorted(maps.Keys(counts)) {
		name := strings.ReplaceAll(string(c), "_", " ")
		list = append(list, share{cmp.Or(name, "by /handoff"), counts[c]})
		total += counts[c]
	}
	slices.SortStableFunc(list, func(a, b share) int { return b.Count - a.Count })
	return list, total
}

// inDays names a period.
func inDays(n int) string { return text.Count(n, "day") }

// numbersPath returns the address of the numbers of a period.
func numbersPath(days int) string { return "/numbers?days=" + strconv.Itoa(days) }

// figures returns the figures of a period beside those of the period before.
func (s *Site) figures(now, before desk.Stats, costs, costsBefore []store.DayUsage) []figure {
	count := func(name string, kinds ...store.DeskFactKind) figure {
		return figure{name, strconv.Itoa(sumOf(now, kinds)), strconv.Itoa(sumOf(before, kinds))}
	}
	wait := func(name string, now, before time.Duration) figure {
		return figure{name, waitText(now), waitText(before)}
	}
	return []figure{
		count("answered alone", store.FactAlone),
		count("by draft", store.FactDraft, store.FactChanged),
		count("escalated", store.FactEscalated),
		count("questions without an answer", store.FactUnanswered),
		wait("wait for the first answer", now.FirstAnswerWait, before.FirstAnswerWait),
		wait("wait for a person", now.PersonWait, before.PersonWait),
		count("conversations", store.FactConversation),
		{"cost of all models", text.Money(total(costs), s.Currency), text.Money(total(costsBefore), s.Currency)},
	}
}

// sumOf adds up the counts of kinds.
func sumOf(n desk.Stats, kinds []store.DeskFactKind) (sum int) {
	for _, k := range kinds {
		sum += n.Counts[k]
	}
	return sum
}

// waitText formats a wait; a dash for none.
func waitText(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return text.Duration(d)
}

// total adds up costs.
func total(costs []store.DayUsage) (sum int64) {
	for _, c := range costs {
		sum += c.Amount
	}
	return sum
}
