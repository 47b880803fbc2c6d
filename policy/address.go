package policy

import (
	"regexp"
	"strings"
	"unicode"

	"multis/internal/text"
)

var (
	scheme   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:(?://|\S*@)|^(?:mailto|tel|sms|geo|data|javascript|matrix|magnet|bitcoin|whatsapp|tg|signal|xmpp|sip|facetime|intent|market):\S`)
	hostForm = regexp.MustCompile(`[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}\p{So}]\.[\p{L}\p{N}_.-]*(?:[\p{L}][\p{L}\p{N}-]|xn--[a-z0-9-]+)`)
	dotWords = regexp.MustCompile(`\s*[\[({<]\s*(?:\.|dot|punkt|point|punto|ponto|точка)\s*[\])}>]\s*`)
	bareDot  = regexp.MustCompile(`(\p{L}) dot (\p{L})`)
	looseDot = regexp.MustCompile(`\s\.(\p{L}{2,})`)
)

// normalizeDots returns a folded text in lower case, with a dot in place of every spelling of one, such as "[dot]" or
// "(punkt)". It first looks for signs of such a spelling: most texts have none, and matching the patterns takes
// milliseconds.
func normalizeDots(folded string) string {
	lower := strings.ToLower(folded)
	if strings.ContainsAny(lower, "[({<") {
		lower = dotWords.ReplaceAllString(lower, ".")
	}
	if strings.Contains(lower, " dot ") {
		lower = bareDot.ReplaceAllString(lower, "$1.$2")
	}
	if blankBeforeDot(lower) {
		lower = looseDot.ReplaceAllString(lower, ".$1")
	}
	return lower
}

// blankBeforeDot reports whether a dot comes right after a blank.
func blankBeforeDot(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '.' && strings.IndexByte(" \t\n\f\r", s[i-1]) >= 0 {
			return true
		}
	}
	return false
}

// findAddresses returns the web addresses, host names and mail addresses of a text: everything that a client could turn into a link.
func findAddresses(dotted string) (found []string) {
	for field := range strings.FieldsSeq(dotted) {
		if field = trimAddress(field); isAddress(field) {
			found = append(found, field)
		}
	}
	return found
}

// addressIndex holds the texts of sources, in the forms in which addresses are searched. fill makes these forms at the
// first search, because that takes milliseconds and most answers have no address.
type addressIndex struct {
	sources  []string
	texts    []string // folded, after normalizeDots
	accented []string // the same texts with accents, because müller.de and muller.de are different hosts
}

// fill makes the searched forms of the texts, once.
func (n *addressIndex) fill() {
	for _, source := range n.sources {
		for _, form := range readings(text.Fold(emojiNumbers.Replace(source))) {
			n.texts = append(n.texts, normalizeDots(form))
		}
		for _, form := range readings(text.FoldWithAccents(source)) {
			n.accented = append(n.accented, normalizeDots(form))
		}
	}
	n.sources = nil
}

// contains reports whether a source contains a folded address.
func (n *addressIndex) contains(address string) bool {
	n.fill()
	return containsAddress(n.texts, address)
}

// firstMissing returns the first address of a text that no source contains with the same accents; empty if there is none.
func (n *addressIndex) firstMissing(answer string) string {
	for _, form := range readings(text.FoldWithAccents(answer)) {
		for _, address := range findAddresses(normalizeDots(form)) {
			if n.fill(); !containsAddress(n.accented, address) {
				return address
			}
		}
	}
	return ""
}

// trimAddress removes brackets, quotes, punctuation and markup around an address.
func trimAddress(field string) string {
	return strings.Trim(field, `()[]{}<>"'«»“”„‚‘’,;:!?.…*_~`+"`")
}

// isAddress reports whether a word is a URL, a host name or a mail address.
func isAddress(field string) bool {
	if scheme.MatchString(field) || (strings.Contains(field, "@") && len(field) > 1) {
		return true
	}
	host := hostForm.FindString(field)
	return host != "" && strings.ContainsFunc(host, unicode.IsLetter)
}

// containsAddress reports whether one of texts has the address as a whole: neither webshop.de nor shop.de.evil.com contains shop.de.
func containsAddress(texts []string, address string) bool {
	for _, bare := range []string{"https://", "http://", "www."} {
		address = strings.TrimPrefix(address, bare)
	}
	address = strings.TrimRight(address, "/")
	for _, source := range texts {
		for from := 0; address != ""; {
			i := strings.Index(source[from:], address)
			if i < 0 {
				break
			}
			from += i + len(address)
			if !isExtended(source[:from-len(address)], source[from:]) {
				return true
			}
		}
	}
	return false
}

var (
	extendsBefore = regexp.MustCompile(`[\p{L}\p{M}\p{N}_@-]$|[\p{L}\p{N}]\.$`)
	extendsAfter  = regexp.MustCompile(`^(?:[\p{L}\p{M}\p{N}_@-]|\.[\p{L}\p{N}])`)
)

// isExtended reports whether the text before or after an address makes it a part of a longer one. A "www." before it does not.
func isExtended(before, after string) bool {
	return extendsBefore.MatchString(strings.TrimSuffix(before, "www.")) || extendsAfter.MatchString(after)
}

// BreakLinks rewrites each address in answer that occurs in none of the sources as evil[.]com/x, so that no client turns
// it into a link. Clients turn addresses of any form into links, even in code, and have the homeserver fetch a preview of
// them.
func BreakLinks(answer string, sources ...string) string {
	have := addressIndex{sources: sources}
	return wordForm.ReplaceAllStringFunc(answer, func(word string) string {
		unnamed := have.firstMissing(word)
		for _, form := range readings(text.Fold(word)) {
			if field := trimAddress(strings.ToLower(form)); isAddress(field) && !have.contains(field) {
				unnamed = field
			}
		}
		if unnamed == "" {
			return word
		}
		core := strings.TrimRight(word, ".,;:!?…)")
		return breakLink.Replace(webScheme.ReplaceAllString(core, "")) + word[len(core):]
	})
}

var (
	wordForm  = regexp.MustCompile(`\S+`)
	webScheme = regexp.MustCompile(`(?i)https?:/+`)
	breakLink = strings.NewReplacer(".", "[.]", "。", "[.]", "．", "[.]", "｡", "[.]", "@", "[@]", ":", "[:]")
)
