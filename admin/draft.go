package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// DraftCommands shows drafts to the owner, and sends, rewrites or drops them.
type DraftCommands struct {
	base

	dialogs *dialogs
	shadows *ShadowCommands
}

// commands returns the commands about drafts.
func (df *DraftCommands) commands() []command {
	return []command{
		{
			name: "delivery", args: "[auto, draft or shadow] [chat]", group: groupChats, run: df.delivery,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return df.setDelivery(chat, pick.Delivery), nil
			},
			chatHint: func(pick chatPick) string {
				if pick.Delivery == "" {
					return ""
				}
				return " to set it to **" + string(pick.Delivery) + "**"
			},
			summary: "send, ask first, or only compare",
			help: "**auto**: I send right away. **draft**: I show it here first (`/remind --to` too): 👍 send, reply to edit, 👎 drop, `👎 too formal` to rewrite; expires after " +
				text.Duration(draftLifetime) + ". **shadow**: I show it and never send it; `/shadow` compares. Set: `/delivery draft Ana`.",
		},
		{
			name: "drafts", args: "[page]", group: groupChats, run: df.list,
			summary: "answers waiting for your approval",
			alone:   true,
		},
	}
}

// questions returns the kinds of questions of the topic.
func (df *DraftCommands) questions() []func() question {
	return []func() question{
		func() question { return &approveDraft{drafts: df} },
		func() question { return &resendDraft{drafts: df} },
		func() question { return &confirmDraft{drafts: df} },
	}
}

// kindDraft is the kind of questions about drafts.
const kindDraft = "draft"

// draftLifetime is how long a draft waits for the owner's approval.
const draftLifetime = 4 * time.Hour

// approveDraft asks whether a draft may be sent. This question is never closed, because the draft's outbox row says
// whether the draft is open.
type approveDraft struct {
	yesOrNo

	drafts *DraftCommands

	OutboxID uuid.UUID `json:"Out"`
}

func (q approveDraft) traits() traits {
	return traits{
		kind:           kindDraft,
		command:        "drafts",
		lifetime:       draftLifetime,
		needsReference: true,
		draft:          q.OutboxID,
	}
}

func (q approveDraft) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	switch c.word {
	case wordYes:
		early, err := q.drafts.isTooEarly(ctx, r, q.OutboxID)
		if err != nil {
			return answer{}, false, err
		}
		if early {
			return answer{
				text:   "The draft changed just before you answered. Check it, then reply `yes`.",
				reason: "It was about an earlier draft.",
			}, false, nil
		}
		return decideDraftAnswer(q.OutboxID, q.drafts.send), false, nil
	case wordNo:
		return decideDraftAnswer(q.OutboxID, q.drafts.drop), false, nil
	default:
		return answer{}, false, nil
	}
}

// confirmDraft asks for confirmation about the only open draft, after a yes or no that refers to no message and may be
// meant for something else.
type confirmDraft struct {
	yesOrNo

	drafts *DraftCommands

	OutboxID uuid.UUID `json:"Out"`
}

func (confirmDraft) traits() traits {
	return traits{kind: "confirm-draft", command: "drafts"}
}

func (q confirmDraft) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	ans, _, err := approveDraft(q).answer(ctx, r, c)
	return ans, true, err
}

// confirm handles a yes or no that refers to no question. done is false if no draft is open.
func (df *DraftCommands) confirm(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	if (c.word != wordYes && c.word != wordNo) || !r.isOwner() || r.message.Kind == string(bridgebridge.Reaction) {
		return answer{}, false, nil
	}
	open, err := store.OpenDrafts(ctx, df.store.DB(), 0, 2)
	if err != nil {
		return answer{}, false, err
	}
	if len(open) == 0 {
		return answer{}, false, nil
	}
	if len(open) > 1 {
		return answer{text: "Which draft? Reply to the one you mean, or react to it with 👍 or 👎. `/drafts` lists them."}, true, nil
	}
	to, err := df.recipient(ctx, df.store.DB(), open[0].ID)
	if err != nil {
		return answer{}, false, err
	}
	return answer{
		text:   fmt.Sprintf("**Send this to %s?** %s\n`yes` sends it, `no` drops it.", to, quote(open[0].Text(), maxScheduleText)),
		quotes: slices.Concat(open[0].Quotes, open[0].Sources), question: confirmDraft{drafts: df, OutboxID: open[0].ID},
	}, true, nil
}

