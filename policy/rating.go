package policy

import (
	"strings"

	"multis/text"
)

// Rating is what a contact says of a conversation. The zero value is none. Its values are stored.
type Rating string

// The ratings.
const (
	RatingGood Rating = "good"
	RatingBad  Rating = "bad"
)

// RatingOf reads a rating from a reaction, or from a text that is nothing else than its emoji; empty for any other. The colour of skin and how an
// emoji is drawn do not count.
func RatingOf(s string) Rating {
	s = withoutVariants(strings.TrimSpace(text.Clean(s)))
	if len(s) > maxRatingBytes {
		return ""
	}
	const (
		good = "👍 👌 👏 🙏 💪 🎉 💯 ⭐ 🌟 ❤ 🧡 💛 💚 💙 💜 🖤 🤍 🤎 😀 😃 😄 😁 😆 😊 🙂 ☺ 😍 🥰 🤩 😇 😎 😉 🤗 😺 😸 😻"
		bad  = "👎 ☹ 🙁 😞 😟 😔 😕 😣 😖 😫 😩 😢 😭 😠 😡 🤬 😤 💔 😒 😾 😿"
	)
	for _, family := range []struct {
		rating Rating
		emojis string
	}{{RatingGood, good}, {RatingBad, bad}} {
		for emoji := range strings.FieldsSeq(family.emojis) {
			if s != "" && strings.ReplaceAll(s, emoji, "") == "" {
				return family.rating
			}
		}
	}
	return ""
}

// maxRatingBytes is the length of the longest text that can be a rating: an emoji that is written several times.
const maxRatingBytes = 40

// withoutVariants removes from emojis how they are drawn, and the colours of skin.
func withoutVariants(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufe0f' || r == '\ufe0e' || (r >= '\U0001f3fb' && r <= '\U0001f3ff') {
			return -1
		}
		return r
	}, s)
}
