package policy

import (
	"slices"
	"strings"
)

// requestPhrases ask for something to be done: an order, a booking, a change, a cancellation, a complaint. They are in
// the first person or imperative, because documents may answer questions such as "How do I order?" and "Can I cancel?".
const requestPhrases = `
i want to order|i'd like to order|i would like to order|i want to buy|i'd like to buy|i would like to buy|i'll take|i will take|we'd like to order|we would like to order|please order|place an order for|put me down for|sign me up
i want to book|i'd like to book|i would like to book|please book|book me|book a table|book us|i want to reserve|i'd like to reserve|i would like to reserve|please reserve|reserve a table|make a reservation for|i'd like an appointment|i would like an appointment|i need an appointment
please cancel|cancel my|i want to cancel|i'd like to cancel|i would like to cancel|i need to cancel|i have to cancel|please change my|change my order|change my booking|reschedule my|please reschedule|i want to return|i'd like to return|i would like to return|i want my money back|give me my money back|i want to complain|i'd like to complain|i would like to complain|i want to make a complaint
ich möchte bestellen|ich will bestellen|ich würde gerne bestellen|ich würde gern bestellen|ich hätte gerne|ich hätte gern|ich nehme|bitte bestellen sie|ich möchte kaufen|ich möchte buchen|ich würde gerne buchen|ich möchte reservieren|ich würde gerne reservieren|bitte reservieren|einen tisch reservieren|ich möchte einen termin|ich brauche einen termin|ich hätte gerne einen termin
bitte stornieren|ich möchte stornieren|ich muss stornieren|ich möchte absagen|ich muss absagen|ich muss den termin absagen|termin verschieben|ich möchte kündigen|hiermit kündige ich|ich möchte zurückgeben|ich möchte mein geld zurück|ich will mein geld zurück|ich möchte mich beschweren|ich will mich beschweren|ich möchte reklamieren
je voudrais commander|je veux commander|j'aimerais commander|je souhaite commander|je voudrais acheter|je voudrais réserver|je veux réserver|j'aimerais réserver|je souhaite réserver|je voudrais un rendez-vous|j'aimerais un rendez-vous|je prends|veuillez réserver
je voudrais annuler|je veux annuler|j'aimerais annuler|je souhaite annuler|je dois annuler|annulez ma|annulez mon|je voudrais être remboursé|je veux être remboursé|je veux me plaindre|je voudrais me plaindre|je souhaite résilier|je voudrais retourner
quiero pedir|quisiera pedir|me gustaría pedir|quiero comprar|quisiera comprar|quiero reservar|quisiera reservar|me gustaría reservar|resérvame|resérveme|quiero una cita|necesito una cita|quisiera una cita
quiero cancelar|quisiera cancelar|tengo que cancelar|necesito cancelar|cancele mi|cancela mi|quiero devolver|quiero mi dinero|quiero que me devuelvan|quiero quejarme|quiero poner una queja|quiero presentar una queja|quiero darme de baja
quero pedir|gostaria de pedir|quero comprar|gostaria de comprar|quero reservar|gostaria de reservar|quero marcar|gostaria de marcar|preciso marcar|quero agendar|gostaria de agendar
quero cancelar|gostaria de cancelar|preciso cancelar|cancele meu|cancele minha|cancela meu|quero devolver|quero meu dinheiro de volta|quero reclamar|quero fazer uma reclamação
vorrei ordinare|voglio ordinare|vorrei comprare|vorrei prenotare|voglio prenotare|prenotami|vorrei un appuntamento|ho bisogno di un appuntamento|prendo io
vorrei annullare|voglio annullare|devo annullare|vorrei disdire|devo disdire|annullate il mio|vorrei restituire|rivoglio i miei soldi|voglio il rimborso|vorrei il rimborso|voglio fare un reclamo|vorrei fare un reclamo
ik wil bestellen|ik wil graag bestellen|ik zou graag bestellen|ik wil kopen|ik wil boeken|ik wil graag boeken|ik wil reserveren|ik wil graag reserveren|ik wil een afspraak|ik wil graag een afspraak
ik wil annuleren|ik wil graag annuleren|ik moet annuleren|annuleer mijn|ik wil opzeggen|ik wil retourneren|ik wil mijn geld terug|ik wil klagen|ik heb een klacht
хочу заказать|хотел бы заказать|хотела бы заказать|хочу купить|хочу забронировать|забронируйте|хочу записаться|запишите меня|хочу отменить|отмените мой|отмените мою|отмените заказ|хочу вернуть|верните деньги|верните мне деньги|хочу пожаловаться
sipariş vermek istiyorum|satın almak istiyorum|rezervasyon yapmak istiyorum|randevu almak istiyorum|iptal etmek istiyorum|siparişimi iptal|rezervasyonumu iptal|iade etmek istiyorum|paramı geri istiyorum|şikayet etmek istiyorum|şikayetçiyim
اريد ان اطلب|أريد أن أطلب|اريد طلب|أريد طلب|اريد شراء|أريد شراء|اريد حجز|أريد حجز|أود حجز|اود حجز|احجز لي|أريد موعدا|اريد موعد|أريد إلغاء|اريد الغاء|أود إلغاء|ألغوا طلبي|أريد استرداد|اريد استرداد|أريد تقديم شكوى|اريد تقديم شكوى
chcę zamówić|chciałbym zamówić|chciałabym zamówić|chcę kupić|chcę zarezerwować|chciałbym zarezerwować|chciałabym zarezerwować|chcę umówić|chcę anulować|chciałbym anulować|chciałabym anulować|chcę zwrócić|chcę zwrot pieniędzy|chcę złożyć skargę|chcę złożyć reklamację`

