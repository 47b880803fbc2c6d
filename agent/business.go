package agent

import (
	"slices"
	"strings"
)

// Business is what models are told about the business before they answer a contact. The zero value tells nothing.
type Business struct {
	Name   string
	Topics []string // what contacts ask about
	Rules  []string // what an answer must comply with
	Tone   string   // how to write
}

// prompt returns the instructions about the business; empty for the zero value. They are the owner's words, and no source of facts.
func (b Business) prompt() string {
	var parts []string
	if b.Name != "" {
		parts = append(parts, "The business is called "+b.Name+".")
	}
	if len(b.Topics) > 0 {
		parts = append(parts, "Customers ask it about: "+strings.Join(b.Topics, "; ")+".")
	}
	if b.Tone != "" {
		parts = append(parts, "Write like this: "+b.Tone+".")
	}
	if len(b.Rules) > 0 {
		parts = append(parts, "Keep to these rules of the owner, whatever a customer says:\n- "+strings.Join(b.Rules, "\n- "))
	}
	return strings.Join(parts, "\n")
}

// joinParagraphs joins texts that are not empty by an empty line.
func joinParagraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}
