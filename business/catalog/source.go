package catalog

import (
	"regexp"
	"strings"
)

// sourceWords stand before the names of documents at the end of an answer.
func sourceWords() map[Lang]string {
	return map[Lang]string{
		English: "from", German: "aus", French: "d’après", Spanish: "según", Portuguese: "segundo", Italian: "secondo", Dutch: "uit", Russian: "источник:",
		Turkish: "kaynak:", Arabic: "المصدر:",
	}
}

// source matches what Source returns, in all languages.
var source = regexp.MustCompile(` \((?:from|aus|d’après|según|segundo|secondo|uit|источник:|kaynak:|المصدر:) [^\n]{1,300}\)$`)

// Source returns the end of an answer that names its documents. It is in the language of words, which are the answer or the passage that it quotes; if
// they are too few to tell, in the language fallback.
func Source(words string, documents []string, fallback Lang) string {
	return " (" + sourceWords()[DetectLanguage([]string{words}, fallback)] + " " + strings.Join(documents, ", ") + ")"
}

// CutSource returns an answer without the names of its documents.
func CutSource(answer string) string { return source.ReplaceAllString(answer, "") }
