// Package pin keeps the owner's PIN: it judges what was entered, says what needs one, and recognizes the messages of the
// admin room that hold one before they are stored. The digits exist in memory only, while they are judged.
//
// All state is in one row of the database, which is locked while a PIN is judged. Any number of processes together therefore judge
// MaxFailures wrong PINs, also across restarts.
package pin

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/alexedwards/argon2id"

	"multis/safety/audit"
	"multis/store"
)

// The limits.
const (
	MaxFailures = 3              // wrong PINs until the lock
	LockTime    = time.Hour      // how long no PIN is judged after that
	UnlockTime  = 24 * time.Hour // how long a right PIN counts for all actions but those that ask each time
	minDigits   = 4
	maxDigits   = 6
)

// Action is what may need the PIN.
type Action string

// The actions.
const (
	ActionExec      Action = "exec"    // a command that changes something; asks each time
	ActionApprove   Action = "approve" // the yes to a tool call that needs the PIN; asks each time
	ActionRead      Action = "read"    // reading a file of the machine
	ActionErase     Action = "erase"
	ActionForgetAll Action = "forget all"
	ActionModeOff   Action = "mode off"
	ActionConfig    Action = "config" // a change of the configuration, the rules or a budget in chat
)

// asksEachTime reports whether an action needs a PIN of its own: one that was entered for something else does not count.
func (a Action) asksEachTime() bool { return a == ActionExec || a == ActionApprove }

// Outcome is what became of an entered PIN.
type Outcome string

// The outcomes.
const (
	Right      Outcome = "right"
	Wrong      Outcome = "wrong"
	JustLocked Outcome = "locked"     // it was wrong, and the last try before the lock
	Locked     Outcome = "not judged" // it was not looked at, because the PIN is locked
	Unset      Outcome = "unset"      // there is no PIN
)

// Result is an outcome and what follows from it.
type Result struct {
	Outcome Outcome
	Left    int       // the tries that are left, after Wrong
	Until   time.Time // the end of the lock, after Locked and JustLocked
}

// State says whether a PIN is set, until when it is locked after wrong ones, and until when it unlocks commands after the
// right one. Times in the past are zero.
type State struct {
	IsSet         bool
	SetAt         time.Time
	LockedUntil   time.Time
	UnlockedUntil time.Time
}

// Keeper judges PINs. It is safe for concurrent use, in any number of processes on one database.
type Keeper struct {
	log      audit.Log
	required bool
	now      func() time.Time
	cost     HashCost
	// isCommand is set by SetIsCommand.
	isCommand func(typed string) bool
}

// Options are what a Keeper works with.
type Options struct {
	// Log is the audit log. Its key also keys the hashes, so that PINs cannot be tried out with a copy of the database alone.
	Log audit.Log
	// Required says that actions need a PIN even if none is set, because agents may change something on this machine.
	Required bool
	// Now defaults to time.Now.
	Now func() time.Time
	// Cost is the cost of new hashes. It defaults to 64 MiB and 3 passes; tests set less.
	Cost HashCost
}

// HashCost is what one Argon2id hash costs: memory in KiB, and passes over it.
type HashCost struct{ KiB, Passes uint32 }

// NewKeeper returns a keeper.
func NewKeeper(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cost == (HashCost{}) {
		o.Cost = HashCost{KiB: 64 << 10, Passes: 3}
	}
	return &Keeper{
		log:       o.Log,
		required:  o.Required,
		now:       o.Now,
		cost:      o.Cost,
		isCommand: func(string) bool { return true },
	}
}

// SetIsCommand sets the function that reports whether a message of the admin room is a command that exists. It must be
// called before the keeper is used; until then no command is taken for a mistyped one. A nil keeper needs none.
func (k *Keeper) SetIsCommand(is func(typed string) bool) {
	if k != nil {
		k.isCommand = is
	}
}

// State returns the state of the PIN.
func (k *Keeper) State(ctx context.Context, db store.DB) (State, error) {
	p, err := store.ReadPIN(ctx, db)
	if err != nil {
		return State{}, err
	}
	s := State{IsSet: p.Hash != nil}
	if p.SetAt != nil {
		s.SetAt = *p.SetAt
	}
	if isAfter(p.LockedUntil, k.now()) {
		s.LockedUntil = *p.LockedUntil
	}
	if now := k.now(); isAfter(p.UnlockedUntil, now) && !p.UnlockedUntil.After(now.Add(UnlockTime+clockSkew)) { // else the clock was set back
		s.UnlockedUntil = *p.UnlockedUntil
	}
	return s, nil
}

// Requirement is what an action needs before it is done.
type Requirement int

// The requirements.
const (
	NoPIN         Requirement = iota // it may be done
	EnterPIN                         // the PIN must be entered
	SetPIN                           // there is no PIN yet: one must be set
	WaitForUnlock                    // the PIN is locked
)

