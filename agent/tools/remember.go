package tools

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"multis/memory"
	"multis/policy/rules"
	"multis/store"
)

//go:embed remember.md
var rememberText string

// Remember is the tool that stores a note in the owner's memory. Notes are part of every later prompt. A note that is not
// in the owner's own words may come from a page or message that injects it, so it needs the owner's approval.
type Remember struct {
	Store  *store.Store
	Memory *memory.Memory
}

type rememberArgs struct {
	Note string `json:"note" jsonschema:"what to remember, one short sentence in the owner's words"`
}

// Spec describes the tool.
func (Remember) Spec() Spec {
	return Spec{
		Name:        "remember",
		Description: rememberText,
		Schema:      Schema[rememberArgs](),
		Tier:        Confirm,
		Class:       rules.ClassMemory,
		HasEffect:   true,
	}
}

// TierOf returns Read for a note in the owner's own words, else Confirm.
func (Remember) TierOf(c Call) Tier {
	args, err := Decode[rememberArgs](c)
	if err != nil {
		return Confirm
	}
	if !usesOwnerWords(c.OwnerText, args.Note) {
		return Confirm
	}
	return Read
}

// ResourceOf says whether the note is in the owner's own words.
func (Remember) ResourceOf(c Call) rules.Resource {
	args, err := Decode[rememberArgs](c)
	return rules.Resource{OwnWords: err == nil && usesOwnerWords(c.OwnerText, args.Note)}
}

// Refusal returns why a call is never made: its arguments do not fit.
func (Remember) Refusal(c Call) string {
	_, err := Decode[rememberArgs](c)
	return refusalOfArguments(err)
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

// usesOwnerWords reports whether all words of a note occur in the owner's text in the same order, with the same
// negations. Words of one or two letters are not compared, and are no note alone. A note with a negation must be a contiguous
// part of the text, because otherwise it could negate something else.
func usesOwnerWords(ownerText, note string) bool {
	said, noted := words(ownerText), words(note)
	if !slices.Equal(negations(said), negations(noted)) {
		return false
	}
	if len(negations(noted)) > 0 {
		return strings.Contains(" "+strings.Join(said, " ")+" ", " "+strings.Join(noted, " ")+" ")
	}
	compared := 0
	for _, w := range noted {
		if len([]rune(w)) <= 2 && !strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		compared++
		at := slices.Index(said, w)
		if at < 0 {
			return false
		}
		said = said[at+1:]
	}
	return compared > 0
}

// words returns the words of a text in lower case, with "n't" as "not".
func words(s string) []string {
	s = strings.NewReplacer("n't", " not", "n’t", " not").Replace(strings.ToLower(s))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// negationWords are the words that negate a sentence, one language a line: en de fr es pt it nl ru tr ar pl.
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

// negations returns the negation words among some words, in their order.
func negations(all []string) (found []string) {
	known := strings.Fields(negationWords)
	for _, w := range all {
		if slices.Contains(known, w) {
			found = append(found, w)
		}
	}
	return found
}
