package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/store/row"
)

// SettingPairing holds the salted hash of the one-time pairing code. Whoever sends that code becomes the owner.
const SettingPairing Setting = "pairing"

// Limits of a pairing code. Its 8 letters have 40 bits, so ten tries find it once in 10^11 times.
const (
	PairingLifetime  = 15 * time.Minute
	maxPairingTries  = 10
	minPairingPeriod = time.Second // between two tries
)

// pairing is what is stored of a code.
type pairing struct {
	Salt      []byte    `json:"salt"`
	Hash      []byte    `json:"hash"`
	ExpiresAt time.Time `json:"expires_at"`
	Tries     int       `json:"tries"`
	TriedAt   time.Time `json:"tried_at"`
}

// PairingResult is the result of an attempt to pair.
type PairingResult string

// The results of TryPairing.
const (
	PairingAccepted PairingResult = "accepted" // the code is used up
	PairingWrong    PairingResult = "wrong"
	PairingTooSoon  PairingResult = "too soon" // the code was not checked
	PairingClosed   PairingResult = "closed"   // there is no code: it was used, has expired, or was tried too often
)

// OpenPairing makes a new code and returns it, as ABCD-EFGH. An older code becomes invalid.
func OpenPairing(ctx context.Context, w Writer, now time.Time) (string, error) {
	letters := rand.Text()[:8]
	p := pairing{Salt: []byte(rand.Text()), ExpiresAt: now.Add(PairingLifetime)}
	p.Hash = hashPairingCode(p.Salt, letters)
	return letters[:4] + "-" + letters[4:], PutSetting(ctx, w, SettingPairing, p)
}

const tryPairingSQL = "select value from settings where key = $1 for update"

// TryPairing reports whether a text is the open code, and uses it up if so. tx must be committed whatever the result is,
// because tries count.
func TryPairing(ctx context.Context, tx Tx, text string, now time.Time) (PairingResult, error) {
	var raw json.RawMessage
	err := row.NotFound(tx.QueryRow(ctx, tryPairingSQL, SettingPairing).Scan(&raw))
	if errors.Is(err, ErrNotFound) {
		return PairingClosed, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the pairing code: %w", err)
	}
	var p pairing
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", fmt.Errorf("read the pairing code: %w", err)
	}
	switch {
	case now.After(p.ExpiresAt) || p.Tries >= maxPairingTries:
		return PairingClosed, DropSetting(ctx, tx, SettingPairing)
	case now.Sub(p.TriedAt) < minPairingPeriod:
		return PairingTooSoon, nil
	case subtle.ConstantTimeCompare(p.Hash, hashPairingCode(p.Salt, text)) == 1:
		return PairingAccepted, DropSetting(ctx, tx, SettingPairing)
	}
	p.Tries, p.TriedAt = p.Tries+1, now
	return PairingWrong, PutSetting(ctx, tx, SettingPairing, p)
}

// hashPairingCode hashes a code. The case of its letters, spaces and dashes do not matter.
func hashPairingCode(salt []byte, code string) []byte {
	h := hmac.New(sha256.New, salt)
	h.Write([]byte(strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))))
	return h.Sum(nil)
}
