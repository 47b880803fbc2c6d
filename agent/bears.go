package agent

import (
	"strings"

	"multis/policy"
	"multis/search"
)

// maxSentence is the longest sentence of a model that goes to a contact, in bytes.
const maxSentence = 400

// bears tells whether a passage bears what a sentence says, as far as that can be told without reading: every number and every
// address of the sentence stands in the passage or its headings, and it is a sentence, not a page.
func bears(hit search.Hit, sentence string) bool {
	return len(sentence) <= maxSentence && !quotesRules(sentence) && policy.Unsupported(sentence, hit.Title+"\n"+hit.Section+"\n"+hit.Text) == ""
}

// leak is how many words in a row make a sentence a piece of our own instructions.
const leak = 6

// quotesRules tells whether a sentence gives away what the model was told.
func quotesRules(sentence string) bool {
	rules := " " + strings.Join(search.Words(contactRules+" "+fenceRule+" "+answerForm), " ") + " "
	words := search.Words(sentence)
	for i := 0; i+leak <= len(words); i++ {
		if strings.Contains(rules, " "+strings.Join(words[i:i+leak], " ")+" ") {
			return true
		}
	}
	return false
}
