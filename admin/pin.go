package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/safety/pin"
	"multis/store"
)

// pinCommands sets the PIN, and asks for it before an answer that needs it takes effect.
type pinCommands struct {
	base

	keeper *pin.Keeper // nil in a terminal
}

// commands returns the command about the PIN.
func (pc *pinCommands) commands() []command {
	return []command{{
		name: "pin", args: "[set or lock]", group: groupControl, run: pc.run,
		summary: "PIN for risky commands",
		secret:  true, // they may be the PIN
		help: "`/pin` says whether one is set. `/pin set` sets or changes it: I ask for 4 to 6 digits, never beside the command, and delete your message at once; they are stored nowhere. " +
			"It is asked for by `/exec`, `/read`, `/erase`, `/forget all`, mode off and changes of the configuration, and then not again for 24 hours; a command that changes something, and an agent's call that needs the PIN, ask each time. " +
			"`/pin lock` ends the 24 hours. After 3 wrong ones it is locked for an hour. Forgotten: `multis pin reset` on the server.",
	}}
}

// questions returns the kinds of questions of the topic.
func (pc *pinCommands) questions() []func() question {
	return []func() question{
		func() question { return &pinQuestion{} },
	}
}

// pinNeed is what an answer needs the PIN for.
type pinNeed struct {
	action pin.Action
	// binding says exactly what the answer does. If it has changed by the time the PIN is entered, the PIN is asked for again.
	binding string
}

// pinGrant is a PIN that was entered for a request.
type pinGrant struct {
	dialog int64 // the question for the PIN
	pinNeed
}

// run shows the state of the PIN, or begins to set one.
func (pc *pinCommands) run(ctx context.Context, r request, args string) (answer, error) {
	if pc.keeper == nil {
		return answer{text: "There is a PIN in the admin room in Matrix only: here you are on the server already."}, nil
	}
	s, err := pc.keeper.State(ctx, pc.store.DB())
	if err != nil {
		return answer{}, err
	}
	switch strings.ToLower(args) {
	case "", "state", "show":
		return answer{text: pc.stateText(s)}, nil
	case "set", "change", "new":
		return pc.askNew(r, s), nil
	case "lock":
		return answer{text: "🔒 The PIN is asked for again from now on.", change: pc.keeper.Lock}, nil
	case "off", "remove", "reset":
		return answer{text: "Only the server removes the PIN: `multis pin reset`. `/pin set` changes it."}, nil
	default:
		return answer{text: "Write `/pin`, `/pin set` or `/pin lock`, without digits: I ask for them."}, nil
	}
}

// stateText says whether there is a PIN, and what it does now.
func (pc *pinCommands) stateText(s pin.State) string {
	switch {
	case !s.IsSet:
		return "No PIN is set. `/pin set` sets one; then it protects what cannot be undone: `/help pin`."
	case !s.LockedUntil.IsZero():
		return pc.lockedText(s.LockedUntil)
	case !s.UnlockedUntil.IsZero():
		return fmt.Sprintf("🔑 A PIN is set. You entered it: until %s only commands that change this machine ask for it. `/pin lock` ends that.",
			pc.room.shortTime(s.UnlockedUntil))
	default:
		return fmt.Sprintf("🔑 A PIN is set, since %s. `/pin set` changes it.", pc.room.shortTime(s.SetAt))
	}
}

func (pc *pinCommands) lockedText(until time.Time) string {
	return fmt.Sprintf("🔒 **The PIN is locked until %s**, after %d wrong ones. If that was not you: end the session in your Matrix client (Settings, Sessions). "+
		"`multis pin reset` on the server removes the PIN.", pc.room.shortTime(until), pin.MaxFailures)
}

// statusLine says in /status that the PIN is locked.
func (pc *pinCommands) statusLine(ctx context.Context, _ request) (string, error) {
	if pc.keeper == nil {
		return "", nil
	}
	s, err := pc.keeper.State(ctx, pc.store.DB())
	if err != nil {
		return "", err
	}
	if s.LockedUntil.IsZero() {
		return "", nil
	}
	return pc.lockedText(s.LockedUntil), nil
}

// askNew asks for a new PIN, after the present one if there is one.
func (pc *pinCommands) askNew(r request, s pin.State) answer {
	q := pinQuestion{pin.Prompt{Stage: pin.StageNew, AskedAt: r.now}}
	text := newPINText
	switch {
	case !s.LockedUntil.IsZero():
		return answer{text: pc.lockedText(s.LockedUntil), outcome: "refused"}
	case s.IsSet:
		q.Stage, text = pin.StageCurrent, "🔑 **First the present PIN**, please: only its digits."
	}
	return answer{text: text + " `cancel` leaves it.", question: &q, change: pc.closeOlderQuestions(r.room.ID)}
}

