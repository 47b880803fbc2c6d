package tools

import (
	"context"
	_ "embed"
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
	if err != nil || !saidBy(c.Asked, args.Note) {
		return Confirm
	}
	return Read
}

// Run notes it.
func (t Remember) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[rememberArgs](c)
	if err != nil {
		return Bad(err), nil
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

// saidBy tells whether every word of a note that says something was said by the owner: words of one or two letters say nothing.
func saidBy(asked, note string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	}
	said := map[string]bool{}
	for _, w := range words(asked) {
		said[w] = true
	}
	noted := words(note)
	for _, w := range noted {
		if !said[w] && (len([]rune(w)) > 2 || strings.ContainsFunc(w, unicode.IsDigit)) {
			return false
		}
	}
	return len(noted) > 0
}
