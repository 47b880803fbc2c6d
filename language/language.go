// Package language tells in which language a text is, so that its words are cut to stems the right way. It knows the
// languages below by their commonest words and by their script; everything else is left as it stands.
package language

import (
	"slices"
	"strings"
	"unicode"
)

// Language is the name of one of Postgres' text search configurations.
type Language string

// The languages that are told apart. Simple is for all others: words stay as they are, and none is a stop word.
const (
	Unknown    Language = "" // too little text to tell
	English    Language = "english"
	German     Language = "german"
	French     Language = "french"
	Spanish    Language = "spanish"
	Portuguese Language = "portuguese"
	Italian    Language = "italian"
	Dutch      Language = "dutch"
	Russian    Language = "russian"
	Arabic     Language = "arabic"
	Simple     Language = "simple"
)

const (
	// commonWeight is what a common word of a language counts; a word that is spelt in its way counts one.
	commonWeight = 2
	// enoughHits is what a text must reach for a language, and hitShare what each of its words must on average.
	enoughHits = 2 * commonWeight
	hitShare   = 0.1 * commonWeight
	// enoughWords is how long a text of letters must be for the absence of common words to tell something.
	enoughWords = 20
	// lookedAt is how many words of a text are looked at.
	lookedAt = 300
)

// Detect tells the language of a text: Unknown if it is too short or mixed, Simple if it is none that is known.
func Detect(text string) Language {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	words = words[:min(len(words), lookedAt)]
	if l := byScript(words); l != Unknown {
		return l
	}
	var best, second int
	var found Language
	for _, l := range []Language{English, German, French, Spanish, Portuguese, Italian, Dutch} {
		n := hits(l, words)
		switch {
		case n > best:
			best, second, found = n, best, l
		case n > second:
			second = n
		}
	}
	switch {
	case best >= enoughHits && float64(best) >= hitShare*float64(len(words)) && best > second:
		return found
	case best < enoughHits && len(words) >= enoughWords && foreign(text):
		return Simple
	default:
		return Unknown
	}
}

// OrOf is the language of a text that stands in one of language whole. What cannot be told is English if it is written
// like it.
func OrOf(text string, whole Language) Language {
	if l := Detect(text); l != Unknown {
		return l
	}
	if whole != Unknown {
		return whole
	}
	if foreign(text) {
		return Simple
	}
	return English
}

// foreign tells whether there are letters that English does not have. A price list without them may well be English.
func foreign(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) })
}

// byScript tells what the letters tell alone; Unknown for Latin ones.
func byScript(words []string) Language {
	var latin, cyrillic, arabic, others int
	russian, arab := true, true
	for _, w := range words {
		for _, r := range w {
			switch {
			case unicode.Is(unicode.Latin, r):
				latin++
			case unicode.Is(unicode.Cyrillic, r):
				cyrillic++
				russian = russian && !strings.ContainsRune("іїєґўјљњћђџѓќѕ", r)
			case unicode.Is(unicode.Arabic, r):
				arabic++
				arab = arab && !strings.ContainsRune("پچژگکیٹڈڑےں", r)
			default:
				others++
			}
		}
	}
	most := max(latin, cyrillic, arabic, others)
	switch {
	case most == latin:
		return Unknown
	case most == cyrillic && russian:
		return Russian
	case most == arabic && arab:
		return Arabic
	default:
		return Simple
	}
}

func hits(l Language, words []string) int {
	n := 0
	for _, w := range words {
		if strings.Contains(common(l), " "+w+" ") {
			n += commonWeight
		}
		if slices.ContainsFunc(spelling(l), func(piece string) bool { return strings.Contains(w+" ", piece) }) {
			n++
		}
	}
	return n
}

// spelling lists pieces of words that one language has and its neighbours write otherwise.
func spelling(l Language) []string {
	switch l {
	case English:
		return []string{"th", "wh", "ing ", "ght"}
	case German:
		return []string{"sch", "ung ", "ß", "ä", "ö", "ü", "keit", "lich "}
	case French:
		return []string{"eux ", "aux ", "ez ", "oi", "è", "ê", "tion "}
	case Spanish:
		return []string{"ñ", "ción", "dad ", "ía", "ll", "rr", "ue"}
	case Portuguese:
		return []string{"ã", "õ", "ção", "nh", "lh", "dade "}
	case Italian:
		return []string{"zion", "tà ", "gli", "cch", "tto ", "zz"}
	case Dutch:
		return []string{"ij", "aa", "oe", "isch", "heid ", "uu"}
	case Unknown, Russian, Arabic, Simple:
	}
	return nil
}

// common lists words that are frequent in a language and rare or missing in its neighbours, or telling together.
func common(l Language) string {
	switch l {
	case English:
		return " the of and to is that it was for on are as with his they at be this have from or had by not but what all were we when your can said there use an each which she do how their if will up about out them then these so some her would make like him into has more i my you me does did a in "
	case German:
		return " der die und den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde ich du wir ihr mir was wo wann wer uns kann gibt ihre unser unsere kein keine in "
	case French:
		return " le la les de des du et à un une en est que qui dans pour pas sur au aux ce cette ne se il elle plus par avec son sa ses sont ou mais nous vous ils leur était été être je tu mon ma mes votre notre quel quelle où quand comment comme si tout on d l c est-ce "
	case Spanish:
		return " el la los las de del y que en un una por con para es no se su al lo como más pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi nos qué cómo cuál cuánto dónde cuándo o yo nuestro nuestra "
	case Portuguese:
		return " o a os as de do da dos das e que em no na nos nas um uma por com para é não se seu sua ao mais mas como foi ele ela são está ser tem já também só pelo pela até isso entre era depois sem mesmo aos você meu minha qual quando onde quanto ou à nosso nossa "
	case Italian:
		return " il lo la i gli le di del della dei delle e che in un una per con non è si da dal dalla su sul sono come più ma anche al alla nel nella ha ho questo questa se o suo sua mi ti ci cosa quando dove quanto quale essere stato era dopo fino prima nostro nostra perché ogni tutti "
	case Dutch:
		return " de het een en van ik te dat die in is niet zijn op aan met als voor had er maar om hem dan zou of wat mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me zij nu ge geen wie worden al waar wanneer kunt wij onze ons kan "
	case Unknown, Russian, Arabic, Simple:
	}
	return ""
}
