package policy

import (
	"strings"

	"multis/internal/text"
)

// Rating is how a contact rates a conversation. The zero value means no rating. Its values are stored.
type Rating string

// The ratings.
const (
	RatingGood Rating = "good"
	RatingBad  Rating = "bad"
)

// RatingOf reads a rating from a reaction, or from a text that is only an emoji of that rating, once or repeated. It is
// empty for any other text. Skin tones and emoji variants do not matter.
func RatingOf(s string) Rating {
	s = PlainEmoji(strings.TrimSpace(text.Clean(s)))
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

// maxRatingBytes is the maximum length of a text that can be a rating: one emoji, repeated.
const maxRatingBytes = 40

// PlainEmoji returns a text without the skin tones and variation selectors of its emoji: telephones add the ones that were used last.
func PlainEmoji(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufe0f' || r == '\ufe0e' || (r >= '\U0001f3fb' && r <= '\U0001f3ff') {
			return -1
		}
		return r
	}, s)
}
