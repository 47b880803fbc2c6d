package policy

import (
	"regexp"
	"strings"
	"unicode"

	"multis/text"
)

var (
	scheme   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:(?://|\S*@)|^(?:mailto|tel|sms|geo|data|javascript|matrix|magnet|bitcoin|whatsapp|tg|signal|xmpp|sip|facetime|intent|market):\S`)
	hostForm = regexp.MustCompile(`[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}\p{So}]\.[\p{L}\p{N}_.-]*(?:[\p{L}][\p{L}\p{N}-]|xn--[a-z0-9-]+)`)
	dotWords = regexp.MustCompile(`\s*[\[({<]\s*(?:\.|dot|punkt|point|punto|ponto|точка)\s*[\])}>]\s*`)
	bareDot  = regexp.MustCompile(`(\p{L}) dot (\p{L})`)
	looseDot = regexp.MustCompile(`\s\.(\p{L}{2,})`)
)

// normalizeDots is a folded text in lower case, with dots for what stands for one.
func normalizeDots(folded string) string {
	lower := bareDot.ReplaceAllString(dotWords.ReplaceAllString(strings.ToLower(folded), "."), "$1.$2")
	return looseDot.ReplaceAllString(lower, ".$1")
}

// findAddresses lists the addresses of pages and people: whatever a client could make a link of.
func findAddresses(dotted string) (found []string) {
	for field := range strings.FieldsSeq(dotted) {
		if field = trimAddress(field); isAddress(field) {
			found = append(found, field)
		}
	}
	return found
}

// addressIndex is where sources name addresses.
type addressIndex struct {
	texts    []string // folded, with dots for what stands for one
	accented []string // the same with accents, which make another host: müller.de is not muller.de
}

func (n *addressIndex) add(source string) {
	for _, form := range readings(text.Fold(emojiNumbers.Replace(source))) {
		n.texts = append(n.texts, normalizeDots(form))
	}
	for _, form := range readings(text.FoldWithAccents(source)) {
		n.accented = append(n.accented, normalizeDots(form))
	}
}

// firstMissing is the first address of a text that stands in no source with the accents it has.
func (n *addressIndex) firstMissing(said string) string {
	for _, form := range readings(text.FoldWithAccents(said)) {
		for _, address := range findAddresses(normalizeDots(form)) {
			if !containsAddress(n.accented, address) {
				return address
			}
		}
	}
	return ""
}

// trimAddress takes what only stands around an address away from it.
func trimAddress(field string) string {
	return strings.Trim(field, `()[]{}<>"'«»“”„‚‘’,;:!?.…*_~`+"`")
}

// isAddress reports whether a word is one that can be opened or written to.
func isAddress(field string) bool {
	if scheme.MatchString(field) || (strings.Contains(field, "@") && len(field) > 1) {
		return true
	}
	host := hostForm.FindString(field)
	return host != "" && strings.ContainsFunc(host, unicode.IsLetter)
}

// containsAddress tells whether an address stands in one of texts, for itself: shop.de does not stand in webshop.de or shop.de.evil.com.
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

// isExtended tells whether what stands before and after an address is a part of it. "www." is not.
func isExtended(before, after string) bool {
	return extendsBefore.MatchString(strings.TrimSuffix(before, "www.")) || extendsAfter.MatchString(after)
}

// BreakLinks writes a text with the addresses that stand in none of the sources so that no program takes them for one: evil[.]com/x. A
// client makes links of addresses in any form, code included, and has the homeserver fetch a preview of them.
func BreakLinks(said string, sources ...string) string {
	var have addressIndex
	for _, source := range sources {
		have.add(source)
	}
	return wordForm.ReplaceAllStringFunc(said, func(word string) string {
		unnamed := have.firstMissing(word)
		for _, form := range readings(text.Fold(word)) {
			if field := trimAddress(strings.ToLower(form)); isAddress(field) && !containsAddress(have.texts, field) {
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
