package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Pictures describes pictures with a model.
type Pictures interface {
	// Describe returns what the picture of a message shows, as one line, in the language of its caption or else in the
	// language with the code lang. The error is an *llm.OverBudgetError, a permanent one (jobs.IsPermanent), or one that a
	// retry may fix.
	Describe(ctx context.Context, as policy.SendAs, m store.Message, lang string) (string, error)
}

// maxPictures is how many pictures a model looks at for one answer.
const maxPictures = 4

// hasPicture reports whether a message has a picture.
func hasPicture(m store.Message) bool {
	return m.Kind == string(bridgebridge.Image) && m.Attachment != nil
}

// pictureDescriptions returns what the pictures of messages show, a line for each; empty without pictures.
func pictureDescriptions(messages []store.Message) string {
	var lines []string
	for _, m := range messages {
		if shows := bridgebridge.DescriptionOf(m.Body); hasPicture(m) && shows != "" {
			lines = append(lines, shows)
		}
	}
	return strings.Join(lines, "\n")
}

// typedText returns what the author of a message typed: its text, or the caption of its picture.
func typedText(m store.Message) string {
	if hasPicture(m) {
		return bridgebridge.CaptionOf(bridgebridge.Image, m.Body, "")
	}
	return m.Body
}

// describe adds what the picture of a message shows to its body, here and in the store. A message that has it already is left as it is.
func (c *core) describe(ctx context.Context, as policy.SendAs, m *store.Message, lang string) error {
	if bridgebridge.DescriptionOf(m.Body) != "" {
		return nil
	}
	shows, err := c.pictures.Describe(ctx, as, *m, lang)
	if err != nil {
		return err
	}
	described := bridgebridge.WithDescription(m.Body, shows)
	if err := c.store.InTx(ctx, func(tx store.Tx) error { return store.SetDescription(ctx, tx, *m, described) }); err != nil {
		return err
	}
	m.Body = described
	return nil
}

// describePictures adds what the pictures of the waiting messages show to the bodies of these messages, as described by a
// model. why says why a person has to look at the pictures; it is empty if the question can be answered.
func (t *Turns) describePictures(ctx context.Context, chat store.Chat, waiting []store.Message,
	last bool,
) (why string, cause policy.Cause, err error) {
	pictures := 0
	for _, m := range waiting {
		if hasPicture(m) {
			pictures++
		}
	}
	switch {
	case pictures == 0:
		return "", "", nil
	case t.pictures == nil && policy.NeedsViewer(chat.ModeIn(t.defaults), chat.Kind):
		return policy.CodeAttached.Sentence(), policy.CauseFile, nil
	case t.pictures == nil:
		return "", "", nil // the assistant was called by its name, and answers the text without the picture
	case pictures > maxPictures:
		return fmt.Sprintf("It has %d pictures, and I look at no more than %d.", pictures, maxPictures), policy.CauseFile, nil
	}
	lang, err := t.standard.languageOf(ctx, t.store.DB(), chat.ID)
	if err != nil {
		return "", "", err
	}
	for i := range waiting {
		if !hasPicture(waiting[i]) {
			continue
		}
		err := t.describe(ctx, policy.AsOwner, &waiting[i], string(lang))
		switch {
		case err == nil:
		case errors.Is(err, store.ErrChanged):
			return "", "", jobs.Snooze(pollSlack)
		case errors.Is(err, llm.ErrOverBudget):
			return "It has a picture, and the budget for looking at it is used up.", policy.CauseBudget, nil
		case ctx.Err() == nil && (last || jobs.IsPermanent(err)):
			return "It has a picture, and I could not look at it: " + strings.TrimSuffix(jobs.Cause(err).Error(), ".") + ".", policy.CauseFile, nil
		default:
			return "", "", err
		}
	}
	return "", "", nil
}

// describeOwnerPicture adds what the picture of an owner's question shows to its body, as described by a model. why says
// why the model could not; empty if it could.
func (q *Questions) describeOwnerPicture(ctx context.Context, m *store.Message) (why string, err error) {
	err = q.describe(ctx, policy.AsBot, m, "")
	if err == nil || errors.Is(err, store.ErrChanged) || ctx.Err() != nil {
		return "", err
	}
	return "⚠️ I could not look at the picture: " + strings.TrimSuffix(jobs.Cause(err).Error(), ".") + ".", nil
}

// joinLines joins texts that are not empty, a line for each.
func joinLines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}
