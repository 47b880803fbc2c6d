package search

// askingClass returns the class of a word in languages other than English, as classifyEnglish does for English. Words are without accents. A word
// that means something specific in any of the languages, such as "fin" or "art", is not listed.
func askingClass(word string) wordClass {
	switch word {
	case "wann", "warum", "welche", "welcher", "welches", "welchen", "welchem", "wieviel", "viel", "viele", "vielen", "gibt", "gern", "gerne", // German
		"kann", "konnen", "konnte", "konnten", "mochte", "mochten", "muss", "mussen", "darf", "durfen", "soll", "sollte", "wurde", "wurden",
		"kostet", "kosten", "preis", "preise", "preisen", "teuer", "hoch", "verkaufen", "verkauft", "anbieten", "bieten", "bietet",
		"bitte", "danke", "hallo", "guten", "sagen", "wissen", "frage", "fragen", "brauche", "brauchen", "bekomme", "bekommen", "finde", "finden", "findet",
		"habt", "hast", "seid", "bist", "konnt", "kannst", "konntet", "konntest", "mochtet", "mochtest", "musst", "durft", "darfst", "sollt", "sollst", "wollt", "willst",
		"gebt", "gibst", "nehmt", "nimmst", "nimmt", "nehmen", "macht", "machst", "machen", "verkaufst", "bietest", "braucht", "brauchst", "bekommst", "bekommt", "findest",
		"erlaubt", "gestattet", "eigentlich", "genau", "ungefahr", "etwa", "noch", "auch", "schon", "ab",
		"combien", "quel", "quelle", "quels", "quelles", "quand", "pourquoi", "comment", "heure", "est", "sont", "til", "telle", "ils", "elles", "les", "a", // French
		"peut", "peux", "puis", "pouvez", "pourrais", "pourriez", "pouvons", "dois", "doit", "devez", "faut", "voudrais", "voulez", "souhaite",
		"etes", "fais", "fait", "faites", "vends", "proposes", "offres", "veux", "trouves",
		"coute", "coutent", "couter", "prix", "tarif", "tarifs", "avez", "avoir", "vendez", "proposez", "offrez", "trouve", "trouver",
		"permis", "autorise", "autorises", "bonjour", "merci", "salut", "dire", "savoir", "besoin", "environ", "exactement", "aussi", "ou":
		return filler
	case "cuando", "cuanto", "cuanta", "cuantos", "cuantas", "cual", "cuales", "donde", "como", "porque", "que", "hay", "estan", "esta", // Spanish
		"puede", "puedo", "pueden", "podria", "podrian", "debo", "debe", "quiero", "quisiera", "necesito", "llevar",
		"puedes", "podeis", "quieres", "quereis", "tienes", "teneis", "estas", "estais", "hacen", "haces", "haceis", "vendes", "vendeis", "ofreces", "ofreceis", //nolint:misspell // Spanish
		"cuesta", "cuestan", "costar", "precio", "precios", "vale", "valen", "tarifa", "tiene", "tienen", "tener", "venden", "vende", "ofrecen", "encuentro",
		"permitido", "permiten", "hola", "gracias", "favor", "saber", "decir", "exactamente", "tambien",
		"pode", "podes", "tens", "fazem", "fazes", "oferece",
		"quanto", "quanta", "quantos", "quantas", "quais", "onde", "custa", "custam", "preco", "precos", "posso", "podem", "voces", "vendem", "oferecem", // Portuguese
		"puoi", "potete", "hai", "vendi", "offri",
		"quanti", "quante", "quando", "quale", "quali", "dove", "costa", "costano", "prezzo", "prezzi", "avete", "possono", "vendete", "offrite", // Italian
		"heb", "hebt", "kun", "jullie", "biedt", "bieden", "doen", "verkoop", "maken", "maakt",
		"wanneer", "welke", "waarom", "hoeveel", "prijs", "prijzen", "hebben", "heeft", "kunnen", "verkoopt", "verkopen", "graag", "dank": // Dutch
		return filler
	case "ne", "kadar", "kac", "lira", "nasıl", "nedir", "nerede", "neresi", "zaman", "hangi", "var", "yok", "mı", "mu", "mısınız", "misiniz", "musunuz", "miyim", "mıyım", "muyum", // Turkish
		"ediyor", "ediyorsunuz", "edebilir", "yapıyor", "yapıyorsunuz", "yapabilir", "alabilir", "alabilirim", "kabul", "veriyor", "satıyor", "bulunuyor", "oluyor", "olur", "istiyorum", "istiyoruz",
		"ucreti", "ucret", "fiyat", "fiyatı", "fiyatları", "fiyatlar", "merhaba", "selam", "lutfen", "tesekkurler", "acaba", "peki", "sizde", "sizin", "icin", "bir":
		return filler
	case "uhr", "tag", "tage", "tagen", "woche", "wochen", "monat", "monate", "jahr", "jahre", "stunde", "stunden", "zeit", "heute", "morgen", "gestern", // German
		"alter", "dauer", "dauert", "dauern", "kostenlos", "gratis", "inklusive", "enthalten", "mitbringen", "bringen", "bringe", "mitnehmen",
		"lang", "lange", "weit", "alt", "neu", "gross", "klein", "schwer", "schnell", "spat", "fruh", "kommen", "kommt",
		"jour", "jours", "semaine", "mois", "annee", "temps", "demain", "hier", "loin", "grand", "grande", "distance", "partir", "chaque", "avance", // French
		"age", "pese", "pesent", "gratuit", "gratuite", "gratuits", "gratuites", "compris", "comprise", "inclus", "apporter", "amener", "emmener",
		"hora", "horas", "dia", "dias", "semana", "mes", "ano", "anos", "tiempo", "hoy", "manana", "ayer", "lejos", "dura", "duran", "tarda", "tardan", // Spanish
		"edad", "pesa", "gratuito", "gratuita", "incluido", "incluida", "incluidos", "incluidas", "traer", "distancia", "tempo", "hoje", "amanha", "giorno", "giorni", "oggi", "domani", "tijd", "vandaag":
		return light
	default:
		return specific
	}
}