const newPINText = "🔑 **The new PIN**, please: 4 to 6 digits, nothing else in the message. I delete it from the room at once."

// closeOlderQuestions returns a change that closes the open questions for a PIN in the room, because it waits for one PIN at a time.
func (pc *pinCommands) closeOlderQuestions(chat store.ChatID) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error { return store.ClosePINDialogs(ctx, tx, chat) }
}

// guard returns the answer if it needs no PIN, or if the PIN was entered for it. Otherwise the answer takes no effect,
// and guard returns the question for the PIN, or the reason why none can be entered.
func (pc *pinCommands) guard(ctx context.Context, r request, ans answer) (answer, error) {
	if ans.pin == nil || (r.grant != nil && r.grant.pinNeed == *ans.pin) {
		return ans, nil
	}
	needs, s, err := pc.keeper.Required(ctx, pc.store.DB(), ans.pin.action)
	switch {
	case err != nil:
		return answer{}, err
	case needs == pin.NoPIN:
		return ans, nil
	case needs == pin.SetPIN:
		return answer{
			text:    "🔑 That needs a PIN, and none is set. `/pin set`, then send it again.",
			reason:  "It needs a PIN, and none is set.",
			outcome: "refused",
		}, nil
	case needs == pin.WaitForUnlock:
		return answer{text: pc.lockedText(s.LockedUntil), reason: "The PIN is locked.", outcome: "refused"}, nil
	}
	q := pinQuestion{pin.Prompt{
		Stage:   pin.StageEnter,
		For:     r.message.ID,
		Dialog:  ans.dialog,
		Action:  ans.pin.action,
		Binding: ans.pin.binding,
		AskedAt: r.now,
	}}
	return answer{
		text: "🔑 **Your PIN, please**, for: " + visibleText(text.Clip(shownBinding(ans.pin.binding), 500)) +
			"\nOnly the digits: I delete the message at once. `cancel` leaves it.",
		question: &q,
		reason:   "It waits for the PIN.",
		outcome:  "waits_for_pin",
		quotes:   ans.quotes,
		change:   pc.closeOlderQuestions(r.room.ID),
	}, nil
}

// typedPIN matches digits that may be a PIN; anything else does not count as a try.
var typedPIN = regexp.MustCompile(`^[0-9]{4,6}$`)

// enter judges a PIN that was typed on the web page, in the transaction of the action that needs it. refused says why the
// action is not done. Wrong ones count together with those of the admin room.
func (pc *pinCommands) enter(ctx context.Context, tx store.Tx, action pin.Action, digits string) (refused string, err error) {
	needs, s, err := pc.keeper.Required(ctx, tx, action)
	switch {
	case err != nil:
		return "", err
	case needs == pin.NoPIN:
		return "", nil
	case needs == pin.SetPIN:
		return "That needs a PIN, and none is set. /pin set in the admin room sets one.", nil
	case needs == pin.WaitForUnlock:
		return outbox.PlainText(pc.lockedText(s.LockedUntil)), nil
	case !typedPIN.MatchString(digits):
		return "That needs your PIN: 4 to 6 digits.", nil
	}
	result, err := pc.keeper.Check(ctx, tx, digits)
	if err != nil {
		return "", err
	}
	switch result.Outcome {
	case pin.Right:
		return "", nil
	case pin.JustLocked:
		locked := pc.lockedText(result.Until)
		if err := pc.room.box.NotifyOwner(ctx, tx, outbox.Alert, locked); err != nil && !errors.Is(err, outbox.ErrNoAdminRoom) {
			return "", err
		}
		return outbox.PlainText(locked), nil
	default:
		return fmt.Sprintf("That is not the PIN. %d %s left, then it is locked for an hour.", result.Left,
			text.Plural(result.Left, "try", "tries")), nil
	}
}

// shownBinding returns the part of a binding that is shown to people.
func shownBinding(binding string) string {
	shown, _, _ := strings.Cut(binding, bindingMark)
	return shown
}

// pinQuestion asks for the PIN. No digits reach it, because the inbox withholds and judges them. It accepts no word;
// dialogs.handleChoice handles "cancel".
type pinQuestion struct{ pin.Prompt }

func (q pinQuestion) traits() traits {
	// It ends when the message that waits for the PIN is deleted.
	return traits{
		kind:       store.DialogPIN,
		command:    "pin",
		onlyCancel: true,
		message:    q.For,
	}
}

func (pinQuestion) accepts(string) bool { return false }

func (pinQuestion) answer(context.Context, request, choice) (answer, bool, error) {
	return answer{text: "I wait for the PIN: 4 to 6 digits. `cancel` leaves it."}, false, nil
}