// Required returns what an action needs now. A nil keeper requires nothing.
func (k *Keeper) Required(ctx context.Context, db store.DB, a Action) (Requirement, State, error) {
	if k == nil {
		return NoPIN, State{}, nil
	}
	s, err := k.State(ctx, db)
	switch {
	case err != nil:
		return WaitForUnlock, s, err
	case !s.IsSet && (k.required || a.asksEachTime()):
		return SetPIN, s, nil
	case !s.IsSet:
		return NoPIN, s, nil
	case !s.LockedUntil.IsZero():
		return WaitForUnlock, s, nil
	case !a.asksEachTime() && !s.UnlockedUntil.IsZero():
		return NoPIN, s, nil
	default:
		return EnterPIN, s, nil
	}
}

// Check judges digits, counts a wrong PIN and locks after MaxFailures of them. The caller acts on the result in the same
// transaction. It takes about half a second, with the state of the PIN locked. The caller has made sure that the owner
// entered them.
func (k *Keeper) Check(ctx context.Context, tx store.Tx, digits string) (Result, error) {
	p, err := store.LockPIN(ctx, tx)
	if err != nil {
		return Result{}, err
	}
	now := k.now()
	var r Result
	switch {
	case p.Hash == nil:
		return Result{Outcome: Unset}, nil
	case isAfter(p.LockedUntil, now):
		return Result{Outcome: Locked, Until: *p.LockedUntil}, nil // no entry in the audit log either: that of the lock says all
	case k.matches(digits, *p.Hash):
		until := now.Add(UnlockTime)
		p.Failures = 0
		p.LockedUntil = nil
		p.UnlockedUntil = &until
		r.Outcome = Right
	case p.Failures+1 < MaxFailures:
		p.Failures++
		r = Result{Outcome: Wrong, Left: MaxFailures - p.Failures}
	default:
		until := now.Add(LockTime)
		p.Failures = 0
		p.LockedUntil = &until
		p.UnlockedUntil = nil
		r = Result{Outcome: JustLocked, Until: until}
	}
	if err := store.SavePIN(ctx, tx, p); err != nil {
		return Result{}, err
	}
	return r, k.audit(ctx, tx, audit.Owner, "enter", string(r.Outcome))
}

// setHash stores the hash of a new PIN, and ends what the former one unlocked.
func (k *Keeper) setHash(ctx context.Context, tx store.Tx, hash string) error {
	now := k.now()
	if err := store.SavePIN(ctx, tx, store.PIN{Hash: &hash, SetAt: &now}); err != nil {
		return err
	}
	return k.audit(ctx, tx, audit.Owner, "set", "set")
}

// Lock ends the time in which a right PIN counts, so that the next action asks for it again.
func (k *Keeper) Lock(ctx context.Context, tx store.Tx) error {
	p, err := store.LockPIN(ctx, tx)
	if err != nil {
		return err
	}
	p.UnlockedUntil = nil
	if err := store.SavePIN(ctx, tx, p); err != nil {
		return err
	}
	return k.audit(ctx, tx, audit.Owner, "lock", "locked")
}

// Reset removes the PIN, its lock and what it unlocked: somebody with a shell on the server asked for it.
func (k *Keeper) Reset(ctx context.Context, tx store.Tx) error {
	if _, err := store.LockPIN(ctx, tx); err != nil {
		return err
	}
	if err := store.SavePIN(ctx, tx, store.PIN{}); err != nil {
		return err
	}
	return k.audit(ctx, tx, audit.Host, "reset", "removed")
}

func (k *Keeper) audit(ctx context.Context, tx store.Tx, actor audit.Actor, action, outcome string) error {
	return k.log.Append(ctx, tx, audit.Entry{Kind: audit.PIN, Actor: actor, Action: action, Outcome: outcome})
}

// hash returns the Argon2id hash of digits.
func (k *Keeper) hash(digits string) (string, error) {
	made, err := argon2id.CreateHash(k.keyedHash(digits), &argon2id.Params{
		Memory:      k.cost.KiB,
		Iterations:  k.cost.Passes,
		Parallelism: 1,
		SaltLength:  16,
		KeyLength:   32,
	})
	if err != nil {
		return "", fmt.Errorf("hash the PIN: %w", err)
	}
	return made, nil
}

// matches reports whether a hash is that of digits. A hash that cannot be read matches nothing.
func (k *Keeper) matches(digits, hash string) bool {
	same, err := argon2id.ComparePasswordAndHash(k.keyedHash(digits), hash)
	return err == nil && same
}

// keyedHash mixes a secret that is not in the database into digits, because there are only about a million PINs to try.
func (k *Keeper) keyedHash(digits string) string {
	return hex.EncodeToString(k.log.Hash([]byte("pin\x00" + digits)))
}

func isAfter(t *time.Time, now time.Time) bool { return t != nil && t.After(now) }
