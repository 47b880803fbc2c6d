package agent

import (
	"regexp"
	"strings"

	"multis/search"
)

// maxSentence is the longest sentence of a model that goes to a contact, in bytes.
const maxSentence = 400

// facts are what a reader acts on and a model must not make up: numbers with what is written around them, addresses of pages
// and people.
var facts = regexp.MustCompile(`(?i)\b(?:https?://|www\.)\S+|\S+@\S+|\b[\w-]+\.(?:com|org|net|io|de|eu|info|biz|shop|app|dev|co|ru|cn)\b\S*|\d+(?:[.,:/-]\d+)*`)

// bears tells whether a passage bears what a sentence says, as far as that can be told without reading: every number and every
// address of the sentence stands in the passage or its headings, and it is a sentence, not a page.
func bears(hit search.Hit, sentence string) bool {
	if len(sentence) > maxSentence || quotesRules(sentence) {
		return false
	}
	source := strings.ToLower(hit.Title + "\n" + hit.Section + "\n" + hit.Text)
	for _, fact := range facts.FindAllString(strings.ToLower(sentence), -1) {
		if !holds(source, strings.TrimRight(fact, ".,:;!?)")) {
			return false
		}
	}
	return true
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

// holds tells whether a fact stands in a text for itself: the 5 of "15" is not 5.
func holds(text, fact string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], fact)
		if i < 0 {
			return false
		}
		from += i
		before, after := text[:from], text[from+len(fact):]
		if !endsInDigit(before) && !beginsWithDigit(after) {
			return true
		}
		from += len(fact)
	}
}

func endsInDigit(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

func beginsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
