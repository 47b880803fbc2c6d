package admin

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// rehearsalCommands asks what customers asked before once more, and shows where they would get something else today.
type rehearsalCommands struct {
	base

	previewer Previewer // nil where no contacts are answered
}

const (
	// maxRehearsed is how many questions are asked again, and maxRehearsalDays how far back they go.
	maxRehearsed     = 200
	maxRehearsalDays = 90
	rehearsalDays    = 30 // without a number
	// maxShownRehearsed is how many differences the room shows. The web page shows all.
	maxShownRehearsed = 5
	// rehearsalReserve is the time that is left to write the result when the time of the job is nearly over.
	rehearsalReserve = 10 * time.Second
)

// commands returns the command that rehearses.
func (rc *rehearsalCommands) commands() []command {
	if rc.previewer == nil {
		return nil
	}
	return []command{{
		name: "rehearse", args: "[days]", group: groupCustomers, run: rc.run,
		summary: "what customers asked, answered again with today's documents",
		help: fmt.Sprintf("I answer what customers asked in the last %d days once more with the documents, answers and model of today, and say where they would get another number, another source, "+
			"or a person instead of an answer. Nothing is sent. `/rehearse 7` goes back a week, at most %d days; I ask at most %d questions. The web page shows all differences.",
			rehearsalDays, maxRehearsalDays, maxRehearsed),
	}}
}

// run rehearses.
func (rc *rehearsalCommands) run(ctx context.Context, r request, args string) (answer, error) {
	days := rehearsalDays
	if args != "" {
		days = int(parseNumber(strings.TrimSuffix(strings.TrimSuffix(args, " days"), " day")))
		if days < 1 || days > maxRehearsalDays {
			return answer{text: fmt.Sprintf("`/rehearse 7` asks again what customers asked in the last 7 days, at most %d.", maxRehearsalDays)}, nil
		}
	}
	questions, err := rc.questionsSince(ctx, r.now.Add(-time.Duration(days)*24*time.Hour))
	if err != nil {
		return answer{}, err
	}
	if len(questions) == 0 {
		return answer{text: fmt.Sprintf("No customer was answered in the last %s: there is nothing to rehearse.", text.Count(days, "day"))}, nil
	}
	rehearsal := store.Rehearsal{At: r.now, Days: days}
	asked := map[store.MessageID]store.CustomerQuestion{}
	for _, q := range questions {
		if end, ok := ctx.Deadline(); ok && time.Until(end) < rehearsalReserve {
			break
		}
		p, err := rc.previewer.Preview(ctx, r.room, r.message, text.Clip(text.Clean(q.Body), maxPreviewQuestion))
		if err != nil {
			return answer{}, err
		}
		rehearsal.Asked++
		if kind, is := differenceOf(q, p); is {
			rehearsal.Different = append(rehearsal.Different, rehearsed(q, kind, p))
			asked[q.ID] = q
		}
	}
	ids := make([]store.MessageID, 0, len(rehearsal.Different))
	for _, d := range rehearsal.Different {
		ids = append(ids, d.Message)
	}
	return answer{
		text:   rc.text(rehearsal, asked, len(questions)),
		quotes: ids,
		change: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingRehearsal, rehearsal)
		},
		keepsUndo: true,
	}, nil
}

// questionsSince returns what customers asked since a time, each text once, the newest first.
func (rc *rehearsalCommands) questionsSince(ctx context.Context, since time.Time) ([]store.CustomerQuestion, error) {
	list, err := store.CustomerQuestions(ctx, rc.store.DB(), since, 5*maxRehearsed)
	if err != nil {
		return nil, err
	}
	ids := make([]store.ChatID, 0, len(list))
	for _, q := range list {
		ids = append(ids, q.ChatID)
	}
	chats, err := store.ChatsByID(ctx, rc.store.DB(), ids)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(q store.CustomerQuestion) bool {
		key := strings.ToLower(text.OneLine(q.Body))
		isNew := !seen[key] && chats[q.ChatID].ModeIn(rc.settings.Defaults) == policy.ModeBusiness
		seen[key] = seen[key] || isNew
		return !isNew
	})
	return list[:min(len(list), maxRehearsed)], nil
}

// differenceOf says how what a customer would get differs from what was sent; false if it does not.
func differenceOf(then store.CustomerQuestion, now Preview) (store.DifferenceKind, bool) {
	wasAnswered, isAnswered := then.Purpose != policy.PurposeEscalation, now.Text != "" && !now.Escalates
	switch {
	case wasAnswered && !isAnswered:
		return store.NowEscalated, true
	case !wasAnswered && isAnswered:
		return store.NowAnswered, true
	case !isAnswered:
		return "", false
	case !slices.Equal(numbersIn(then.Said()), numbersIn(now.Text)):
		return store.OtherNumber, true
	case !slices.Equal(documentsOf(then.Citations), documentsOf(now.Citations)):
		return store.OtherSource, true
	default:
		return "", false
	}
}

// digits matches a number as it is written.
var digits = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)

// numbersIn returns the numbers of a text, each once, in order.
func numbersIn(said string) []string {
	found := digits.FindAllString(said, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// documentsOf returns the names of the documents of citations, each once, in order.
func documentsOf(citations []store.Citation) (names []string) {
	for _, c := range citations {
		name, _, _ := strings.Cut(strings.Trim(c.Source, "[]"), " › ")
		name, _, _ = strings.Cut(name, ", ")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rehearsed returns a difference as it is stored.
func rehearsed(q store.CustomerQuestion, kind store.DifferenceKind, p Preview) store.RehearsedAnswer {
	a := store.RehearsedAnswer{Message: q.ID, Kind: kind}
	if kind == store.NowEscalated {
		a.Why = cmp.Or(p.Why, "There is no answer.")
		return a
	}
	a.Said = p.Text
	for _, c := range p.Citations {
		a.Sources = append(a.Sources, c.Source)
	}
	return a
}

// text says what differs, with the first differences.
func (rc *rehearsalCommands) text(re store.Rehearsal, asked map[store.MessageID]store.CustomerQuestion, of int) string {
	lines := []string{fmt.Sprintf("🎭 **%d of %s differ** from what customers got in the last %s. Nothing was sent.", len(re.Different),
		text.Count(re.Asked, "answer"), text.Count(re.Days, "day"))}
	if re.Asked < of {
		lines = append(lines, fmt.Sprintf("There was no time for the other %d questions.", of-re.Asked))
	}
	var counts []string
	shown := 0
	for _, kind := range store.DifferenceKinds {
		n, name := 0, strings.ToLower(kind.Title())
		for _, d := range re.Different {
			if d.Kind != kind {
				continue
			}
			n++
			if shown++; shown > maxShownRehearsed {
				continue
			}
			q := asked[d.Message]
			lines = append(lines, fmt.Sprintf("\n**%s** %s\nthen: %s\nnow: %s", name, quote(q.Body, 150), quote(q.Said(), 200),
				quote(cmp.Or(d.Said, "a person: "+d.Why), 200)))
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, name))
		}
	}
	if len(counts) > 0 {
		lines = slices.Insert(lines, 1, strings.Join(counts, " · "))
	}
	if rc.settings.WebAddress != "" && len(re.Different) > 0 {
		lines = append(lines, "\nAll of them: "+rc.settings.WebAddress+"/rehearsal")
	}
	return strings.Join(lines, "\n")
}
