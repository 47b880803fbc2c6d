package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"multis/business/desk"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// DeskCommands shows the numbers of the business, such as how many questions were answered or escalated.
type DeskCommands struct {
	base
}

const (
	// openTooLong is how long an escalation may be open before /desk counts it as open.
	openTooLong = 24 * time.Hour
	// maxDeskLines is how many entries a list of the desk has at most.
	maxDeskLines = 30
)

// commands returns the command about the numbers.
func (dc *DeskCommands) commands() []command {
	return []command{{
		name:      "desk",
		args:      "[yesterday or week] [metric]",
		group:     groupCustomers,
		run:       dc.run,
		operators: true,
		summary:   "answers, drafts, escalations, waiting times",
		help: "The last 24 hours; `/desk yesterday` the day before today, `/desk week` the last seven days with a chart. The name of a number lists its chats: `/desk escalated yesterday`, `/desk week unanswered`. These are: " + factKindNames() + ". " +
			"Waits are medians; `open` are escalations that nobody has resolved in a day. I post the numbers each morning at 8:00 if anything happened.",
	}}
}

// listedFactKinds returns the kinds of facts that `/desk KIND` lists, in the order of its help.
func listedFactKinds() []store.DeskFactKind {
	return []store.DeskFactKind{
		store.FactAlone, store.FactDraft, store.FactChanged, store.FactDropped, store.FactEscalated, store.FactReopened, store.FactUnanswered,
		store.FactGood, store.FactBad, store.FactOpen, store.FactAnswered, store.FactPerson, store.FactConversation,
	}
}

// factKindNames lists the kinds of facts as they are typed.
func factKindNames() string {
	var names []string
	for _, k := range listedFactKinds() {
		names = append(names, code(string(k)))
	}
	return strings.Join(names, ", ")
}

// run carries out /desk.
func (dc *DeskCommands) run(ctx context.Context, r request, args string) (answer, error) {
	days := 1
	from := r.now.AddDate(0, 0, -1)
	until := r.now
	kind := store.DeskFactKind("")
	title := "the last 24 hours"
	for word := range strings.FieldsSeq(strings.ToLower(args)) {
		switch {
		case word == "week":
			days, title = 7, "the last seven days"
			from, until = r.now.AddDate(0, 0, -days), r.now
		case word == "yesterday":
			y, m, d := r.now.In(dc.settings.Zone).Date()
			days, title = 1, "yesterday"
			from, until = schedule.DayStart(y, m, d-1, dc.settings.Zone), schedule.DayStart(y, m, d, dc.settings.Zone)
		case word == "day", word == "today":
			days, title = 1, "the last 24 hours"
			from, until = r.now.AddDate(0, 0, -days), r.now
		case slices.Contains(listedFactKinds(), store.DeskFactKind(word)):
			kind = store.DeskFactKind(word)
		default:
			return answer{text: "Try `/desk`, `/desk yesterday`, `/desk week`, `/desk escalated`. The numbers are: " + factKindNames() +
				"."}, nil
		}
	}
	facts, err := store.DeskFacts(ctx, dc.store.DB(), from, until, openTooLong)
	if err != nil {
		return answer{}, err
	}
	if kind != "" {
		return dc.list(ctx, facts, kind)
	}
	shown := answer{text: dc.text(title, desk.Summarize(facts))}
	if days > 1 {
		shown.change = dc.sendChart(r, facts, days)
	}
	return shown, nil
}

