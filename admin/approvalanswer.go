package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// cardAnswer is an answer of the owner to a card with tool calls.
type cardAnswer struct {
	allowed bool
	numbers []int         // the calls that it is about, counted from 1; empty for all
	grant   time.Duration // how long further calls like them are allowed; zero for none
}

// parseCardAnswer reads an answer to a card: a yes or no, optionally with the numbers of calls before it, and after a yes
// with how long it applies. ok is false for any other text.
func parseCardAnswer(said string) (_ cardAnswer, ok bool) {
	words := strings.Fields(strings.ReplaceAll(strings.ToLower(strings.TrimRight(strings.TrimSpace(said), ".!")), ",", " "))
	var a cardAnswer
	for len(words) > 1 {
		n := callNumber(words[0])
		if n == 0 || slices.Contains([]string{"h", "hour", "hours"}, words[1]) {
			break
		}
		a.numbers, words = append(a.numbers, n), words[1:]
	}
	if len(words) == 0 {
		return cardAnswer{}, false
	}
	switch first, isReaction := cardReaction(words[0]); {
	case isReaction:
		a.allowed = first.allowed
		a.grant = first.grant
		words = words[1:]
	case words[0] == wordYes:
		a.allowed, words = true, words[1:]
	case words[0] == wordNo:
		words = words[1:]
	case words[0] != "for":
		return cardAnswer{}, false
	default: // "for an hour" alone
		a.allowed = true
		if a.grant, ok = parseHours(words); !ok {
			return cardAnswer{}, false
		}
		return a, true
	}
	if len(words) > 0 && words[0] == "all" && len(a.numbers) == 0 {
		words = words[1:]
	}
	if len(words) == 0 {
		return a, true
	}
	a.grant, ok = parseHours(words)
	return a, ok && a.allowed
}

// callNumber reads the number of a call on a card; zero for anything else.
func callNumber(word string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(word, "."))
	if err != nil {
		return 0
	}
	if len(word) > 3 || n < 1 || word[0] == '+' {
		return 0
	}
	return n
}

// isNumbers reports whether a text has nothing but numbers of calls.
func isNumbers(said string) bool {
	words := strings.Fields(strings.ReplaceAll(said, ",", " "))
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return callNumber(w) == 0 })
}

// parseHours reads for how long calls are allowed: "for an hour", "2h", "8 hours".
func parseHours(words []string) (time.Duration, bool) {
	if words[0] == "for" {
		words = words[1:]
	}
	joined := strings.Join(words, "")
	for _, unit := range []string{"hours", "hour", "h"} {
		number, found := strings.CutSuffix(joined, unit)
		if !found {
			continue
		}
		if number == "an" || number == "one" {
			return time.Hour, true
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return 0, false
		}
		if n < 1 || n > 24 {
			return 0, false
		}
		return time.Duration(n) * time.Hour, true
	}
	return 0, false
}

// cardReaction reads a reaction to a card. Only these exact emoji count, in any skin tone.
func cardReaction(key string) (_ cardAnswer, ok bool) {
	switch policy.PlainEmoji(key) {
	case "👍", "✅", "✔":
		return cardAnswer{allowed: true}, true
	case "👎", "❌":
		return cardAnswer{}, true
	case "🕐":
		return cardAnswer{allowed: true, grant: time.Hour}, true
	default:
		return cardAnswer{}, false
	}
}

// answerApproval handles the owner's answer to a card with tool calls. The answer counts only if the owner wrote it in a
// Matrix client, as a reply or a reaction to the card; a plain yes or no counts while no other question is open. done is
// false if the message is about no card.
func (ts *TaskCommands) answerApproval(ctx context.Context, r request, said string) (_ answer, done bool, err error) {
	isReaction := r.message.Kind == string(bridgebridge.Reaction)
	parsed, ok := parseCardAnswer(said)
	if isReaction && (len(parsed.numbers) > 0 || !ok) || strings.TrimSpace(said) == "" { // such as a sticker
		return answer{}, false, nil
	}
	dialog, unclear, err := ts.findCard(ctx, r, ok)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answer{}, false, nil
	case err != nil:
		return answer{}, false, err
	case !r.isOwner():
		return answer{reason: "Only the owner approves, in a Matrix client."}, true, nil
	case unclear:
		return answer{text: "Which question? Reply to the one you mean.", reason: "It could be about several questions."}, true, nil
	case dialog.Done:
		return answer{text: "That question is closed.", reason: closedReason}, true, nil
	case !dialog.ExpiresAt.After(r.now):
		return answer{
			text:   fmt.Sprintf("That question was open until %s, so it was not done. Ask again.", ts.room.shortTime(dialog.ExpiresAt)),
			reason: "It answered a question that had expired.",
		}, true, nil
	}
	asked, err := ts.dialogs.read(dialog)
	if err != nil {
		return answer{}, false, err
	}
	card := asked.(*approveCalls) //nolint:forcetypeassert // by its kind
	if r.message.At.Before(card.Asked.Add(-maxClockSkew)) {
		return answer{reason: "It was written before the question."}, true, nil
	}
	calls, err := store.ApprovalsOnCard(ctx, ts.store.DB(), card.Card)
	if err != nil {
		return answer{text: "That question is no longer open."}, true, err
	}
	if len(calls) == 0 {
		return answer{text: "That question is no longer open."}, true, nil
	}
	if isNumbers(said) {
		return answer{text: "Yes or no? `1 3 yes` does the first and the third, `no` none."}, true, nil
	}
	if ok {
		return ts.judgeCard(r, dialog, calls, parsed), true, nil
	}
	return ts.decideCard(r, dialog, calls, jobs.CardDecision{
		ApprovalDecision: store.ApprovalDecision{
			How:     store.HowReply,
			Reason:  text.Clip(text.Clean(said), maxDenialReason),
			Message: r.message.ID,
		},
	}), true, nil
}