// ContinueAfterPIN carries out the request that waited for a PIN, or tells the owner the result of what was entered.
func (a *Admin) ContinueAfterPIN(ctx context.Context, args jobs.PINArgs, last bool) error {
	if pin.EntryResult(args.Result) == pin.EntryGranted {
		return a.handleAfterPIN(ctx, args.DialogID, last)
	}
	kind := outbox.Answer
	if pin.EntryResult(args.Result) == pin.EntryLocked {
		kind = outbox.Alert
	}
	said, err := a.pins.resultText(ctx, args)
	if err != nil {
		return err
	}
	if said == "" {
		return nil
	}
	return a.room.completeWithNotice(ctx, kind, said)
}

// resultText tells the owner the result of a message that was or may have been a PIN; empty if there is nothing to tell.
func (pc *pinCommands) resultText(ctx context.Context, args jobs.PINArgs) (string, error) {
	switch pin.EntryResult(args.Result) {
	case pin.EntryUntrusted:
		return untrustedText, nil
	case pin.EntryBridged:
		return bridgedText, nil
	case pin.EntryWrong:
		return fmt.Sprintf("❌ That is not the PIN. %d %s left, then it is locked for an hour.", args.TriesLeft,
			text.Plural(args.TriesLeft, "try", "tries")), nil
	case pin.EntryNotPIN:
		return "That can't be a PIN, so it did not count, and I deleted it. Send 4 to 6 of the digits 0-9 as a new message, and nothing else in it; `cancel` leaves it.", nil
	case pin.EntryUnasked:
		return "I asked for no PIN just now. That message looked like one, so I deleted it and kept nothing of it. If it was not: write it with a word beside it.", nil
	case pin.EntryCommand:
		return "Digits never stand beside `/pin`. I deleted that message. `/pin set` alone: then I ask for them.", nil
	case pin.EntryVoice:
		return "I wait for the PIN, and nobody writes down what is said until then: I deleted that voice note unheard. Type the PIN, or `cancel` and say it again.", nil
	case pin.EntryNext:
		return newPINText, nil
	case pin.EntryTrivial:
		return "That one is tried first by everybody: no runs, no repeated digits, no years. Another one, please.", nil
	case pin.EntryRepeat:
		return "Once more the same, please.", nil
	case pin.EntryMismatch:
		return "That was another one. Begin again: the new PIN, please.", nil
	case pin.EntrySet:
		return "✅ **The PIN is set.** `/help pin` says what asks for it. Your messages with it are deleted here; a phone may still show a notification.", nil
	case pin.EntryLocked:
		s, err := pc.keeper.State(ctx, pc.store.DB())
		if err != nil {
			return "", err
		}
		if s.LockedUntil.IsZero() {
			return "", nil
		}
		return pc.lockedText(s.LockedUntil) + " What waited for it is not done.", nil
	default:
		return "", nil
	}
}

// maxGrantAge is how long a request may still be carried out after its question for the PIN has expired.
const maxGrantAge = 30 * time.Minute

// handleAfterPIN handles the message that waited for a PIN once more, now that the PIN was entered. The question for the
// PIN is closed in the transaction of the effect, so that there is one effect at most.
func (a *Admin) handleAfterPIN(ctx context.Context, dialog int64, last bool) error {
	d, err := store.DialogByID(ctx, a.store.DB(), dialog)
	if errors.Is(err, store.ErrNotFound) || (err == nil && d.Done) {
		return nil
	}
	if err != nil {
		return err
	}
	var p pin.Prompt
	if err := json.Unmarshal(d.Payload, &p); err != nil || p.Stage != pin.StageGranted {
		return jobs.Permanent(fmt.Errorf("the PIN for question %d was not entered", dialog))
	}
	r, err := a.loadRequest(ctx, p.For)
	if errors.Is(err, store.ErrNotFound) || (err == nil && r.message.RedactedAt != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	r.read = nil
	r.dialog = p.Dialog
	r.grant = &pinGrant{dialog, pinNeed{p.Action, p.Binding}}
	if r.now.After(d.ExpiresAt.Add(maxGrantAge)) {
		return a.commit(ctx, r, answer{
			text:    "Too much time has passed since you entered the PIN, so it was not done. Send it again.",
			outcome: "expired",
		})
	}
	return a.execute(ctx, r, last)
}

// AnnouncePINReset tells the owner that the PIN was removed on the server.
func AnnouncePINReset(ctx context.Context, tx store.Tx, box *outbox.Box) error {
	err := box.NotifyOwner(ctx, tx, outbox.Alert, "⚠️ **The PIN was removed on the server** (`multis pin reset`). `/pin set` sets a new one.")
	if errors.Is(err, outbox.ErrNoAdminRoom) {
		return nil
	}
	return err
}
