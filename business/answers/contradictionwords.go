package answers

import (
	"regexp"
	"strings"

	"multis/internal/text"
)

// The words below are in lower case and without accents, as tokens returns them, in English, German, French, Spanish, Portuguese, Italian, Dutch and Russian.
//
//nolint:gochecknoglobals,misspell // tables of words, in eight languages
var (
	yesWords = wordSet(`yes yeah yep sure certainly ja jawohl klar naturlich gerne oui si sim да конечно`)
	noWords  = wordSet(`no nope nein non nao nee нет`)
	// politeWords may stand before a yes or a no.
	politeWords = wordSet(`hi hello hey dear sorry unfortunately sadly well oh hallo moin leider bonjour desole desolee malheureusement hola lamentablemente olá ola infelizmente
		ciao purtroppo scusi helaas здравствуйте привет сожалению к`)
	// pronouns may follow a yes or a no without a comma: "No we don't".
	pronouns = wordSet(`we i it that they there wir ich das es leider nous on nosotros nos noi wij we мы`)

	negatingWords = wordSet(`not no never none nobody nothing cannot without neither nicht kein keine keinen keinem keiner keines nie niemals ohne pas ne aucun aucune jamais sans rien
		nunca ningun ninguna ninguno tampoco sin nao nenhum nenhuma sem non nessun nessuno nessuna senza niet geen nooit zonder не нет никогда нельзя без nada niente niets nichts`)
	// hedgeWords restrict a sentence, so that neither yes nor no is the whole answer.
	hedgeWords = wordSet(`only just except unless but however usually sometimes mostly normally if when while some maybe perhaps depends ask contact call nur außer sofern wenn falls aber jedoch meist meistens
		manchmal vielleicht normalerweise einige kommt fragen sauf seulement uniquement mais parfois généralement certains contactez demandez solo sólo solamente excepto salvo pero
		algunos veces consulte apenas somente exceto mas alguns vezes soltanto tranne eccetto ma alcuni talvolta alleen behalve tenzij maar soms sommige только кроме если но иногда некоторые`)
	// idioms have a word of a negation and deny nothing.
	idioms = []string{
		"no problem", "not a problem", "no worries", "no doubt", "not only", "why not", "kein problem", "keine sorge", "nicht nur", "warum nicht", "pas de probleme", "pas de souci", "pourquoi pas", "sin problema",
		"no hay problema", "por que no", "sem problema", "sem problemas", "nessun problema", "senza problemi", "perche no", "geen probleem", "waarom niet", "без проблем", "не только", "почему бы и нет",
	}
	alternativeWords = wordSet(`or oder ou o oppure of или`)
	questionWords    = wordSet(`who what when where which why how whose whom wer wen wem was wann wo welche welcher welches welchen warum wieso wie wieviel wohin woher womit qui quoi quand quel quelle quels quelles
		combien comment pourquoi quien quienes cuando donde cual cuales cuanto cuanta cuantos cuantas quem quando onde qual quais quanto quanta quantos quantas chi dove quale quali quanti quante wat wanneer
		waar welk hoe waarom кто что когда где какой какая какие сколько как почему`)
	// priceWords ask for a price.
	priceWords = wordSet(`cost costs price prices much charge charges fee fees expensive kostet kosten kost preis preise teuer gebühr gebühren wieviel viel combien coûte coûtent prix cuánto cuesta cuestan precio
		precios vale quanto custa custam preço preços costa costano prezzo prezzi hoeveel prijs prijzen сколько стоит цена`)
	// whenWords ask for a time or a place.
	whenWords = wordSet(`when where wann wo wohin quand où cuándo dónde quando onde dove wanneer waar когда где`)
	whoWords  = wordSet(`who whom wer wen qui quien quienes quem chi кто`)
	ownWords  = wordSet(`my mine mein meine meinen meinem meiner meines mon ma mes mi mis meu minha meus minhas mio mia miei mie mijn мой моя мое мои мою моего моей`)
	alsoWords = wordSet(`also too additionally auch ebenfalls zusatzlich aussi egalement tambien ademas tambem alem anche inoltre ook eveneens также тоже`)

	// oneOffWords and oneOffPhrases say that an answer holds for one customer or a short time.
	oneOffWords = wordSet(`today tonight tomorrow yesterday exceptionally exception discount i'll we'll i'm heute morgen gestern diesmal ausnahmsweise ausnahme rabatt
		aujourd'hui demain hier exceptionnellement hoy mañana ayer excepción excepcionalmente descuento hoje amanhã ontem exceção excepcionalmente desconto
		oggi domani ieri eccezione eccezionalmente sconto vandaag gisteren uitzondering korting сегодня завтра вчера исключение скидка скидку`)
	oneOffPhrases = []string{
		"for you", "i will", "we will", "i am", "i can", "fur sie", "fur dich", "fur euch", "ich werde", "ich kann", "ich bin", "pour vous", "pour toi", "je vais", "je peux", "je suis",
		"para usted", "para ti", "yo puedo", "para si", "para voce", "eu posso", "per lei", "per te", "io posso", "voor u", "voor jou", "ik kan", "ik ben", "для вас", "для тебя", "я могу",
	}

	// fillerWords add nothing to what a sentence says, or only since when it holds.
	fillerWords = wordSet(`now any longer always please jetzt nun inzwischen immer neu bitte desormais maintenant toujours ahora siempre agora sempre adesso ora più voortaan
		altijd meer теперь всегда больше us euch seid habe habt êtes avez avons usted ustedes vosotros nosotros están estáis hay tienen você vocês estão são
		siete siamo avete abbiamo bent ben jullie вы вас нас ли`)
	rangeWords = wordSet(`to till until through thru bis au a hasta al ate alla tot по до`)

	// opposites are words that say the opposite of another.
	opposites = map[string]string{
		"closed": "open", "shut": "open", "forbidden": "allowed", "prohibited": "allowed", "unavailable": "available", "excluded": "included",
		"geschlossen": "geoffnet", "verboten": "erlaubt", "untersagt": "erlaubt", "ausverkauft": "verfugbar",
		"ferme": "ouvert", "fermee": "ouvert", "fermes": "ouvert", "fermees": "ouvert", "interdit": "autorise", "interdite": "autorise", "interdits": "autorise", "interdites": "autorise",
		"cerrado": "abierto", "cerrada": "abierto", "cerrados": "abierto", "cerradas": "abierto", "prohibido": "permitido", "prohibida": "permitido", "prohibidos": "permitido",
		"fechado": "aberto", "fechada": "aberto", "fechados": "aberto", "proibido": "permitido", "proibida": "permitido", "proibidos": "permitido",
		"chiuso": "aperto", "chiusa": "aperto", "chiusi": "aperto", "vietato": "permesso", "vietata": "permesso", "vietati": "permesso",
		"gesloten": "open", "dicht": "open", "verboden": "toegestaan", "закрыт": "открыт", "закрыта": "открыт", "закрыто": "открыт", "закрыты": "открыт", "запрещено": "разрешено", "запрещены": "разрешено",
	}
	synonyms = map[string]string{"offen": "geoffnet", "opened": "open", "permitted": "allowed", "gestattet": "erlaubt"}
)

