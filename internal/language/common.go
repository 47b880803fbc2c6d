package language

// latinLanguages returns the recognized languages in Latin script, in the order of the results of score.
func latinLanguages() [7]Language {
	return [...]Language{English, German, French, Spanish, Portuguese, Italian, Dutch}
}

// The bits of latinLanguages, in the same order.
const (
	en = 1 << iota
	de
	fr
	es
	pt
	it
	nl
)

// commonLanguages returns the languages in which a word is among the most common, as bits.
func commonLanguages(word string) int { //nolint:funlen // a table
	switch word {
	case "about", "all", "and", "are", "at", "be", "but", "by", "can", "did", "does", "each", "for", "from", "has", "have", "her", "him",
		"his",
		"how", "if", "into", "it", "like", "make", "more", "my", "not", "or", "out", "said", "she", "some", "that", "the", "their", "them",
		"then",
		"there", "these", "they", "this", "to", "up", "use", "we", "were", "what", "when", "which", "will", "with", "would", "you", "your":
		return en
	case "aber", "am", "auch", "auf", "aus", "bei", "bis", "dass", "dem", "den", "durch", "ein", "eine", "einem", "einen", "einer", "für",
		"gibt",
		"haben", "hat", "ich", "ihr", "ihre", "im", "ist", "kann", "kein", "keine", "man", "mehr", "mir", "mit", "nach", "nicht", "noch", "nur",
		"oder", "sein", "sich", "sie", "sind", "und", "uns", "unser", "unsere", "von", "vor", "wann", "war", "wer", "werden", "wir", "wird", "wo",
		"wurde", "zu", "zum", "zur", "über":
		return de
	case "au", "aux", "avec", "c", "ce", "cette", "combien", "comme", "comment", "d", "dans", "elle", "est", "et", "ils", "l", "les", "leur",
		"mes", "mon",
		"ne", "notre", "nous", "où", "par", "pas", "plus", "pour", "quand", "quel", "quelle", "qui", "sa", "ses", "sont", "sur", "tout", "tu",
		"une", "votre", "vous", "était", "été", "être":
		return fr
	case "años", "cuando", "cuál", "cuándo", "cuánto", "cómo", "desde", "dónde", "el", "esta", "este", "fue", "había", "hasta", "las", "los",
		"muy",
		"más", "nuestra", "nuestro", "pero", "qué", "sin", "sobre", "sus", "también", "todo", "y", "ya", "yo":
		return es
	case "ao", "aos", "até", "com", "depois", "ela", "ele", "em", "foi", "isso", "já", "mas", "mesmo", "meu", "minha", "na", "nas", "nossa",
		"nosso", "não", "onde", "os", "pela", "pelo", "qual", "sem", "seu", "são", "só", "também", "tem", "uma", "você", "é":
		return pt
	case "alla", "anche", "che", "ci", "come", "cosa", "dal", "dalla", "dei", "della", "delle", "di", "dopo", "dove", "essere", "fino", "gli",
		"ho",
		"nel", "nella", "non", "nostra", "nostro", "ogni", "per", "perché", "più", "prima", "quale", "questa", "questo", "sono", "stato", "sul",
		"suo", "ti", "tutti", "è":
		return it
	case "aan", "bij", "daar", "dan", "dat", "deze", "dit", "door", "een", "ge", "geen", "haar", "heb", "hebben", "heeft", "hem", "het", "hoe",
		"ik", "kan", "kunt", "maar", "men", "met", "mij", "mijn", "naar", "niet", "nog", "nu", "om", "ons", "onze", "ook", "op", "over", "te",
		"tot", "u", "uit", "van", "voor", "waar", "wanneer", "want", "wat", "wij", "worden", "zal", "ze", "zich", "zij", "zijn", "zo", "zou":
		return nl
	case "an", "so", "was":
		return en | de
	case "on":
		return en | fr
	case "a", "as", "do":
		return en | pt
	case "i":
		return en | it
	case "had", "is", "of":
		return en | nl
	case "des", "du":
		return de | fr
	case "es":
		return de | es
	case "das", "um":
		return de | pt
	case "als", "der", "die", "er", "wie":
		return de | nl
	case "son":
		return fr | es
	case "mais", "ou", "à":
		return fr | pt
	case "il", "ma":
		return fr | it
	case "je":
		return fr | nl
	case "como", "dos", "entre", "está", "no", "nos", "para", "por", "ser":
		return es | pt
	case "con", "del", "ha", "lo", "mi", "su", "una":
		return es | it
	case "da", "e", "quando", "quanto", "sua":
		return pt | it
	case "me":
		return en | es | nl
	case "que":
		return fr | es | pt
	case "la", "le", "si", "un":
		return fr | es | it
	case "en":
		return fr | es | nl
	case "era", "o":
		return es | pt | it
	case "al":
		return es | it | nl
	case "in":
		return en | de | it | nl
	case "se":
		return fr | es | pt | it
	case "de":
		return fr | es | pt | nl
	default:
		return 0
	}
}
