package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsDanger_NeedsPersonNow(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"hi there's a strong gas smell in room 12", "My knee hurts so badly since the massage", "she fainted in the sauna!!",
		"SMOKE is coming out of the dryer, full of smoke here",
		"im stuck in the lift with my kid. what do we do?", "Hallo, im Flur riecht es nach Gas", "Mein Kind blutet am Kopf",
		"hab seit gestern starke Schmerzen nach der Füllung",
		"mi hija no puede respirar bien", "huele a quemado en el enchufe", "hay mucho humo en el pasillo",
		"J'ai très mal aux dents depuis hier", "ça sent le gaz dans la cuisine",
		"il mio dente mi fa malissimo, ho un dolore forte", "c'è puzza di gas nella stanza", "o meu filho engasgou-se",
		"está a cheirar a gás na cozinha",
		"mijn hond heeft gif gegeten", "er is brand in de keuken", "w kuchni czuć gaz", "bardzo boli mnie ząb",
		"в подвале пахнет газом", "у меня сильно болит зуб",
		"mutfakta gaz kokusu var", "dişim çok ağrıyor", "في رائحة غاز بالمطبخ", "ابني لا يتنفس",
		"Mon fils de 5 ans ne respire plus", "Meu filho se engasgou e não respira", "sí huele a gas en la cocina",
		"A man collapsed during the course", "my son is choking on your order", "im Kurs ist jemand bewusstlos",
		"Duele mucho la muela", "Dói muito o dente", "ابني لا يتنفس، ماذا أفعل؟",
		"My son is not breathing – what should I do?",
	} {
		require.True(t, IsDanger(message), message)
	}
	for _, message := range []string{
		"", "?", "Does the treatment hurt?", "do you have a fire exit", "Is there smoke in the bar?", "How much is a gas bottle",
		"I broke my leg last year, can I still join",
		"my wallet hurts when I see that price", "Tut das Piercing weh?", "Was kostet eine Gasflasche",
		"combien coûte le pain complet", "Je voudrais deux pains au chocolat",
		"¿duele la depilación?", "la factura está mal", "quanto costa la bombola del gas", "doet het pijn?", "czy to boli",
		"сколько стоит больничная карта", "canım çok sıkıldı",
		"thanks, all good now", "the room was dirty and the heating is broken", strings.Repeat("a ", 5000),
		"Wir haben zwei Hunde dabei.", "I am interested in this brand.", "She sang at our wedding.",
		"We want to see the llamas.", "I would like the coupe on Friday.", "Quiero una bola de helado para mi hija.",
		"Ich möchte die Toniebox abholen.", "Ich heiße Ferit", "ben Adem", "Wir hätten gern einen Platz mit Wasser und Strom",
		"a pitch with water and electricity", "una parcela con agua y luz", "Ik ben zeer tevreden", "Mijn adres klopt",
		"in alle gevallen", "gebroken wit", "bij toeval", "ik wacht op mijn uitslag", "I would like a cut and blow dry",
		"a no smoking room please", "I am looking for a kitchen knife", "a two stroke engine", "I need a massage gun",
		"thanks for following me", "an appointment for a blood test", "the event will run over two days",
		"I got a shock when I saw the bill", "fire pit on page 3", "Blütenhonig, zwei Gläser", "Termin zur Blutabnahme",
		"Der Reifen hat keine Luft", "Frühstück ist eingeschlossen", "ich hätte gern das Brot geschnitten",
		"Stecker für das Fest", "mein Vater ist taub", "dos jarras de sangría", "me pone un cortado",
		"un corte de pelo para mi hijo", "la descarga no funciona", "me llamas mañana", "un cuchillo jamonero", "saumon fumé",
		"crème brûlée", "une table en noyer", "pot au feu", "château gonflable", "une coupe pour samedi, je viens à 10h",
		"j'ai mal compris", "le robinet coule", "io prendo le tagliatelle", "tonno scottato", "orologio da polso",
		"si è rotto il display", "mi è caduto il telefono", "ci vediamo al punto vendita", "account bloccato",
		"faça a entrega na sexta", "compro no atacado", "o meu casaco tem manchas", "jest zamknięte w poniedziałek",
		"moja paczka utknęła", "badanie krwi", "двуспальная кровать", "мне нужны болты", "мы едем в Болгарию",
		"мы хотим большую пиццу", "сломалась стиральная машина", "çok acı olmasın", "ekran kırıldı", "faturamı göremiyorum",
		"bıçak seti",
	} {
		require.False(t, IsDanger(message), message)
	}
}

// Danger is said before a keyword or the wish for a person, because the card and the contact's text differ.
func TestAdmit_DangerComesFirst(t *testing.T) {
	t.Parallel()
	in := AdmitInput{
		Mode:   ModeBusiness,
		Author: AuthorContact,
		Text:   "Refund please, can I speak to a human, my skin is bleeding",
		Name:   "Nora",
	}
	in.EscalationKeywords = []string{"refund"}
	require.Equal(t, CodeDanger, admitQuestion(in).Code)
	in.Mode = ModePersonal
	require.Equal(t, CodeWantsHuman, admitQuestion(in).Code, "a personal chat is no desk")
}

// A part of the body and a harm, or a thing and how it fails, mean danger together, and not alone.
func TestIsDanger_SignOfSomething(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"his tongue is puffing up", "she is struggling to breathe since the bath", "the puppy swallowed a battery",
		"brakes just went to the floor",
		"mein fuß ist taub", "la gorge gonfle", "tengo la mano dormida", "il gatto ha leccato l'antigelo", "gaspedaal blijft hangen",
		"o travão foi até ao fundo", "направо руль заклинил",
	} {
		require.True(t, IsDanger(said), said)
	}
	for _, said := range []string{
		"do you do foot massages", "a battery for my watch please", "how much are new brakes", "we ate at yours yesterday",
		"the lights are out of breath",
	} {
		require.False(t, IsDanger(said), said)
	}
}