// decideDraftAnswer returns an answer that calls decide with a draft and replies with the result.
func decideDraftAnswer(outboxID uuid.UUID, decide func(context.Context, store.Tx, uuid.UUID) (string, error)) answer {
	return answer{reason: "It decided about a draft.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		text, err := decide(ctx, tx, outboxID)
		if errors.Is(err, outbox.ErrDraftDecided) {
			return "That draft is no longer open.", nil
		}
		return text, err
	}}
}

// send sends a draft unchanged. If the gate refuses it now, it stays open.
func (df *DraftCommands) send(ctx context.Context, tx store.Tx, out uuid.UUID) (string, error) {
	decision, err := df.room.box.ApproveDraft(ctx, tx, out)
	if err != nil {
		return "", err
	}
	to, err := df.recipient(ctx, tx, out)
	switch {
	case err != nil:
		return "", err
	case decision.Code == policy.CodeQuoteDeleted:
		return "Not sent to **" + to + "**: a message it answers or quotes was deleted.",
			df.room.box.DropDraft(ctx, tx, out, policy.CodeQuoteDeleted)
	case decision.Code.IsWithdrawn():
		return "Not sent to **" + to + "**: " + esc(decision.Why) + " If it still needs an answer, I'll show you a new draft.", nil
	case !decision.Allow:
		return "⚠️ Can't be sent to **" + to + "** now: " + esc(decision.Why) + " The draft stays open.", nil
	default:
		if err := df.room.endDraftCard(ctx, tx, out, "✅ **Sent to "+to+"**, "+df.room.shortTime(df.room.now())); err != nil {
			return "", err
		}
		return "Sending to **" + to + "**.", store.SetExecutionOutcome(ctx, tx, out, store.ExecutionDone, "you said yes to the draft")
	}
}

func (df *DraftCommands) drop(ctx context.Context, tx store.Tx, out uuid.UUID) (string, error) {
	if err := df.room.box.DropDraft(ctx, tx, out, policy.CodeDraftDropped); err != nil {
		return "", err
	}
	return df.dropped(ctx, tx, out)
}

// dropped stores that the owner dropped a draft, and returns the answer.
func (df *DraftCommands) dropped(ctx context.Context, tx store.Tx, out uuid.UUID) (string, error) {
	to, err := df.recipient(ctx, tx, out)
	if err != nil {
		return "", err
	}
	if err := df.room.endDraftCard(ctx, tx, out, "👎 **Dropped**, nothing was sent to "+to); err != nil {
		return "", err
	}
	return "Dropped. Nothing was sent to **" + to + "**.",
		store.SetExecutionOutcome(ctx, tx, out, store.ExecutionSkipped, "you dropped the draft")
}

// refuse has a draft written again as the owner wants it. feedback is the message that says how.
func (df *DraftCommands) refuse(ctx context.Context, tx store.Tx, out uuid.UUID, feedback store.MessageID) (string, error) {
	isRedrafted, err := df.room.box.RefuseDraft(ctx, tx, out, feedback)
	if err != nil {
		return "", err
	}
	if !isRedrafted {
		return df.dropped(ctx, tx, out)
	}
	to, err := df.recipient(ctx, tx, out)
	return "Dropped. I'll rewrite it for **" + to + "** and show you the new draft.", err
}

// handleReply handles a reply to a draft: yes or no decides, 👎 with a reason has it written again, and any other text
// replaces the draft's. done is false if the message replies to no draft.
func (df *DraftCommands) handleReply(ctx context.Context, r request, text string) (_ answer, done bool, err error) {
	if r.message.RelatesTo == "" || text == "" || r.message.Attachment != nil {
		return answer{}, false, nil
	}
	d, err := store.DialogByEvent(ctx, df.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) || (err == nil && (d.Kind != kindDraft || !r.isOwner())) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	if c, ok := parseChoice(text); ok && (c.word == wordYes || c.word == wordNo) {
		return df.dialogs.handleChoice(ctx, r, c)
	}
	q, err := df.dialogs.read(d)
	if err != nil {
		return answer{}, false, err
	}
	switch reason, isRefused := policy.RefusalReason(text); {
	case isRefused && reason == "":
		return df.dialogs.handleChoice(ctx, r, choice{word: wordNo})
	case isRefused: // a reason is no text for the contact
		return decideDraftAnswer(q.(*approveDraft).OutboxID, func(ctx context.Context, tx store.Tx, out uuid.UUID) (string, error) { //nolint:forcetypeassert // by its kind
			return df.refuse(ctx, tx, out, r.message.ID)
		}), true, nil
	}
	return decideDraftAnswer(q.(*approveDraft).OutboxID, func(ctx context.Context, tx store.Tx, out uuid.UUID) (string, error) { //nolint:forcetypeassert // by its kind
		return df.rewrite(ctx, tx, out, text)
	}), true, nil
}

