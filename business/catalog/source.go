package catalog

import (
	"regexp"
	"strings"
	"sync"
)

// source matches what Source returns, in all languages.
var source = sync.OnceValue(func() *regexp.Regexp {
	var words []string
	for _, lang := range Langs() {
		words = append(words, regexp.QuoteMeta(phrase(lang, "source")))
	}
	return regexp.MustCompile(` \((?:` + strings.Join(words, "|") + `) [^\n]{1,300}\)$`)
})

// Source returns the end of an answer that names its documents. It is in the language of words, which are the answer or
// the passage that it quotes; if they are too few to tell, in the language fallback.
func Source(words string, documents []string, fallback Lang) string {
	return " (" + phrase(DetectLanguage([]string{words}, fallback), "source") + " " + strings.Join(documents, ", ") + ")"
}

// CutSource returns an answer without the names of its documents.
func CutSource(answer string) string { return source().ReplaceAllString(answer, "") }
