package tools

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"multis/memory"
	"multis/store"
)

//go:embed remember.md
var rememberText string

// Remember stores a note in the owner's memory. Notes are part of every later prompt, so a note that is not in the owner's own words
// needs his approval: it may come from a page or message that wants it there.
type Remember struct {
	Store  *store.Store
	Memory *memory.Memory
}

type rememberArgs struct {
	Note string `json:"note" jsonschema:"what to remember, one short sentence in the owner's words"`
}

// Spec describes the tool.
func (Remember) Spec() Spec {
	return Spec{Name: "remember", Description: rememberText, Schema: Schema[rememberArgs](), Tier: Confirm, Effect: true}
}

// TierOf is Read for a note in the owner's own words.
func (Remember) TierOf(c Call) Tier {
	args, err := Decode[rememberArgs](c)
	if err != nil || !isInOrderFrom(c.Asked, args.Note) {
		return Confirm
	}
	return Read
}

// Run stores the note.
func (t Remember) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[rememberArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	note := strings.Join(strings.Fields(args.Note), " ")
	switch {
	case note == "":
		return Refused(CodeArguments, "note is empty"), nil
	case len([]rune(note)) > memory.MaxNote:
		return Refused(CodeArguments, "the note is too long: one short sentence"), nil
	}
	err = t.Store.InTx(ctx, func(tx store.Tx) error {
		_, err := t.Memory.Remember(ctx, tx, c.Chat, c.Message, note)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return Result{ForLLM: "Noted.", ForUser: "noted: " + note}, nil
}

// isInOrderFrom reports whether a note has only words that the owner said, in his order, and the same negations. Words of one or two letters may be
// others. A note with a negation must be a part of what he said without gaps, else it could negate something else.
func isInOrderFrom(asked, note string) bool {
	said, noted := words(asked), words(note)
	if !slices.Equal(negations(said), negations(noted)) {
		return false
	}
	if len(negations(noted)) > 0 {
		return strings.Contains(" "+strings.Join(said, " ")+" ", " "+strings.Join(noted, " ")+" ")
	}
	for _, w := range noted {
		if len([]rune(w)) <= 2 && !strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		at := slices.Index(said, w)
		if at < 0 {
			return false
		}
		said = said[at+1:]
	}
	return len(noted) > 0
}

// words returns the words of a text in lower case, with "n't" as "not".
func words(s string) []string {
	s = strings.NewReplacer("n't", " not", "n’t", " not").Replace(strings.ToLower(s))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// negationWords are words without which a sentence may mean the opposite, in the supported languages: en de fr es pt it nl ru tr ar pl.
const negationWords = `no not never none nobody nothing neither nor cannot without except unless
	nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder außer
	ne pas jamais rien aucun aucune personne sans ni sauf
	nunca jamás nada nadie ningún ninguno ninguna sin tampoco salvo
	não ninguém nenhum nenhuma sem nem exceto
	non mai niente nulla nessuno nessuna nessun senza né tranne
	niet geen nooit niets niemand zonder behalve
	не ни нет никогда никто ничего нельзя без кроме
	değil yok hiç asla hariç
	لا لم لن ليس ليست غير بدون بلا
	nie nigdy nikt nic bez żaden`

// negations returns the negation words among all, in their order.
func negations(all []string) (found []string) {
	known := strings.Fields(negationWords)
	for _, w := range all {
		if slices.Contains(known, w) {
			found = append(found, w)
		}
	}
	return found
}