// rewrite replaces a draft by one with another text, which is shown and needs approval.
func (df *DraftCommands) rewrite(ctx context.Context, tx store.Tx, out uuid.UUID, text string) (string, error) {
	changed, decision, err := df.room.box.ReplaceDraft(ctx, tx, out, text)
	if err != nil {
		return "", err
	}
	if decision.Allow {
		rows, chat, err := df.room.box.LockDraft(ctx, tx, changed)
		if err != nil {
			return "", err
		}
		if err := updateEscalation(ctx, tx, chat.ID); err != nil {
			return "", err
		}
		if rows[0].SeenID == 0 { // its new text gets a card of its own
			if err := df.room.endDraftCard(ctx, tx, out, "✏️ **Changed**, the new text is below"); err != nil {
				return "", err
			}
		}
		return "", df.show(ctx, tx, chat, rows)
	}
	to, err := df.recipient(ctx, tx, out)
	return "⚠️ That cannot go to **" + to + "**: " + esc(decision.Why) + " The draft stays as it was.", err
}

// recipient names the chat that a draft is for.
func (df *DraftCommands) recipient(ctx context.Context, db store.DB, out uuid.UUID) (string, error) {
	o, err := store.OutboxMessageByID(ctx, db, out)
	if err != nil {
		return "", err
	}
	chat, err := store.ChatByID(ctx, db, o.ChatID)
	return esc(chat.Label()), err
}

// PresentDraft shows a draft to the owner, once, and drops it after draftLifetime. It also shows a shadow answer, but never drops it.
func (df *DraftCommands) PresentDraft(ctx context.Context, out uuid.UUID) error {
	return df.store.InTx(ctx, func(tx store.Tx) error {
		rows, chat, err := df.room.box.LockDraft(ctx, tx, out)
		if errors.Is(err, outbox.ErrDraftDecided) {
			if closed, err := df.closeCard(ctx, tx, out); closed || err != nil {
				return err
			}
			return df.shadows.present(ctx, tx, out)
		}
		if err != nil {
			return err
		}
		if rows[0].IsErased() {
			return df.dropForgotten(ctx, tx, out)
		}
		asked, err := store.DraftDialog(ctx, tx, kindDraft, out)
		if errors.Is(err, store.ErrNotFound) {
			isShown, err := df.showHolding(ctx, tx, rows[0])
			if err != nil {
				return err
			}
			if isShown {
				return nil
			}
			if err := df.show(ctx, tx, chat, rows); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.PresentDraftArgs{OutboxID: out, At: df.room.now().Add(draftLifetime)})
		}
		if err != nil {
			return err
		}
		if wait := asked.ExpiresAt.Sub(df.room.now()); wait > 0 {
			return jobs.Snooze(wait)
		}
		return df.expire(ctx, tx, chat, out)
	})
}

// expire drops a draft that nobody approved in time, and notifies the owner.
func (df *DraftCommands) expire(ctx context.Context, tx store.Tx, chat store.Chat, out uuid.UUID) error {
	to := esc(chat.Label())
	if err := store.MarkDropped(ctx, tx, out, policy.CodeDraftExpired, policy.CodeDraftExpired.Sentence()); err != nil {
		return err
	}
	if err := store.SetExecutionOutcome(ctx, tx, out, store.ExecutionSkipped, "nobody said yes to the draft"); err != nil {
		return err
	}
	if err := df.room.endDraftCard(ctx, tx, out, "⌛ **Expired**, nothing was sent to "+to); err != nil {
		return err
	}
	return df.room.box.NotifyOwner(ctx, tx, outbox.Alert, "⌛ The draft for **"+to+"** expired: not approved within "+
		text.Duration(draftLifetime)+".")
}