const (
	// maxClockSkew is how much the homeserver's clock may be behind.
	maxClockSkew = time.Minute
	// maxDenialReason is the maximum length of the reason of a denial that an agent gets, in characters.
	maxDenialReason = 1000
)

// findCard returns the card that a message relates to, else the only open question if the message is an answer to a card,
// else store.ErrNotFound. unclear is true if several questions are open.
func (ts *TaskCommands) findCard(ctx context.Context, r request, isAnswer bool) (d store.Dialog, unclear bool, err error) {
	if r.dialog != 0 { // the message waited for the PIN
		d, err = store.DialogByID(ctx, ts.store.DB(), r.dialog)
	} else if r.message.RelatesTo != "" {
		d, err = store.DialogByEvent(ctx, ts.store.DB(), r.room.ID, r.message.RelatesTo)
	}
	if r.dialog != 0 || r.message.RelatesTo != "" {
		if err == nil && d.Kind != kindCard {
			err = store.ErrNotFound
		}
		return d, false, err
	}
	if !isAnswer || r.message.Kind != string(bridgebridge.Text) {
		return store.Dialog{}, false, store.ErrNotFound
	}
	recent, err := store.RecentDialogs(ctx, ts.store.DB(), r.room.ID, r.now, maxRecentDialogs)
	if err != nil {
		return store.Dialog{}, false, err
	}
	recent = slices.DeleteFunc(recent, func(d store.Dialog) bool { return d.Done })
	if len(recent) == 0 || recent[0].Kind != kindCard {
		return store.Dialog{}, false, store.ErrNotFound
	}
	for _, other := range recent[1:] {
		q, err := ts.dialogs.read(other)
		if err != nil {
			return store.Dialog{}, false, err
		}
		unclear = unclear || other.Kind == kindCard || q.accepts(wordYes)
	}
	asked, err := ts.dialogs.read(recent[0])
	if err != nil {
		return store.Dialog{}, false, err
	}
	if card, ok := asked.(*approveCalls); ok && r.message.At.Before(card.Asked) {
		return store.Dialog{}, false, store.ErrNotFound // the message was meant for something else
	}
	return recent[0], unclear, nil
}

// judgeCard returns the reply to an answer that is a yes or a no.
func (ts *TaskCommands) judgeCard(r request, dialog store.Dialog, calls []store.Approval, a cardAnswer) answer {
	isOver := func(n int) bool { return n > len(calls) }
	switch {
	case r.message.Kind == string(bridgebridge.Reaction) && calls[0].Tier != store.ApprovalConfirm:
		return ts.refuseReaction(calls[0].ID)
	case a.allowed && r.message.EditedAt != nil:
		return answer{text: "An edited message allows nothing. Write it again."}
	case slices.ContainsFunc(a.numbers, isOver):
		return answer{text: fmt.Sprintf("There are %d. `1 3 yes` does the first and the third.", len(calls))}
	case !a.allowed && len(a.numbers) > 0:
		return answer{text: "Say which ones I may do, such as `1 3 yes`; the others are not done. `no` is for all of them."}
	case a.grant > store.MaxGrant:
		return answer{text: fmt.Sprintf("I allow that for at most %d hours: `yes 8h`.", int(store.MaxGrant.Hours()))}
	case a.grant > 0 && !isGrantable(calls):
		return answer{text: "That can only be allowed once: `yes` does it."}
	}
	ans := ts.decideCard(r, dialog, calls, jobs.CardDecision{
		ApprovalDecision: store.ApprovalDecision{
			Allowed: a.allowed,
			How:     approvalHow(r),
			Message: r.message.ID,
		}, Numbers: a.numbers, Grant: a.grant,
	})
	if a.allowed && calls[0].Tier == store.ApprovalPIN {
		ans.dialog, ans.pin = dialog.ID, &pinNeed{pin.ActionApprove, cardBinding(calls, a.numbers)}
	}
	return ans
}

