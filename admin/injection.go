package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"multis/policy"
	"multis/safety/audit"
	"multis/store"
)

// The values of chatPick.Audit.
const (
	pickInjection = "injection"
	pickLift      = "lift"
)

const (
	// injectionDays is how many days /audit injection looks back by default, maxInjectionDays how many at most.
	injectionDays    = 7
	maxInjectionDays = 365
)

// auditHint says what happens when a chat is picked for /audit.
func auditHint(pick chatPick) string {
	switch pick.Audit {
	case pickInjection:
		return " to see what looked like orders to me there"
	case pickLift:
		return " to let models answer there again"
	default:
		return " to see what I did there"
	}
}

// injection shows messages that were flagged or blocked as prompt injections, or ends a model hold.
func (au *auditCommands) injection(ctx context.Context, r request, words []string) (answer, error) {
	days := injectionDays
	switch {
	case len(words) == 0:
	case words[0] == "lift" && len(words) == 1:
		return answer{text: "Say for whom: `/audit injection lift Ana`."}, nil
	case words[0] == "lift":
		return au.chats.withChat(ctx, strings.Join(words[1:], " "), "audit", chatPick{Audit: pickLift})
	case len(words) == 1 && parseNumber(words[0]) > 0:
		days = min(int(parseNumber(words[0])), maxInjectionDays)
	default:
		return au.chats.withChat(ctx, strings.Join(words, " "), "audit", chatPick{Audit: pickInjection})
	}
	return au.injectionScores(ctx, store.Chat{}, r.now.AddDate(0, 0, -days))
}

// injectionScores lists the flagged and blocked messages since a time: those of one chat, or of all if chat is the zero value.
func (au *auditCommands) injectionScores(ctx context.Context, chat store.Chat, since time.Time) (answer, error) {
	db := au.store.DB()
	scores, err := store.InjectionScores(ctx, db, chat.ID, since, maxAuditLines)
	if err != nil {
		return answer{}, err
	}
	title := "Messages that looked like orders to me"
	if chat.ID != 0 {
		title = chat.Label()
	}
	if len(scores) == 0 {
		return answer{text: "**" + esc(title) + "**: none since " + since.In(au.settings.Zone).Format("Mon 2 Jan") + "."}, nil
	}
	ids := make([]store.ChatID, len(scores))
	for i, s := range scores {
		ids[i] = s.ChatID
	}
	chats, err := store.ChatsByID(ctx, db, ids)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + esc(title) + "** (newest first)"}
	for _, s := range scores {
		lines = append(lines, fmt.Sprintf("- %s · %s · message %d · %s", s.ScoredAt.In(au.settings.Zone).Format("Mon 2 Jan, 15:04"),
			esc(chats[s.ChatID].Label()), s.MessageID, scoreText(s)))
	}
	if len(scores) == maxAuditLines {
		lines = append(lines, "These are the newest "+strconv.Itoa(maxAuditLines)+".")
	}
	if chat.ID != 0 {
		until, err := store.ModelHold(ctx, db, chat.ID, nil, au.room.now())
		if err != nil {
			return answer{}, err
		}
		if !until.IsZero() {
			lines = append(lines, holdLine(chat, until, au.settings.Zone))
		}
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// scoreText says what was found in a message.
func scoreText(s store.InjectionScore) string {
	var layers []string
	for _, layer := range []struct {
		name  string
		score int
	}{{"patterns", s.PatternsScore}, {"scope", s.ScopeScore}, {"rate", s.RateScore}, {"judge", s.JudgeScore}} {
		if layer.score > 0 {
			layers = append(layers, fmt.Sprintf("%s %d", layer.name, layer.score))
		}
	}
	verdict := "flagged"
	if s.Verdict == policy.InjectionBlock {
		verdict = "blocked: no model read it"
	}
	return verdict + " (" + strings.Join(layers, ", ") + ")"
}

// holdLine says until when no model answers in a chat, and how to end that.
func holdLine(chat store.Chat, until time.Time, zone *time.Location) string {
	return "No model answers there until " + until.In(zone).Format("Mon 2 Jan, 15:04") + ". " +
		code("/audit injection lift "+chat.TypedName()) + " ends it."
}

// liftHold lets models answer in a chat again.
func (au *auditCommands) liftHold(ctx context.Context, chat store.Chat) (answer, error) {
	var lifted bool
	err := au.store.InTx(ctx, func(tx store.Tx) (err error) {
		if err := audit.SetActor(ctx, tx, audit.Owner); err != nil {
			return err
		}
		lifted, err = store.LiftModelHolds(ctx, tx, chat.ID, au.room.now())
		return err
	})
	if err != nil {
		return answer{}, err
	}
	if !lifted {
		return answer{text: "Models answer in " + esc(chat.Label()) + " already, as far as its mode allows."}, nil
	}
	return answer{text: "✅ Models answer in **" + esc(chat.Label()) + "** again."}, nil
}