// dropForgotten drops a draft whose text was deleted, and notifies the owner if a contact's question stays unanswered.
func (df *DraftCommands) dropForgotten(ctx context.Context, tx store.Tx, out uuid.UUID) error {
	if err := store.MarkDropped(ctx, tx, out, policy.CodeQuoteDeleted, policy.CodeQuoteDeleted.Sentence()); err != nil {
		return err
	}
	asked, err := store.NewestMessageAnsweredBy(ctx, tx, out)
	if errors.Is(err, store.ErrNotFound) || (err == nil && asked.RedactedAt != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := df.recipient(ctx, tx, out)
	if err != nil {
		return err
	}
	return df.room.box.NotifyOwner(ctx, tx, outbox.Alert,
		"⌛ The draft for **"+to+"** was dropped: a message it is based on was deleted. The question is still unanswered.")
}

// show shows the messages of a draft, the question it answers and its sources. On the chat's card, it replaces an earlier
// draft that was withdrawn.
func (df *DraftCommands) show(ctx context.Context, tx store.Tx, chat store.Chat, rows []store.OutboxMessage) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	about := slices.Concat(rows[0].Quotes, rows[0].Sources)
	head := "✏️ **Draft for " + esc(chat.Label()) + "**"
	switch rows[0].Purpose {
	case policy.PurposeFollowUp:
		head += " (a follow-up: the contact has not answered for " + text.Count(chat.FollowUpAfter(df.settings.Defaults), "day") + ")"
	case policy.PurposeRating:
		head += " (asks whether the conversation helped)"
	default:
	}
	asked, err := store.NewestMessageAnsweredBy(ctx, tx, rows[0].ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case asked.RedactedAt == nil:
		head += fmt.Sprintf(" (asked %s: %s)", df.room.shortTime(asked.At), quote(asked.Body, 150))
		about = append(about, asked.ID)
	}
	lines := []string{head}
	lines = append(lines, quotedRows(rows)...)
	return df.showCard(ctx, tx, room, chat, notice{
		text:     strings.Join(lines, "\n") + "\n\n👍 send · reply to edit · 👎 drop ·",
		kind:     outbox.Alert,
		quotes:   about,
		question: &approveDraft{drafts: df, OutboxID: rows[0].ID},
	})
}

// quotedRows shows the texts of outbox rows, with their sources.
func quotedRows(rows []store.OutboxMessage) (lines []string) {
	for _, o := range rows {
		for text := range strings.SplitSeq(o.Text(), "\n") {
			lines = append(lines, "> "+esc(text))
		}
		for _, s := range o.Citations {
			lines = append(lines, "\nfrom "+esc(s.Source)+": "+quote(s.Quote, 150))
		}
	}
	return lines
}

// list lists a page of the drafts that wait for the owner's approval.
func (df *DraftCommands) list(ctx context.Context, r request, args string) (answer, error) {
	open, err := store.OpenDrafts(ctx, df.store.DB(), 0, maxDrafts)
	if err != nil {
		return answer{}, err
	}
	if len(open) == 0 {
		return answer{text: "No drafts. `/delivery draft Ana` shows you answers to Ana first."}, nil
	}
	lines := []string{"**" + text.Count(len(open), "draft") +
		"**, oldest first. React 👍 or 👎 on a draft, or reply to it to edit."}
	pages := (len(open) + draftsPerPage - 1) / draftsPerPage
	page := min(max(int(parseNumber(strings.TrimSpace(args))), 1), pages)
	var about []store.MessageID
	for _, o := range open[(page-1)*draftsPerPage : min(page*draftsPerPage, len(open))] {
		to, err := df.recipient(ctx, df.store.DB(), o.ID)
		if err != nil {
			return answer{}, err
		}
		content := fmt.Sprintf("%s — %s", to, quote(o.Text(), 100))
		about = slices.Concat(about, o.Quotes, o.Sources)
		asked, err := store.DraftDialog(ctx, df.store.DB(), kindDraft, o.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return answer{}, err
		}
		if err == nil {
			content += ", open until " + df.room.shortTime(asked.ExpiresAt)
			if shown, err := store.OutboxMessageByID(ctx, df.store.DB(), asked.OutboxID); err == nil && shown.EventID != nil {
				content += " · [there](" + memory.MessageLink(r.room, *shown.EventID) + ")"
			}
		}
		lines = append(lines, content)
	}
	if page < pages {
		lines = append(lines, fmt.Sprintf("Page %d of %d: `/drafts %d` shows more.", page, pages, page+1))
	}
	return answer{text: strings.Join(lines, "\n"), quotes: about}, nil
}

// maxDrafts is how many drafts are counted and listed, draftsPerPage how many at a time.
const maxDrafts, draftsPerPage = 1000, 20
