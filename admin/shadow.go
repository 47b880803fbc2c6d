package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"multis/business/answers"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// ShadowCommands shows what multis would have said in chats with shadow answers, and how close that was to what the owner said.
type ShadowCommands struct {
	base
}

// offerPeriod is how far back shadow answers count for the offer to send them from now on.
const offerPeriod = 28 * 24 * time.Hour

// maxShownDifferent is how many of the answers that differ from the owner's are quoted.
const maxShownDifferent = 3

func (sh *ShadowCommands) commands() []command {
	return []command{{
		name: "shadow", args: "[chat]", group: groupChats, run: sh.report,
		onChat:  func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) { return sh.reportOn(ctx, chat) },
		summary: "how close my shadow answers are to yours",
		help: "In a chat on `/delivery shadow` I never write: I show here what I would have said, and compare it with what you say there within a day. `/shadow` has the last " +
			"seven days of all chats, `/shadow Ana` those of one with the answers that differ most. On Mondays I post it by myself. 👍 and 👎 on a shadow answer count more than the comparison.",
	}}
}

// questions returns the kinds of questions of the topic.
func (sh *ShadowCommands) questions() []func() question {
	return []func() question{
		func() question { return &markShadow{shadows: sh} },
		func() question { return &offerAuto{shadows: sh} },
	}
}

// present shows a shadow answer to the owner, once. It does nothing if the outbox message is no shadow answer.
func (sh *ShadowCommands) present(ctx context.Context, tx store.Tx, out uuid.UUID) error {
	card, about, err := quoteLocked(ctx, tx, func() (string, []store.MessageID, error) { return sh.card(ctx, tx, out) })
	if err != nil {
		return err
	}
	if card == "" {
		return nil
	}
	q := &markShadow{OutboxID: out}
	if _, err := store.DraftDialog(ctx, tx, q.traits().kind, out); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, err = sh.room.notify(ctx, tx, room, outbox.Quiet, card, q, about...)
	return err
}

// card returns the text that shows a shadow answer, and the messages that it quotes. It is empty for another message, and
// if the answer was deleted.
func (sh *ShadowCommands) card(ctx context.Context, tx store.Tx, out uuid.UUID) (string, []store.MessageID, error) {
	rows, err := store.ShadowRows(ctx, tx, out)
	if err != nil {
		return "", nil, err
	}
	if len(rows) == 0 || rows[0].IsErased() {
		return "", nil, nil
	}
	chat, err := store.ChatByID(ctx, tx, rows[0].ChatID)
	if err != nil {
		return "", nil, err
	}
	about := slices.Concat(rows[0].Quotes, rows[0].Sources)
	head := "👥 **Shadow answer for " + esc(chat.Label()) + "**"
	asked, err := store.NewestMessageAnsweredBy(ctx, tx, out)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return "", nil, err
	case asked.RedactedAt == nil:
		head += " (asked " + sh.room.shortTime(asked.At) + ": " + quote(asked.Body, 150) + ")"
		about = append(about, asked.ID)
	}
	lines := append([]string{head}, quotedRows(rows)...)
	return strings.Join(lines, "\n") + "\n\nThis was not sent and cannot be. 👍 I'd say so · 👎 I would not.", about, nil
}

// markShadow asks what the owner thinks of a shadow answer. It sends nothing, whatever the answer is.
type markShadow struct {
	yesOrNo

	shadows *ShadowCommands

	OutboxID uuid.UUID `json:"Out"`
}

func (q markShadow) traits() traits {
	return traits{
		kind:           "shadow",
		command:        "shadow",
		lifetime:       answers.ReportPeriod,
		needsReference: true,
		opinion:        true,
		draft:          q.OutboxID,
	}
}

func (q markShadow) answer(_ context.Context, _ request, c choice) (_ answer, done bool, err error) {
	marks := map[string]string{wordYes: store.MarkGood, wordNo: store.MarkBad}
	mark, known := marks[c.word]
	if !known {
		return answer{}, false, nil
	}
	return answer{
		text: "Noted. It was not sent.", reason: "It judged a shadow answer.",
		change: func(ctx context.Context, tx store.Tx) error { return store.MarkShadow(ctx, tx, q.OutboxID, mark) },
	}, false, nil
}

// judgedPair is a shadow answer with its verdict.
type judgedPair struct {
	store.ShadowPair

	verdict answers.Verdict
}

// likeness is how much a shadow answer is like the owner's, from 0 to 1; 0 if he marked it as bad.
func (j judgedPair) likeness() float64 {
	if j.Mark == store.MarkBad {
		return 0
	}
	return answers.Likeness(j.ShadowText, j.OwnerText)
}

