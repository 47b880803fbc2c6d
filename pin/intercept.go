package pin

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"multis/store"
)

// Stage is how far a question for a PIN has come.
type Stage string

// The stages.
const (
	StageEnter   Stage = "enter"   // something waits for the PIN
	StageGranted Stage = "granted" // the right PIN was entered, and what waited is to be done
	StageCurrent Stage = "current" // to change the PIN: the present one is asked for
	StageNew     Stage = "new"     // the new one is asked for
	StageRepeat  Stage = "repeat"  // the new one is asked for once more
)

// Prompt is the payload of a dialog that asks for the PIN. It holds no PIN.
type Prompt struct {
	Stage Stage `json:"Stage"`
	// For is the message that waits: a command, or the answer to a question, which is then Dialog. Zero while a PIN is set.
	For    store.MessageID `json:"For,omitempty"`
	Dialog int64           `json:"Dialog,omitempty"`
	Action Action          `json:"Action,omitempty"`
	// Binding is what the message would do when the PIN was asked for. If that has changed, the PIN is asked for again.
	Binding string `json:"Binding,omitempty"`
	// Candidate is the hash of the new PIN, in StageRepeat.
	Candidate string    `json:"Candidate,omitempty"`
	AskedAt   time.Time `json:"AskedAt"` // a message from before does not count
}

// News is what is to be told, or done, after a message with digits.
type News string

// The news. They are in the arguments of jobs: one is never renamed.
const (
	NewsGranted   News = "granted"   // what waited is to be done
	NewsWrong     News = "wrong"     // Left says how many tries are left
	NewsLocked    News = "locked"    // it was locked just now
	NewsNoDigits  News = "digits"    // it was no PIN by its form, and did not count
	NewsStray     News = "stray"     // it looked like a PIN, and none was asked for
	NewsCommand   News = "command"   // digits beside /pin
	NewsVoice     News = "voice"     // it was a voice note, in which a PIN may be said
	NewsNext      News = "next"      // the present PIN was right: now the new one
	NewsTrivial   News = "trivial"   // the new PIN is too easy to guess
	NewsRepeat    News = "repeat"    // the new PIN is asked for once more
	NewsMismatch  News = "mismatch"  // the second one was another one: both are asked for again
	NewsSet       News = "set"       // the PIN is set
	NewsUntrusted News = "untrusted" // it did not come from a verified device, and did not count
	NewsQuiet     News = ""          // nothing: it is told already
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

// Interception says what is to be done with a message. The zero value: it is an ordinary one.
type Interception struct {
	// Withhold says that the message is or may be a PIN: it is stored nowhere, and deleted from the room.
	Withhold bool
	News     News
	Dialog   int64 // the question that it answered; zero for none
	Left     int   // the tries that are left, with NewsWrong
}

// promptLifetime is how long the next step of a new PIN may take. lateTime is how long after a question digits are still taken for its answer.
const (
	promptLifetime = 15 * time.Minute
	lateTime       = 24 * time.Hour
	clockSkew      = time.Minute
)

// Intercept looks at a message before it is stored, and judges the PIN in it if one is asked for. All that follows from the PIN is in the
// transaction: an event that comes again, or whose transaction failed, is judged once. A nil keeper intercepts nothing.
func (k *Keeper) Intercept(ctx context.Context, tx store.Tx, m Message) (Interception, error) {
	if k == nil {
		return Interception{}, nil
	}
	form := formOf(m.Text)
	if form == formCommand {
		return Interception{Withhold: true, News: NewsCommand}, nil
	}
	if form == formNone && !m.IsVoice {
		return Interception{}, nil
	}
	d, err := store.LockPINDialog(ctx, tx, m.Chat, k.now())
	if errors.Is(err, store.ErrNotFound) {
		return k.interceptStray(ctx, tx, m, form)
	}
	if err != nil {
		return Interception{}, err
	}
	var p Prompt
	switch readErr := json.Unmarshal(d.Payload, &p); {
	case readErr != nil: // no message of the room may wait for what cannot be read
		return Interception{Withhold: true, News: NewsStray}, store.ClosePINDialogs(ctx, tx, m.Chat)
	case m.IsVoice && m.At.Before(p.AskedAt.Add(-clockSkew)):
		return k.interceptStray(ctx, tx, m, form)
	case m.IsVoice: // what is said in it is unknown, or written down by a model
		return Interception{Withhold: true, News: NewsVoice, Dialog: d.ID}, nil
	case form != formPIN || !m.CanEnter || m.At.Before(p.AskedAt.Add(-clockSkew)):
		return Interception{Withhold: true, News: NewsNoDigits, Dialog: d.ID}, nil
	}
	news, left, err := k.enter(ctx, tx, d, p, normalize(m.Text))
	return Interception{Withhold: true, News: news, Dialog: d.ID, Left: left}, err
}

// interceptStray withholds what looks like a PIN though none is asked for: an answer that comes too late, or twice.
func (k *Keeper) interceptStray(ctx context.Context, tx store.Tx, m Message, form form) (Interception, error) {
	if !isStrayPIN(m.Text, form) {
		return Interception{}, nil
	}
	s, err := k.State(ctx, tx)
	if err != nil {
		return Interception{}, err
	}
	withhold := s.IsSet
	if !withhold {
		if withhold, err = store.HadPINDialog(ctx, tx, m.Chat, k.now().Add(-lateTime)); err != nil {
			return Interception{}, err
		}
	}
	switch {
	case !withhold:
		return Interception{}, nil
	case !s.LockedUntil.IsZero():
		return Interception{Withhold: true}, nil
	default:
		return Interception{Withhold: true, News: NewsStray}, nil
	}
}

// enter carries out one step of a question for the PIN.
func (k *Keeper) enter(ctx context.Context, tx store.Tx, d store.Dialog, p Prompt, digits string) (News, int, error) {
	advance := func(to Stage, news News) (News, int, error) {
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
			return advance(StageNew, NewsNext)
		case r.Outcome == Right:
			return advance(StageGranted, NewsGranted)
		case r.Outcome == Wrong:
			return NewsWrong, r.Left, nil
		}
		news := map[Outcome]News{LockedNow: NewsLocked, Unset: NewsStray}[r.Outcome]
		return news, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	case StageNew:
		if isTrivial(digits) {
			return NewsTrivial, 0, nil
		}
		var err error
		if p.Candidate, err = k.hash(digits); err != nil {
			return "", 0, err
		}
		return advance(StageRepeat, NewsRepeat)
	case StageRepeat:
		if !k.matches(digits, p.Candidate) {
			p.Candidate = ""
			return advance(StageNew, NewsMismatch)
		}
		if err := k.setHash(ctx, tx, p.Candidate); err != nil {
			return "", 0, err
		}
		return NewsSet, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	default:
		return NewsStray, 0, store.ClosePINDialogs(ctx, tx, d.ChatID)
	}
}