// text formats the numbers.
func (dc *DeskCommands) text(title string, n desk.Stats) string {
	if n.IsZero() {
		return "**Desk, " + title + "**: nothing happened."
	}
	count := func(k store.DeskFactKind) int { return n.Counts[k] }
	lines := []string{
		"**Desk, " + title + "**",
		fmt.Sprintf("- answered alone: **%d** (`alone`)", count(store.FactAlone)),
		fmt.Sprintf("- by draft: **%d** as it stood (`draft`), %d changed (`changed`), %d dropped (`dropped`)", count(store.FactDraft),
			count(store.FactChanged), count(store.FactDropped)),
		fmt.Sprintf("- escalated: **%d** (`escalated`)%s; %d of them again within a week (`reopened`)", count(store.FactEscalated),
			causesText(n.ByCause), count(store.FactReopened)),
		fmt.Sprintf("- questions without an answer: **%d** (`unanswered`)", count(store.FactUnanswered)),
		fmt.Sprintf("- open for more than %s: **%d** (`open`)", text.Duration(openTooLong), count(store.FactOpen)),
	}
	if good, bad := count(store.FactGood), count(store.FactBad); good+bad > 0 {
		lines = append(lines, fmt.Sprintf("- said by contacts: **%d** 👍 (`good`), **%d** 👎 (`bad`)", good, bad))
	}
	if n.FirstAnswerWait > 0 {
		lines = append(lines, "- wait for the first answer: **"+text.Duration(n.FirstAnswerWait)+"** (`answered`)")
	}
	if n.PersonWait > 0 {
		lines = append(lines, "- wait for a person: **"+text.Duration(n.PersonWait)+"** (`person`)")
	}
	if n.Cost > 0 {
		lines = append(lines, fmt.Sprintf("- cost of a conversation: **%s**, %d of them (`conversations`)",
			text.ExactMoney(n.CostPerConversation(), dc.settings.Currency), count(store.FactConversation)))
	}
	return strings.Join(lines, "\n") + "\n\nA number's name lists its chats: `/desk escalated`."
}

// causesText lists after a colon how many conversations were escalated for each cause; empty for none.
func causesText(causes map[policy.Cause]int) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(causes)) {
		name := strings.ReplaceAll(string(c), "_", " ")
		if c == "" {
			name = "by `/handoff`"
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, causes[c]))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// list lists the facts of a kind, the newest first. It has no texts of contacts.
func (dc *DeskCommands) list(ctx context.Context, facts []store.DeskFact, kind store.DeskFactKind) (answer, error) {
	facts = slices.DeleteFunc(slices.Clone(facts), func(f store.DeskFact) bool { return f.Kind != kind })
	if len(facts) == 0 {
		return answer{text: "**" + string(kind) + "**: none."}, nil
	}
	ids := make([]store.ChatID, len(facts))
	for i, f := range facts {
		ids[i] = f.ChatID
	}
	chats, err := store.ChatsByID(ctx, dc.store.DB(), ids)
	if err != nil {
		return answer{}, err
	}
	lines := []string{fmt.Sprintf("**%s: %d**", kind, len(facts))}
	for _, f := range slices.Backward(facts) {
		if len(lines) > maxDeskLines {
			lines = append(lines, fmt.Sprintf("and %d earlier ones", len(facts)-maxDeskLines))
			break
		}
		line := "- " + esc(chats[f.ChatID].Label()) + ", " + dc.room.shortTime(f.At)
		if f.Cause != "" {
			line += ": " + strings.ReplaceAll(string(f.Cause), "_", " ")
		}
		if f.Seconds > 0 {
			line += " · " + text.Duration(time.Duration(f.Seconds)*time.Second)
		}
		lines = append(lines, line)
	}
	return answer{text: strings.Join(lines, "\n") + "\n\n`/why` and a name says more."}, nil
}

// sendChart sends a chart of whole days as a picture.
func (dc *DeskCommands) sendChart(r request, facts []store.DeskFact, days int) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		now := r.now.In(dc.settings.Zone)
		first := schedule.DayStart(now.Year(), now.Month(), now.Day()-days+1, dc.settings.Zone)
		data, err := desk.Chart(facts, first, days)
		if err != nil {
			return fmt.Errorf("draw the chart: %w", err)
		}
		picture := outbox.NewNotice(r.room, "", outbox.Answer)
		picture.Text = ""
		picture.HTML = ""
		picture.File = &outbox.File{
			Name:   "desk.png",
			MIME:   "image/png",
			Data:   data,
			Width:  desk.ChartWidth,
			Height: desk.ChartHeight,
		}
		_, _, err = dc.room.box.Queue(ctx, tx, picture)
		return err
	}
}

// Report posts the numbers of the last 24 hours, if anything happened. It returns how many facts there are.
func (dc *DeskCommands) Report(ctx context.Context) (facts int, err error) {
	err = dc.store.InTx(ctx, func(tx store.Tx) error {
		now := dc.room.now()
		list, err := store.DeskFacts(ctx, tx, now.AddDate(0, 0, -1), now, openTooLong)
		facts = len(list)
		if err != nil {
			return err
		}
		if facts == 0 {
			return nil
		}
		return dc.room.box.NotifyOwner(ctx, tx, outbox.Quiet, dc.text("the last 24 hours", desk.Summarize(list)))
	})
	return facts, err
}