// judge compares a shadow answer with the owner's. The owner's mark overrules a model's verdict, which overrules the
// comparison of the words.
func (sh *ShadowCommands) judge(p store.ShadowPair) judgedPair {
	v := answers.Compare(p.ShadowText, p.OwnerText, p.Cited...)
	if v != answers.None && p.Judged != "" {
		v = answers.Verdict(p.Judged)
	}
	switch {
	case p.Mark == store.MarkGood && v != answers.Same:
		v = answers.Near
	case p.Mark == store.MarkBad:
		v = answers.Different
	case v == answers.None && sh.room.now().Sub(p.AskedAt) < answers.ReplyTime:
		v = answers.Pending
	}
	return judgedPair{p, v}
}

// byChat returns the shadow answers of the last period, by chat. chat limits them to one chat; 0 means all.
func (sh *ShadowCommands) byChat(ctx context.Context, db store.DB, chat store.ChatID,
	period time.Duration,
) (map[store.ChatID][]judgedPair, error) {
	pairs, err := store.ShadowPairs(ctx, db, chat, sh.room.now().Add(-period), answers.ReplyTime)
	list := map[store.ChatID][]judgedPair{}
	for _, p := range pairs {
		list[p.ChatID] = append(list[p.ChatID], sh.judge(p))
	}
	return list, err
}

// tally counts the verdicts and sums up the costs.
func tally(list []judgedPair) (t answers.Tally, cost int64) {
	for _, j := range list {
		t.Add(j.verdict)
		cost += j.Cost
	}
	return t, cost
}

// line says in one line how close the shadow answers in a chat are.
func (sh *ShadowCommands) line(chat store.Chat, list []judgedPair) string {
	t, cost := tally(list)
	line := fmt.Sprintf("**%s** — %s", esc(chat.Label()), text.Count(len(list), "shadow answer"))
	if t.Pairs() > 0 {
		line += fmt.Sprintf(", %d %% close to yours: %d the same, %d near, %d different", int(100*t.Rate()), t.Same, t.Near, t.Different)
	}
	if t.None > 0 {
		line += fmt.Sprintf(", %d you did not answer", t.None)
	}
	if t.Pending > 0 {
		line += fmt.Sprintf(", %d open", t.Pending)
	}
	if cost > 0 {
		line += " · " + text.Money(cost, sh.settings.Currency)
	}
	return line
}

// report shows the numbers of all chats.
func (sh *ShadowCommands) report(ctx context.Context, _ request, args string) (answer, error) {
	if args != "" {
		return sh.chats.withChat(ctx, args, "shadow", chatPick{})
	}
	lines, _, err := sh.lines(ctx, sh.store.DB(), false)
	if err != nil {
		return answer{}, err
	}
	if len(lines) == 0 {
		return answer{text: "No shadow answers in the last seven days. `/delivery shadow Ana` has me show here what I would say to Ana, without sending it."}, nil
	}
	return answer{text: "**Shadow answers of the last seven days**\n" + strings.Join(lines, "\n") +
		"\n`/shadow` and a name shows what differed."}, nil
}

// lines returns a line for each chat with shadow answers. With withWorst it adds the answers that differ most from the
// owner's. quotes are the messages that those quote.
func (sh *ShadowCommands) lines(ctx context.Context, db store.DB, withWorst bool) (lines []string, quotes []store.MessageID, err error) {
	list, err := sh.byChat(ctx, db, 0, answers.ReportPeriod)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(list)) {
		chat, err := store.ChatByID(ctx, db, id)
		if err != nil {
			return nil, nil, err
		}
		line := sh.line(chat, list[id])
		if withWorst {
			worst, of := sh.mostDifferent(list[id])
			line, quotes = strings.Join(append([]string{line}, worst...), "\n\n"), append(quotes, of...)
		}
		lines = append(lines, line)
	}
	return lines, quotes, nil
}

// mostDifferent shows the answers that differ most from the owner's, and returns the messages that it quotes. First come
// those that he marked as bad or that have other numbers; of two that differ as much, the newer one.
func (sh *ShadowCommands) mostDifferent(list []judgedPair) (lines []string, quotes []store.MessageID) {
	worst := slices.DeleteFunc(slices.Clone(list), func(j judgedPair) bool { return j.verdict != answers.Different })
	slices.SortStableFunc(worst, func(a, b judgedPair) int {
		return cmp.Or(cmp.Compare(a.likeness(), b.likeness()), b.AskedAt.Compare(a.AskedAt))
	})
	for _, j := range worst[:min(len(worst), maxShownDifferent)] {
		quotes = append(quotes, j.Sources...)
		lines = append(lines, fmt.Sprintf("%s asked %s\nI: %s\nYou: %s", sh.room.shortTime(j.AskedAt), quote(j.Asked, 100),
			quote(j.ShadowText, 200), quote(cmp.Or(j.OwnerText, "nothing"), 200)))
	}
	return lines, quotes
}

