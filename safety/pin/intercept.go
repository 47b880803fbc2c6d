package pin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"multis/store"
)

// Stage is the state of a question for a PIN.
type Stage string

// The stages.
const (
	StageEnter   Stage = "enter"   // a message waits for the PIN
	StageGranted Stage = "granted" // the right PIN was entered, and the message that waited is to be handled
	StageCurrent Stage = "current" // to change the PIN: the present one is asked for
	StageNew     Stage = "new"     // the new one is asked for
	StageRepeat  Stage = "repeat"  // the new one is asked for once more
)

// Prompt is the payload of a dialog that asks for the PIN. It holds no PIN.
type Prompt struct {
	Stage Stage `json:"Stage"`
	// For is the message that waits for the PIN: a command, or the answer to the question Dialog. Zero in the stages that set a new PIN.
	For    store.MessageID `json:"For,omitempty"`
	Dialog int64           `json:"Dialog,omitempty"`
	Action Action          `json:"Action,omitempty"`
	// Binding is what the message would do when the PIN was asked for. If that has changed, the PIN is asked for again.
	Binding string `json:"Binding,omitempty"`
	// Candidate is the hash of the new PIN, in StageRepeat.
	Candidate string    `json:"Candidate,omitempty"`
	AskedAt   time.Time `json:"AskedAt"` // earlier messages are no answer
}

// EntryResult is the result of judging a possible PIN. It decides what the owner is told, or what is done next.
type EntryResult string

// The results. They are stored in jobs, so they are never renamed.
const (
	EntryGranted   EntryResult = "granted"   // the message that waited is to be handled
	EntryWrong     EntryResult = "wrong"     // Left says how many tries are left
	EntryLocked    EntryResult = "locked"    // the PIN was locked just now
	EntryNotPIN    EntryResult = "digits"    // it was asked for, but what came was no PIN (see isPIN); it did not count as a try
	EntryUnasked   EntryResult = "stray"     // it looked like a PIN, and none was asked for
	EntryCommand   EntryResult = "command"   // digits beside /pin
	EntryVoice     EntryResult = "voice"     // it was a voice note, in which a PIN may be said
	EntryNext      EntryResult = "next"      // the present PIN was right: now the new one
	EntryTrivial   EntryResult = "trivial"   // the new PIN is too easy to guess
	EntryRepeat    EntryResult = "repeat"    // the new PIN is asked for once more
	EntryMismatch  EntryResult = "mismatch"  // the repeated PIN differs: the new one is asked for again, twice
	EntrySet       EntryResult = "set"       // the PIN is set
	EntryUntrusted EntryResult = "untrusted" // it did not come from a verified device, and did not count
	EntryBridged   EntryResult = "bridged"   // a bridge sent it in the owner's name, and it did not count
	EntryNone      EntryResult = ""          // nothing to tell: the owner was told before
)

// Message is a message of the owner in the admin room, before it is stored.
type Message struct {
	Chat store.ChatID
	Text string // what was typed
	At   time.Time
	// CanEnter says that it certainly is the owner's, is new, and is nothing but text: no edit, caption or reaction.
	CanEnter bool
	// IsVoice says that it is a new voice note. Text is its transcript, or its caption before there is one.
	IsVoice bool
}

// Interception is the decision about a message. The zero value is for an ordinary message.
type Interception struct {
	// Withhold says that the message is or may be a PIN: it is stored nowhere, and deleted from the room.
	Withhold bool
	Result   EntryResult
	Dialog   int64 // the question that it answered; zero for none
	Left     int   // the tries that are left, with EntryWrong
}

// promptLifetime is how long the next step of a new PIN may take. lateTime is how long after the last question for a PIN
// digits may still be a late answer, and are withheld.
const (
	promptLifetime = 15 * time.Minute
	lateTime       = 24 * time.Hour
	clockSkew      = time.Minute
)

