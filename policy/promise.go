package policy

const (
	// promisePhrases say that an answer will come, and nothing else. They are compared as those of intent.go.
	promisePhrases = `
let me check|let me look|let me see|let me ask|let me find out|i'll check|i will check|i'll ask|i will ask|i'll look|i'll have a look|i will have a look|i will look into this|i'll find out|checking|one moment|one second|one sec|a moment|just a moment|just a second|moment
i'll get back to you|i will get back to you|get back to you|i'll come back to you|we'll get back to you|we will get back to you|i'll let you know|i will let you know|let you know|we'll check|we will check|hold on|bear with me|please wait
einen moment|kleinen moment|einen augenblick|augenblick|momentchen|ich schaue nach|ich schaue kurz nach|ich schau kurz nach|ich schau mal kurz nach|ich schaue mal kurz nach|ich schau nach|ich schaue mal|ich schau mal|ich schaue mal nach|ich schau mal nach|ich sehe nach|ich frage nach|ich frag nach|ich frage mal nach|ich frag mal nach|ich prüfe das|ich kläre das|ich melde mich|ich melde mich gleich|wir melden uns|wir prüfen das|wir schauen nach|muss ich nachfragen|da muss ich nachfragen|da muss ich nachsehen|bitte warten
un instant|un moment|je vérifie|je regarde|je me renseigne|je demande|je reviens vers vous|je vous redis|je vous tiens au courant|on vérifie|nous vérifions|laissez-moi vérifier|je vais vérifier|je vais voir|je vais demander` + "\n" +
		"un momento|un segundo|déjeme ver|dejeme ver|déjame ver|dejame ver|lo consulto|lo miro|lo reviso|voy a ver|voy a preguntar|voy a consultar|ahora le digo|ahora te digo|le confirmo|te confirmo|le aviso|te aviso|lo verifico\n" + //nolint:misspell // Spanish
		"um momento|um segundo|um instante|só um momento|só um instante|vou verificar|vou ver|vou perguntar|vou confirmar|deixe-me ver|deixa eu ver|já te digo|já lhe digo|já confirmo|já volto\n" + //nolint:misspell // Portuguese
		`un attimo|un secondo|controllo|verifico|chiedo|mi informo|le faccio sapere|ti faccio sapere|le so dire|fammi vedere|mi faccia controllare|vado a vedere|adesso controllo|ora controllo
een moment|een ogenblik|momentje|ogenblikje|ik kijk het na|ik kijk even|ik zoek het uit|ik zoek het even uit|ik vraag het na|ik vraag het even na|ik kom erop terug|ik kom er op terug|ik laat het weten|ik laat het u weten|ik laat het je weten|even kijken|even geduld
минуту|минутку|секунду|одну минуту|одну минутку|одну секунду|сейчас проверю|сейчас узнаю|сейчас уточню|сейчас посмотрю|я проверю|я узнаю|я уточню|проверю|узнаю|уточню|подождите|я вернусь с ответом
bir dakika|bir saniye|bir an|hemen bakıyorum|bakıyorum|bakayım|kontrol ediyorum|kontrol edeyim|soruyorum|sorayım|hemen soruyorum|size döneceğim|size geri döneceğim|haber veririm
لحظة|لحظة واحدة|دقيقة|دقيقة واحدة|سأتحقق|سوف أتحقق|سأسأل|سأعود إليك|سأراجع الأمر|دعني أتحقق|دعني أرى`

	// promiseFillers may be part of a promise, but none is one by itself.
	promiseFillers = `for you|that|this|it|with the team|with my colleague|with my colleagues|with the boss|with the kitchen|and|soon|shortly|right now|later|today|tomorrow|then
das|kurz|gleich|für sie|für dich|im team|beim team|bei den kollegen|dann|später|bei ihnen|bei dir|wieder|heute|morgen|sofort|mal|noch|tout de suite|pour vous|avec l'équipe|enseguida|para usted|con el equipo|com a equipe|para você|já|subito|con il team|per lei|voor u|voor je|bij het team|zo|dat|для вас|у коллег|сейчас|hemen|sizin için|ekibe|sonra`
)

// IsPromise reports whether the whole text only says that an answer will come, such as "Let me check." or "Einen Moment
// bitte, ich frage nach". names are those of the people in the chat.
func IsPromise(text string, names ...string) bool {
	return consistsOf(text, names, promisePhrases, greetingPhrases+"\n"+courtesies+"\n"+acknowledgements+"\n"+politePhrases+"\n"+
		promiseFillers)
}