// cardBinding returns the calls that a PIN for a card allows, as the binding of the PIN.
func cardBinding(calls []store.Approval, numbers []int) string {
	lines := []string{fmt.Sprintf("task %d", calls[0].TaskID)}
	for i, a := range calls {
		if len(numbers) == 0 || slices.Contains(numbers, i+1) {
			lines = append(lines, a.Tool+" "+a.Arguments)
		}
	}
	return strings.Join(lines, ": ")
}

// approvalHow returns how a yes or a no was given: by a reaction or in words.
func approvalHow(r request) store.ApprovalHow {
	if r.message.Kind == string(bridgebridge.Reaction) {
		return store.HowReaction
	}
	return store.HowText
}

// refuseReaction tells the owner, once, that a reaction does not decide a card.
func (ts *TaskCommands) refuseReaction(card int64) answer {
	return answer{
		reason: "A reaction does not decide about a command.",
		changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
			first, err := store.ClaimHint(ctx, tx, card)
			if err != nil {
				return "", err
			}
			if !first {
				return "", nil
			}
			return "Write `yes` or `no` as a reply: reactions are not encrypted, so they do not count for this.", nil
		},
	}
}

// decideCard stores a decision and replies with its effect. If the message with the decision was edited or deleted
// meanwhile, the message is handled again.
func (ts *TaskCommands) decideCard(r request, dialog store.Dialog, calls []store.Approval, d jobs.CardDecision) answer {
	return answer{reason: "It decided about " + calls[0].Tool + ".", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		said, err := store.LockMessages(ctx, tx, []store.MessageID{r.message.ID})
		if err != nil {
			return "", err
		}
		if len(said) == 0 || said[0].RedactedAt != nil || (said[0].EditedAt != nil && r.message.EditedAt == nil) {
			return "", jobs.Snooze(0) // the message is handled again
		}
		first, err := store.FinishDialog(ctx, tx, dialog.ID)
		if err != nil {
			return "That question is closed.", err
		}
		if !first {
			return "That question is closed.", nil
		}
		if err := ts.room.endQuestion(ctx, tx, dialog, markOf(d.Allowed)); err != nil {
			return "", err
		}
		result, decided, err := jobs.DecideCard(ctx, tx, calls[0].ID, d, r.now)
		if err != nil {
			return "That question is no longer open.", err
		}
		if !decided {
			return "That question is no longer open.", nil
		}
		effect := ts.decidedText(calls, result, d)
		if len(result.Allowed) == 0 {
			return effect, nil
		}
		return withSafeModeNote(ctx, tx, effect)
	}}
}

// decidedText says what was decided about a card.
func (ts *TaskCommands) decidedText(calls []store.Approval, result jobs.DecidedCard, d jobs.CardDecision) string {
	number := func(a store.Approval) string {
		return strconv.Itoa(1 + slices.IndexFunc(calls, func(c store.Approval) bool { return c.ID == a.ID }))
	}
	list := func(what string, some []store.Approval) string {
		line := what + ": " + code(calls[0].Tool)
		if len(some) == len(calls) {
			return line + "."
		}
		var numbers []string
		for _, a := range some {
			numbers = append(numbers, number(a))
		}
		return line + " " + strings.Join(numbers, ", ") + "."
	}
	var lines []string
	if len(result.Allowed) > 0 {
		lines = append(lines, list("Allowed", result.Allowed))
	}
	if len(result.Denied) > 0 {
		lines = append(lines, list("Not done", result.Denied))
	}
	if d.How == store.HowReply && d.Reason != "" {
		lines = append(lines, "I told the agent why.")
	}
	for _, g := range result.Grants {
		lines = append(lines, "Until "+ts.room.shortTime(g.ExpiresAt)+" I don't ask about "+grantLabel(g)+
			fmt.Sprintf("; `/approvals revoke %d` ends that.", g.ID))
	}
	if result.Continued != 0 {
		lines = append(lines, fmt.Sprintf("I continue as task %d.", result.Continued))
	}
	return strings.Join(lines, " ")
}

// grantLabel names what a grant covers.
func grantLabel(g store.Grant) string {
	label := code(g.Tool)
	if g.Target != "" {
		label += " for " + esc(strings.ReplaceAll(g.Target, "\n", ", "))
	}
	if g.Agent != "" {
		label += " by " + esc(g.Agent)
	}
	return label
}