// Intercept looks at a message before it is stored, and judges the PIN in it if one is asked for. It writes only in tx,
// so that an event is judged once even if it arrives again or if its transaction failed. A nil keeper intercepts nothing.
func (k *Keeper) Intercept(ctx context.Context, tx store.Tx, m Message) (Interception, error) {
	if k == nil {
		return Interception{}, nil
	}
	form := formOf(m.Text, k.isCommand)
	if form == formCommand {
		return Interception{Withhold: true, Result: EntryCommand}, nil
	}
	if form == formOther && !m.IsVoice {
		return Interception{}, nil
	}
	d, err := store.LockPINDialog(ctx, tx, m.Chat, k.now())
	if errors.Is(err, store.ErrNotFound) {
		return k.interceptUnasked(ctx, tx, m, form)
	}
	if err != nil {
		return Interception{}, err
	}
	var p Prompt
	switch readErr := json.Unmarshal(d.Payload, &p); {
	case readErr != nil: // a question that cannot be read must not catch the room's messages any longer
		return Interception{Withhold: true, Result: EntryUnasked}, store.ClosePINDialogs(ctx, tx, m.Chat)
	case m.IsVoice && m.At.Before(p.AskedAt.Add(-clockSkew)):
		return k.interceptUnasked(ctx, tx, m, form)
	case m.IsVoice: // what is said in it is unknown, or is a transcript by a model
		return Interception{Withhold: true, Result: EntryVoice, Dialog: d.ID}, nil
	case form != formPIN || !m.CanEnter || m.At.Before(p.AskedAt.Add(-clockSkew)):
		return Interception{Withhold: true, Result: EntryNotPIN, Dialog: d.ID}, nil
	}
	news, left, err := k.enter(ctx, tx, d, p, strings.TrimSpace(m.Text))
	return Interception{Withhold: true, Result: news, Dialog: d.ID, Left: left}, err
}

// interceptUnasked withholds what looks like a PIN though none is asked for: an answer that comes too late, or twice.
func (k *Keeper) interceptUnasked(ctx context.Context, tx store.Tx, m Message, form form) (Interception, error) {
	if form < formLikely && !(m.IsVoice && isSpokenPIN(m.Text)) {
		return Interception{}, nil
	}
	s, err := k.State(ctx, tx)
	if err != nil {
		return Interception{}, err
	}
	withhold := s.IsSet
	if !withhold {
		if withhold, err = store.HadPINDialog(ctx, tx, k.now().Add(-lateTime)); err != nil {
			return Interception{}, err
		}
	}
	switch {
	case !withhold:
		return Interception{}, nil
	case !s.LockedUntil.IsZero():
		return Interception{Withhold: true}, nil
	default:
		return Interception{Withhold: true, Result: EntryUnasked}, nil
	}
}

// enter carries out one step of a question for the PIN.
func (k *Keeper) enter(ctx context.Context, tx store.Tx, d store.Dialog, p Prompt, digits string) (EntryResult, int, error) {
	advance := func(to Stage, news EntryResult) (EntryResult, int, error) {
		p.Stage = to
		return news, 0, store.SetDialogPayload(ctx, tx, d.ID, p, k.now().Add(promptLifetime))
	}
	switch p.Stage {
	case StageEnter, StageCurrent:
		r, err := k.Check(ctx, tx, digits)
		switch {
		case err != nil:
			return "", 0, err
		case r.Outcome == Right && p.Stage == StageCurrent:
			return advance(StageNew, EntryNext)
		case r.Outcome == Right:
			return advance(StageGranted, EntryGranted)
		case r.Outcome == Wrong:
			return EntryWrong, r.Left, nil
		}
		news := map[Outcome]EntryResult{JustLocked: EntryLocked, Unset: EntryUnasked}[r.Outcome]
		return news, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	case StageNew:
		if isTrivial(digits) {
			return EntryTrivial, 0, nil
		}
		var err error
		if p.Candidate, err = k.hash(digits); err != nil {
			return "", 0, err
		}
		return advance(StageRepeat, EntryRepeat)
	case StageRepeat:
		if !k.matches(digits, p.Candidate) {
			p.Candidate = ""
			return advance(StageNew, EntryMismatch)
		}
		if err := k.setHash(ctx, tx, p.Candidate); err != nil {
			return "", 0, err
		}
		return EntrySet, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	default:
		return EntryUnasked, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	}
}
