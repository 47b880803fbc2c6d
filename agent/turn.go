package agent

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// The reasons that a turn adds to those of the policy.
const (
	codeGreeted    policy.Code = "greeted"     // the greeting was sent today already
	codeHandedOver policy.Code = "handed_over" // a person was asked for
	codeWaiting    policy.Code = "waiting"     // a person was asked for before, and the chat still waits
	codeQuoted     policy.Code = "quoted"      // answered with a quoted source
)

// reply decides what is said to a contact. It changes nothing.
func (a *Agent) reply(ctx context.Context, chat store.Chat, waiting []store.Message, last bool) (result, error) {
	look, err := a.Box.Gate(ctx, chat)
	if err != nil {
		return result{}, err
	}
	name, purpose, handover := look.Name, policy.PurposeReply, ""
	for _, m := range waiting {
		if m.Action == policy.ActionHandoff {
			purpose, handover = policy.PurposeHandover, m.Reason
		}
	}
	decision := look.Decide(purpose, addressed(name, waiting))
	switch {
	case decision.Allow:
	case decision.Code.Homeless():
		return a.homeless(waiting, decision)
	default:
		return result{code: decision.Code, reason: decision.Why}, nil
	}
	if handover != "" {
		return result{handover: handover}, nil
	}
	var questions []string
	greeting := false
	for _, m := range waiting {
		switch {
		case policy.IsGreeting(m.Body, name):
			greeting = true
		case !policy.IsAcknowledgement(m.Body, name): // an edit made it one; else it does not come here
			questions = append(questions, policy.WithoutName(name, m.Body)) // no document says it, which would count against an answer
		}
	}
	if len(questions) == 0 && !greeting {
		return result{code: policy.CodeAcknowledged, reason: policy.CodeAcknowledged.Sentence()}, nil
	}
	if len(questions) == 0 {
		return a.greet(ctx, chat, addressed(name, waiting))
	}
	question := strings.Join(questions, "\n")
	found, err := a.answerContact(ctx, chat, waiting, question, last)
	if err != nil {
		return result{}, err
	}
	if found.text == "" {
		return result{handover: found.why, words: found.words, task: found.task, summarise: found.summarise}, nil
	}
	return result{
		letter: &outbox.Message{Chat: chat, Purpose: policy.PurposeReply, Text: found.text, Spans: found.spans, Addressed: addressed(name, waiting), Profile: a.personaOf(chat).profile()},
		code:   codeQuoted, reason: found.why, task: found.task, summarise: found.summarise, restsOn: quoted(found.used), used: found.used, scope: found.scope,
	}, nil
}

// movePoll is how often a turn looks whether its chat has a room again.
const movePoll = time.Second

// homeless waits for the room of a chat that is being moved to another one. A person is asked for when none comes.
func (a *Agent) homeless(waiting []store.Message, d policy.Decision) (result, error) {
	if newest := waiting[len(waiting)-1].ReceivedAt; a.now().Sub(newest) < policy.RoomPatience {
		return result{}, jobs.Later(movePoll)
	}
	return result{handover: d.Why}, nil
}

// greet answers a greeting, once a day.
func (a *Agent) greet(ctx context.Context, chat store.Chat, byName bool) (result, error) {
	y, m, d := a.now().In(a.Zone).Date()
	greeted, err := store.SentSince(ctx, a.Store.DB(), chat.ID, policy.PurposeGreeting, time.Date(y, m, d, 0, 0, 0, 0, a.Zone))
	if err != nil {
		return result{}, err
	}
	if greeted {
		return result{code: codeGreeted, reason: "It was a greeting, and I greeted today already."}, nil
	}
	return result{
		letter: &outbox.Message{Chat: chat, Purpose: policy.PurposeGreeting, Text: a.Greeting, Addressed: byName},
		code:   codeGreeted, reason: "It was a greeting; I answered with the configured one, without facts.",
	}, nil
}

func addressed(name string, waiting []store.Message) bool {
	for _, m := range waiting {
		if policy.Addressed(name, m.Body) {
			return true
		}
	}
	return false
}

// settle says what a turn came to and notes on the messages what became of them. What the gate refuses for its form is
// handed over, because nobody would ever know of it.
func (a *Agent) settle(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r result) error {
	if r.letter != nil {
		r.letter.RestsOn = r.restsOn
		key, decision, err := a.Box.Queue(ctx, tx, *r.letter)
		if err != nil {
			return err
		}
		if decision.Code.Homeless() {
			return jobs.Later(movePoll) // the room was replaced while the answer was made
		}
		r.out = &key
		if !decision.Allow {
			r.code, r.reason = decision.Code, decision.Why
		}
		if decision.Code.AboutText() {
			r.handover = decision.Why
		}
	}
	if r.handover != "" {
		if err := a.handOver(ctx, tx, chat, waiting, &r); err != nil {
			return err
		}
	}
	_, err := store.Settle(ctx, tx, idsOf(waiting), r.out, r.code, r.reason)
	return err
}