// reportOn shows the numbers of one chat, and the answers that differ most from the owner's.
func (sh *ShadowCommands) reportOn(ctx context.Context, chat store.Chat) (answer, error) {
	all, err := sh.byChat(ctx, sh.store.DB(), chat.ID, answers.ReportPeriod)
	if err != nil {
		return answer{}, err
	}
	list := all[chat.ID]
	if len(list) == 0 {
		return answer{text: "No shadow answers in **" + esc(chat.Label()) + "** in the last seven days."}, nil
	}
	worst, quotes := sh.mostDifferent(list)
	return answer{text: strings.Join(append([]string{sh.line(chat, list)}, worst...), "\n\n"), quotes: quotes}, nil
}

// Report posts the numbers of the last seven days with the answers that differ most from the owner's, if there are any.
// For each chat whose answers were close enough it offers once to send them from now on. It returns how many chats have
// shadow answers.
func (sh *ShadowCommands) Report(ctx context.Context) (chats int, err error) {
	err = sh.store.InTx(ctx, func(tx store.Tx) error {
		report, quotes, err := quoteLocked(ctx, tx, func() (string, []store.MessageID, error) {
			lines, quotes, err := sh.lines(ctx, tx, true)
			chats = len(lines)
			return "👥 **Shadow answers of the last seven days, and what differed most**\n\n" + strings.Join(lines, "\n\n"), quotes, err
		})
		if err != nil {
			return err
		}
		if chats == 0 {
			return nil
		}
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := sh.room.notify(ctx, tx, room, outbox.Quiet, report, nil, quotes...); err != nil {
			return err
		}
		return sh.offer(ctx, tx, room)
	})
	return chats, err
}

// offer asks about each chat whose shadow answers were close enough whether they may be sent from now on.
func (sh *ShadowCommands) offer(ctx context.Context, tx store.Tx, room store.Chat) error {
	all, err := sh.byChat(ctx, tx, 0, offerPeriod)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		t, _ := tally(all[id])
		if !t.Ready() {
			continue
		}
		chat, err := store.ChatByID(ctx, tx, id)
		if err != nil {
			return err
		}
		if !sh.isShadow(chat) {
			continue
		}
		first, err := store.ClaimAutoOffer(ctx, tx, id)
		if err != nil {
			return err
		}
		if !first {
			continue
		}
		ask := fmt.Sprintf("**%s**: %d of %d shadow answers were close to yours. Should I send my answers there automatically? `yes` or `no` (it stays as it is)", esc(chat.Label()), t.Same+t.Near, t.Pairs())
		if _, err := sh.room.notify(ctx, tx, room, outbox.Alert, ask, &offerAuto{ChatID: id}); err != nil {
			return err
		}
	}
	return nil
}

// isShadow reports whether a chat has shadow answers now, as set by the owner, a label or the configuration.
func (sh *ShadowCommands) isShadow(chat store.Chat) bool {
	d := sh.settings.Defaults
	return chat.ModeIn(d) == policy.ModeBusiness && chat.DeliveryIn(d) == policy.DeliveryShadow
}

// offerAuto asks whether the answers in a chat with shadow answers are sent from now on.
type offerAuto struct {
	yesOrNo

	shadows *ShadowCommands

	ChatID store.ChatID
}

func (offerAuto) traits() traits {
	return traits{
		kind:        "offer-auto",
		command:     "delivery",
		lifetime:    answers.ReportPeriod,
		unrequested: true,
	}
}

func (q offerAuto) answer(ctx context.Context, _ request, c choice) (_ answer, done bool, err error) {
	chat, err := store.ChatByID(ctx, q.shadows.store.DB(), q.ChatID)
	if err != nil {
		return answer{}, false, err
	}
	name := "**" + esc(chat.Label()) + "**"
	switch {
	case c.word == wordNo:
		return answer{text: name + " stays on shadow answers."}, true, nil
	case c.word != wordYes:
		return answer{}, false, nil
	case !q.shadows.isShadow(chat):
		return answer{text: name + " is not on shadow answers any more; I left it as it is."}, true, nil
	}
	return answer{
		text: name + ": from now on what I say there is sent at once. Undo: `/delivery shadow` and its name.",
		change: func(ctx context.Context, tx store.Tx) error {
			return store.SetDelivery(ctx, tx, chat.ID, policy.DeliveryAuto)
		},
	}, true, nil
}