//nolint:gochecknoglobals,misspell // tables of words, in eight languages
var (
	// weekdays are the names of the days of the week, from Monday.
	weekdays = []string{"day:1", "day:2", "day:3", "day:4", "day:5", "day:6", "day:7"}

	// dayNames has the names of days and months as tokens returns them, by their words. English "may" is not among them, because it is a verb, too; nor are "mar" and other short forms.
	dayNames = readDayNames(
		`monday montag lundi lunes segundafeira lunedi maandag понедельник
	tuesday dienstag mardi martes terca martedi dinsdag вторник
	wednesday mittwoch mercredi miercoles quarta mercoledi woensdag среда среду
	thursday donnerstag jeudi jueves quinta giovedi donderdag четверг
	friday freitag vendredi viernes sexta venerdi vrijdag пятница пятницу
	saturday samstag sonnabend samedi sabado sabato zaterdag суббота субботу
	sunday sonntag dimanche domingo domenica zondag воскресенье`,
		`january januar janvier enero janeiro gennaio januari январь января январе
	february februar fevrier febrero fevereiro febbraio februari февраль февраля феврале
	march marz mars marzo marco maart март марта марте
	april avril abril aprile апрель апреля апреле
	mai mayo maio maggio mei май мая мае
	june juni juin junio junho giugno июнь июня июне
	july juli juillet julio julho luglio июль июля июле
	august aout agosto augustus август августа августе
	september septembre septiembre setembro settembre сентябрь сентября сентябре
	october oktober octobre octubre outubro ottobre октябрь октября октябре
	november novembre noviembre novembro ноябрь ноября ноябре
	december dezember decembre diciembre dezembro dicembre декабрь декабря декабре`)
)

// readDayNames returns the names of days and months, a line each. Days also have their plurals and habitual forms.
func readDayNames(days, months string) map[string]string {
	names := map[string]string{}
	for i, line := range strings.Split(days, "\n") {
		for word := range strings.FieldsSeq(text.Fold(line)) {
			for _, form := range []string{word, word + "s", word + "e", word + "en"} {
				names[form] = weekdays[i]
			}
		}
	}
	for line := range strings.SplitSeq(months, "\n") {
		words := strings.Fields(text.Fold(line))
		for _, word := range words {
			names[word] = "month:" + words[0]
		}
	}
	return names
}

// joined makes one word of those with a sign in it: Dutch "t/m" means "tot", and Portuguese "segunda" alone "the second".
var joined = strings.NewReplacer("t/m", "tot", "segunda-feira", "segundafeira", "segundas-feiras", "segundafeiras")

// since matches the words that say since when something holds, such as "since May".
var since = regexp.MustCompile(`(?i)(?:^|\s)(?:(?:since|as of|seit|depuis|sinds|vanaf)\s+(?:(?:the|this|last|dem|diesem|le)\s+)?[\pL\d]+(?:\s\d{4})?|ab (?:sofort|jetzt)|from now on|any ?more|no longer),?(?:\s|$)`)

// thisTime matches one certain day, week or occasion in words.
var thisTime = regexp.MustCompile(`(?:^| )(?:this|next|diese[nrms]?|nachste[nrms]?|cette?|ce|prochaine?|d?est[ae]|proxim[ao]|quest[ao]|prossim[ao]|deze|volgende|этот|эту|этои|на этот) ` +
	`(?:day:|month:|(?:time|once|week|weekend|month|year|woche|wochenende|monat|jahr|mal|fois|semaine|mois|annee|semana|mes|ano|vez|settimana|mese|anno|volta|maand|jaar|keer|неделю|неделе|раз)(?: |$))`)

// isListed reports whether a word has a meaning here, although it is a common one.
func isListed(word string) bool {
	for _, words := range []map[string]bool{yesWords, noWords, negatingWords, hedgeWords, alternativeWords, questionWords, alsoWords, oneOffWords, rangeWords, politeWords} {
		if words[word] {
			return true
		}
	}
	return dayNames[word] != ""
}

// wordSet returns the words of a text as a set, each as tokens returns it.
func wordSet(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[foldWord(w)] = true
	}
	return all
}