// handOver asks for a person. While the chat waits for one it rings once, and what comes after is counted; the contact is told
// once, as soon as the gate allows it.
func (a *Agent) handOver(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *result) error {
	why := cmp.Or(r.words, r.handover)
	first, told, err := store.OpenEscalation(ctx, tx, chat.ID, waiting[len(waiting)-1].ID, why, r.restsOn)
	if err != nil {
		return err
	}
	if first {
		r.code, r.reason = codeHandedOver, r.handover+" I handed over to you."
		if err := a.tell(ctx, tx, outbox.Alert, escalationText(chat, waiting, why), idsOf(waiting), r.restsOn); err != nil {
			return err
		}
		if err := jobs.Emit(ctx, tx, store.HookEscalation, strconv.FormatInt(waiting[len(waiting)-1].ID, 10)); err != nil {
			return err
		}
	} else if err := a.tellMore(ctx, tx, chat, waiting, r); err != nil {
		return err
	}
	if told {
		return nil
	}
	name, err := store.AssistantName(ctx, tx, a.Name)
	if err != nil {
		return err
	}
	out, decision, err := a.Box.Queue(ctx, tx, outbox.Message{Chat: chat, Purpose: policy.PurposeHandover, Text: a.Handover, Addressed: addressed(name, waiting)})
	if err != nil {
		return err
	}
	r.out = &out
	if !decision.Allow {
		r.reason += " I told the contact nothing: " + decision.Why
		return nil
	}
	return store.ToldEscalation(ctx, tx, chat.ID)
}

// tellMore tells the owner, without a ring, that a chat that waits for a person got more messages: at the first, and then each time
// that their number doubled, so that nobody can fill the admin room.
func (a *Agent) tellMore(ctx context.Context, tx store.Tx, chat store.Chat, waiting []store.Message, r *result) error {
	before, err := store.CountWaiting(ctx, tx, chat.ID, codeWaiting)
	if err != nil {
		return err
	}
	now := before + len(waiting)
	r.code, r.reason = codeWaiting, fmt.Sprintf("%s The chat was already waiting for you; this is message %d since then.", r.handover, now)
	if bits.Len(uint(before)) == bits.Len(uint(now)) {
		return nil
	}
	return a.tell(ctx, tx, outbox.Quiet, againText(chat, waiting, now), idsOf(waiting), r.restsOn)
}

// escalationText tells the owner who needs a person, and why.
func escalationText(chat store.Chat, waiting []store.Message, why string) string {
	return fmt.Sprintf("🙋 **%s needs a person**\n\n%s\n\n%s Write to them in [that chat](%s); I stay quiet there while you do. `/resume %s` when it is settled.",
		text.Escape(chatLabel(chat)), quotes(waiting), text.Escape(why), roomLink(chat), strings.ReplaceAll(numbered(bridgebridge.DisplayName(chat.Name), chat), "`", "'"))
}

// againText tells the owner that somebody who waits for a person wrote more, and how much by now.
func againText(chat store.Chat, waiting []store.Message, n int) string {
	more := "another message"
	if n > 1 {
		more = fmt.Sprintf("%d more messages", n)
	}
	return fmt.Sprintf("🙋 **%s** is still waiting and sent [%s](%s)\n\n%s", text.Escape(chatLabel(chat)), more, roomLink(chat), quotes(waiting))
}

func quotes(waiting []store.Message) string {
	quoted := make([]string, len(waiting))
	for i, m := range waiting {
		quoted[i] = "> " + text.Escape(text.Clip(m.Body, 300))
	}
	return strings.Join(quoted, "\n>\n")
}

func roomLink(chat store.Chat) string {
	if chat.RoomID == nil {
		return "https://matrix.to/"
	}
	return chat.RoomID.URI().MatrixToURL()
}

// tell writes a notice to the admin room; one that quotes messages goes when one of them is deleted. Without an admin room
// nothing is done at all, because nobody would know of it.
func (a *Agent) tell(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, markdown string, quoted, restsOn []int64) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	letter := outbox.Notice(room, markdown, kind)
	letter.About, letter.RestsOn = quoted, restsOn
	_, _, err = a.Box.Queue(ctx, tx, letter)
	return err
}

// idsOf are the rows of messages.
func idsOf(messages []store.Message) []int64 {
	ids := make([]int64, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

func chatLabel(c store.Chat) string {
	return numbered(bridgebridge.DisplayName(c.Name)+" · "+bridgebridge.NetworkName(c.Protocol), c)
}

// numbered adds a chat's number where another one is called the same.
func numbered(name string, c store.Chat) string {
	if !c.Namesake {
		return name
	}
	return fmt.Sprintf("%s #%d", name, c.ID)
}
