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
	text := typedText(r.message)
	ans, done, err := a.escalations.handleThreadMessage(ctx, r, text)
	if err != nil {
		return answer{}, err
	}
	if done {
		return ans, nil
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
	name, rest := parseCommand(text)
	if name != "" {
		return a.runCommand(ctx, r, name, rest)
	}
	ans, done, err = firstAnswer(ctx, r, text, a.textHandlers)
	if err != nil {
		return answer{}, err
	}
	if done {
		return ans, nil
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

// handler returns the answer to a request, of which text is what the author typed. done is false if the request is not for this handler.
type handler func(ctx context.Context, r request, text string) (ans answer, done bool, err error)

// firstAnswer returns the answer of the first handler that a request is for.
func firstAnswer(ctx context.Context, r request, text string, handlers []handler) (ans answer, done bool, err error) {
	for _, handle := range handlers {
		ans, done, err = handle(ctx, r, text)
		if err != nil {
			return answer{}, false, err
		}
		if done {
			return ans, true, nil
		}
	}
	return answer{}, false, nil
}

// handleNoticeReply tells the owner that a reply to a notice about a chat is not sent there.
func (a *Admin) handleNoticeReply(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	isReply, err := store.IsQuotingNotice(ctx, a.store.DB(), r.room.ID, r.message.RelatesTo)
	if err != nil {
		return answer{}, false, err
	}
	if !isReply || !r.isOwner() {
		return answer{}, false, nil
	}
	return answer{
		text:   "That goes to nobody: write in that chat, or in the thread of an escalation.",
		reason: "It replies to what I told of a chat.",
	}, true, nil
}

// handleChoice returns the answer to a typed choice.
func (a *Admin) handleChoice(ctx context.Context, r request, text string) (_ answer, done bool, err error) {
	c, ok := parseChoice(text)
	if !ok || r.message.Attachment != nil {
		return answer{}, false, nil
	}
	return a.dialogs.handleChoice(ctx, r, c)
}

// handleReactionChoice returns the answer to a reaction that is a choice.
func (a *Admin) handleReactionChoice(ctx context.Context, r request, emoji string) (_ answer, done bool, err error) {
	c, ok := parseReaction(emoji)
	if !ok {
		return answer{}, false, nil
	}
	return a.dialogs.handleChoice(ctx, r, c)
}

// handleFile returns the answer to a file that the owner sent. The caption of a picture is a question about it if a model
// looks at pictures.
func (a *Admin) handleFile(ctx context.Context, r request, caption string) (answer, error) {
	if a.settings.ViewsPictures && r.message.Kind == string(bridgebridge.Image) {
		return a.questions.ask(ctx, r, cmp.Or(caption, "What does this picture show?"))
	}
	return a.Documents.offerFile(r, caption), nil
}

// handleForOperators returns the answer to a request in the room for operators: only the threads and the commands about
// them have an effect there.
func (a *Admin) handleForOperators(ctx context.Context, r request) (answer, error) {
	handlers := []handler{a.escalations.handleThreadMessage, a.handleChatNumber}
	if r.message.Kind == string(bridgebridge.Reaction) {
		handlers = []handler{a.escalations.handleReaction, a.handleChatNumber}
	}
	text := typedText(r.message)
	ans, done, err := firstAnswer(ctx, r, text, handlers)
	if err != nil {
		return answer{}, err
	}
	if done {
		return ans, nil
	}
	name, rest := parseCommand(text)
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

// handleChatNumber returns the answer to the number of a chat, typed or as a reaction, in the room for operators.
func (a *Admin) handleChatNumber(ctx context.Context, r request, text string) (_ answer, done bool, err error) {
	parse := parseChoice
	if r.message.Kind == string(bridgebridge.Reaction) {
		parse = parseReaction
	}
	c, ok := parse(text)
	if !ok || c.word != "" || r.message.Attachment != nil {
		return answer{}, false, nil
	}
	return a.dialogs.handleChoice(ctx, r, c)
}

// handleReaction returns the answer to a reaction.
func (a *Admin) handleReaction(ctx context.Context, r request) (answer, error) {
	ans, done, err := firstAnswer(ctx, r, r.message.Body, a.reactionHandlers)
	if err == nil && !done {
		return answer{reason: "A reaction that answers no question."}, nil
	}
	return ans, err
}

// runCommand returns the answer to a command, if the sender may use it.
func (a *Admin) runCommand(ctx context.Context, r request, name, args string) (answer, error) {
	cmd, known := a.table.lookup(name)
	switch {
	case !known:
		ans, done, err := a.business.handleAnswer(ctx, r, typedText(r.message))
		if err != nil {
			return answer{}, err
		}
		if done {
			return ans, nil
		}
		meant := a.orders.meantBy(ctx, r, name, args)
		if meant == "help" { // as "/hilfe"
			return a.help.show(ctx, r, "")
		}
		return answer{text: a.help.unknown(r, name, meant)}, nil
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
