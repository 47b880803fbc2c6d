package admin

import (
	"cmp"
	"context"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// handle returns the answer to a request. It changes nothing; the answer's change does.
func (a *Admin) handle(ctx context.Context, r request) (answer, error) {
	switch code := r.message.Code; code {
	case policy.CodeUntrusted:
		return answer{text: untrustedText, reason: code.Sentence(), outcome: "refused"}, nil
	case policy.CodeBridged:
		return answer{text: bridgedText, reason: code.Sentence(), outcome: "refused"}, nil
	default: // it is handled
	}
	if r.room.IsOperatorsRoom {
		return a.handleForOperators(ctx, r)
	}
	if r.message.Kind == string(bridgebridge.Reaction) {
		return a.handleReaction(ctx, r)
	}
	if ans, done, err := a.escalations.handleThreadMessage(ctx, r); err != nil || done {
		return ans, err
	}
	switch r.message.Code {
	case policy.CodeTranscribed: // a voice note is always a question, even if it sounds like a command
		if !r.isOwner() {
			return answer{reason: "Operators talk in this room; only their commands are for me."}, nil
		}
		return a.questions.ask(ctx, r, r.message.Body)
	case policy.CodeTranscriptionFailed:
		return answer{text: "⚠️ " + esc(r.message.Reason), reason: r.message.Reason}, nil
	default: // it was typed
	}
	text := typedText(r.message)
	name, rest := parseCommand(text)
	if name != "" {
		return a.runCommand(ctx, r, name, rest)
	}
	if ans, done, err := a.Drafts.handleReply(ctx, r, text); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.Tasks.answerApproval(ctx, r, text); err != nil || done {
		return ans, err
	}
	if about, err := store.IsQuotingNotice(ctx, a.store.DB(), r.room.ID, r.message.RelatesTo); err != nil || (about && r.isOwner()) {
		return answer{text: "That goes to nobody: write in that chat, or in the thread of an escalation.", reason: "It replies to what I told of a chat."}, err
	}
	if ans, done, err := a.Tasks.revisePlan(ctx, r, text); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.Answers.handleRewrite(ctx, r, text); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.business.handleAnswer(ctx, r, text); err != nil || done {
		return ans, err
	}
	if c, ok := parseChoice(text); ok && r.message.Attachment == nil {
		if ans, done, err := a.dialogs.handleChoice(ctx, r, c); err != nil || done {
			return ans, err
		}
	}
	switch {
	case !r.isOwner():
		return answer{reason: "Operators talk in this room; only their commands are for me."}, nil
	case r.message.Attachment != nil:
		return a.handleFile(ctx, r, text)
	case r.message.Kind != string(bridgebridge.Text):
		return answer{text: unreadableKindText(r.message.Kind)}, nil
	default:
		if ans := a.help.plainCommand(r, rest); ans.text != "" {
			return ans, nil
		}
		return a.questions.ask(ctx, r, rest)
	}
}

// handleFile returns the answer to a file that the owner sent. The caption of a picture is a question about it if a model looks at pictures.
func (a *Admin) handleFile(ctx context.Context, r request, caption string) (answer, error) {
	if a.settings.ViewsPictures && r.message.Kind == string(bridgebridge.Image) {
		return a.questions.ask(ctx, r, cmp.Or(caption, "What does this picture show?"))
	}
	return a.Documents.offerFile(r, caption), nil
}

// handleForOperators returns the answer to a request in the room for operators: only the threads and the commands about them have an effect there.
func (a *Admin) handleForOperators(ctx context.Context, r request) (answer, error) {
	inThread, parse := a.escalations.handleThreadMessage, parseChoice
	if r.message.Kind == string(bridgebridge.Reaction) {
		inThread, parse = a.escalations.handleReaction, parseReaction
	}
	if ans, done, err := inThread(ctx, r); err != nil || done {
		return ans, err
	}
	if c, ok := parse(typedText(r.message)); ok && c.word == "" && r.message.Attachment == nil { // the answer to which chat /handoff means
		if ans, done, err := a.dialogs.handleChoice(ctx, r, c); err != nil || done {
			return ans, err
		}
	}
	name, rest := parseCommand(typedText(r.message))
	cmd, known := a.table.lookup(name)
	switch {
	case name == "" || r.message.Code != policy.CodeCommand:
		return answer{reason: "People talk in this room; only threads are for me."}, nil
	case !known || !cmd.answerers:
		others := "All other commands are the owner's, in the admin room."
		if r.isOwner() {
			others = "All other commands belong in the admin room."
		}
		return answer{
			text:   "Here I do `/escalations` and `/handoff`, and what is written in the threads. " + others,
			reason: "This command is not for the room for operators.", outcome: "refused",
		}, nil
	default:
		return a.runCommand(ctx, r, name, rest)
	}
}

// handleReaction returns the answer to a reaction.
func (a *Admin) handleReaction(ctx context.Context, r request) (answer, error) {
	silent := answer{reason: "A reaction that answers no question."}
	if ans, done, err := a.escalations.handleReaction(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.schedules.handleReaction(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.Commitments.handleReaction(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.Tasks.stopByReaction(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.Tasks.answerApproval(ctx, r, r.message.Body); err != nil || done {
		return ans, err
	}
	c, ok := parseReaction(r.message.Body)
	if !ok {
		return silent, nil
	}
	ans, done, err := a.dialogs.handleChoice(ctx, r, c)
	if err != nil || done {
		return ans, err
	}
	return silent, nil
}

// runCommand returns the answer to a command, if the sender may use it.
func (a *Admin) runCommand(ctx context.Context, r request, name, args string) (answer, error) {
	cmd, known := a.table.lookup(name)
	switch {
	case !known:
		if ans, done, err := a.business.handleAnswer(ctx, r, typedText(r.message)); err != nil || done {
			return ans, err
		}
		return answer{text: a.help.unknown(r, name)}, nil
	case !cmd.allows(r):
		return notAllowedAnswer(cmd.name), nil
	default:
		return cmd.run(ctx, r, args)
	}
}

// untrustedText answers a command from a device that is not verified.
const untrustedText = "⚠️ I did not do that: it did not come encrypted from a verified session, so I cannot tell that it is yours. " +
	"Verify that session in your Matrix client (Settings, Sessions), then write it again. If you reset your encryption, run `multis verify` as well."

// bridgedText answers what a bridge sent in the owner's name.
const bridgedText = "⚠️ I did not do that: a bridge sent it in your name (double puppet), and in this room only what you write in a Matrix client counts. Write it there."