// requestOpenings and requestVerbs ask for something to be done where the verb stands behind what it is about: "Ich
// möchte eine Torte bestellen". What stands between them has none of indirectWords, with which it is a question or
// something else: "Ich möchte wissen, wie ich bestellen kann".
const (
	requestOpenings = `ich möchte|ich möcht|ich will|ich würde gern|ich würde gerne|ich wollte|ich muss|ich müsste|wir möchten|wir wollen|wir würden gern|wir würden gerne|wir müssen|möchte gern|möchte gerne|würde gern|würde gerne|bitte
ik wil|ik zou|ik moet|wij willen|we willen|wij moeten|we moeten`
	requestVerbs = `bestellen|nachbestellen|vorbestellen|abbestellen|kaufen|buchen|umbuchen|reservieren|stornieren|absagen|kündigen|umtauschen|zurückgeben|zurückschicken|verschieben|reklamieren|vereinbaren|zurücklegen
kopen|boeken|reserveren|annuleren|afzeggen|opzeggen|retourneren|ruilen|verzetten`
	indirectWords = `wissen|fragen|erfahren|hören|sehen|ob|wie|was|wann|wo|welche|welcher|welches|wer|warum|kann|kannst|können|könnt|könnte|darf|soll|muss|nicht|nichts|nie|kein|keine|keinen|nur
weten|vragen|of|hoe|wat|wanneer|waar|welke|wie|kan|kunnen|mag|niet|geen`
	maxRequestWords = 10 // between the two
)

// WantsAction reports whether the message asks for something to be done, such as an order, a booking, a cancellation or a
// complaint. Only a person can do that, whatever the documents say about it.
func WantsAction(text string) bool {
	words := intentWords(text)
	return hasPhrase(strings.Join(words, " "), requestPhrases) || hasVerbLast(words)
}

// hasVerbLast reports whether words ask for something with the verb behind what it is about.
func hasVerbLast(words []string) bool {
	verbs, indirect := phrases(requestVerbs), phrases(indirectWords)
	for _, opening := range phrases(requestOpenings) {
		first := strings.Fields(opening)
		for i := range words {
			after := i + len(first)
			if after > len(words) || !slices.Equal(words[i:after], first) {
				continue
			}
			for _, word := range words[after:min(len(words), after+maxRequestWords)] {
				if slices.Contains(verbs, word) {
					return true
				}
				if slices.Contains(indirect, word) {
					break
				}
			}
		}
	}
	return false
}
