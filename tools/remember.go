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

// Remember notes something in the owner's memory. What is noted is read with every later question, so words that are not the
// owner's own are asked about: whoever wrote them may have wanted them there.
type Remember struct {
	Store  *store.Store
	Memory *memory.Memory
}

type rememberArgs struct {
	Note string `json:"note" jsonschema:"what to remember, one short sentence in the owner's words"`
}

// Spec describes it.
func (Remember) Spec() Spec {
	return Spec{Name: "remember", Description: rememberText, Schema: Schema[rememberArgs](), Tier: Confirm, Can: []string{"memory"}, Effect: true}
}

// TierOf lets be noted at once what the owner said himself.
func (Remember) TierOf(c Call) Tier {
	args, err := Decode[rememberArgs](c)
	if err != nil || !isInOrderFrom(c.Asked, args.Note) {
		return Confirm
	}
	return Read
}

// Run notes it.
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

// isInOrderFrom tells whether a note says what the owner said: in the order of the owner's words, with every word that turns a sentence into its
// opposite, and with no other ones. Words of one or two letters say nothing else. What denies something is said without a gap, else it
// would deny something else.
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

// words are those of a text, in small letters. A "n't" is the word that it stands for.
func words(s string) []string {
	s = strings.NewReplacer("n't", " not", "n’t", " not").Replace(strings.ToLower(s))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// negationWords are the words without which a sentence may say the opposite, of the languages that are known: en de fr es pt it nl ru tr ar pl.
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

// negations are the denying words of a text, in their order.
func negations(all []string) (found []string) {
	known := strings.Fields(negationWords)
	for _, w := range all {
		if slices.Contains(known, w) {
			found = append(found, w)
		}
	}
	return found
}
