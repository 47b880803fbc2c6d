package catalog

// allStandardTexts returns the standard texts of all languages.
func allStandardTexts() map[Lang]map[Name]string { //nolint:funlen // a table
	return map[Lang]map[Name]string{
		English: {
			Greeting:  "Hello! How can I help you?",
			Escalated: "Let me check with the team and get back to you.",
			Away:      "Thank you for your message. We are closed at the moment and will get back to you when we open again ({opening}).",
			Clarify:   "Do you mean {first} or {second}?",
			FollowUp:  "We have not heard from you for a while. Is there anything else we can do for you?",
			Rating:    "Did we help you? Please react to this message with 👍 or 👎.",
		},
		German: {
			Greeting:  "Hallo! Wie kann ich Ihnen helfen?",
			Escalated: "Ich frage im Team nach und melde mich wieder.",
			Away:      "Danke für Ihre Nachricht. Wir haben gerade geschlossen und melden uns, sobald wir wieder öffnen ({opening}).",
			Clarify:   "Meinen Sie {first} oder {second}?",
			FollowUp:  "Wir haben länger nichts von Ihnen gehört. Können wir noch etwas für Sie tun?",
			Rating:    "Konnten wir Ihnen helfen? Bitte reagieren Sie auf diese Nachricht mit 👍 oder 👎.",
		},
		French: {
			Greeting:  "Bonjour ! Comment puis-je vous aider ?",
			Escalated: "Je me renseigne auprès de l’équipe et je reviens vers vous.",
			Away:      "Merci pour votre message. Nous sommes fermés pour le moment ; nous vous répondrons à la réouverture ({opening}).",
			Clarify:   "Voulez-vous dire {first} ou {second} ?",
			FollowUp:  "Nous n’avons plus eu de vos nouvelles. Pouvons-nous encore faire quelque chose pour vous ?",
			Rating:    "Avons-nous pu vous aider ? Merci de réagir à ce message par 👍 ou 👎.",
		},
		Spanish: {
			Greeting:  "¡Hola! ¿En qué puedo ayudarle?",
			Escalated: "Lo consulto con el equipo y le respondo.",
			Away:      "Gracias por su mensaje. Ahora estamos cerrados; le responderemos cuando volvamos a abrir ({opening}).",
			Clarify:   "¿Se refiere a {first} o a {second}?",
			FollowUp:  "Hace tiempo que no sabemos de usted. ¿Podemos hacer algo más por usted?",
			Rating:    "¿Le hemos ayudado? Reaccione a este mensaje con 👍 o 👎, por favor.",
		},
		Portuguese: {
			Greeting:  "Olá! Como posso ajudar?",
			Escalated: "Vou verificar com a equipe e volto a falar com você.",
			Away:      "Agradecemos a sua mensagem. Estamos fechados no momento e responderemos quando reabrirmos ({opening}).",
			Clarify:   "Você se refere a {first} ou a {second}?",
			FollowUp:  "Faz algum tempo que não temos notícias suas. Podemos ajudar em mais alguma coisa?",
			Rating:    "Conseguimos ajudar? Por favor, reaja a esta mensagem com 👍 ou 👎.",
		},
		Italian: {
			Greeting:  "Buongiorno! Come posso aiutarla?",
			Escalated: "Chiedo al team e le faccio sapere.",
			Away:      "Grazie per il messaggio. In questo momento siamo chiusi; le risponderemo alla riapertura ({opening}).",
			Clarify:   "Intende {first} o {second}?",
			FollowUp:  "Non abbiamo più avuto sue notizie. Possiamo fare ancora qualcosa per lei?",
			Rating:    "Siamo riusciti ad aiutarla? Per favore, reagisca a questo messaggio con 👍 o 👎.",
		},
		Dutch: {
			Greeting:  "Hallo! Waarmee kan ik u helpen?",
			Escalated: "Ik vraag het na bij het team en kom erop terug.",
			Away:      "Bedankt voor uw bericht. We zijn nu gesloten; we antwoorden zodra we weer open zijn ({opening}).",
			Clarify:   "Bedoelt u {first} of {second}?",
			FollowUp:  "We hebben al een tijdje niets van u gehoord. Kunnen we nog iets voor u doen?",
			Rating:    "Hebben we u kunnen helpen? Reageer alstublieft op dit bericht met 👍 of 👎.",
		},
		Russian: {
			Greeting:  "Здравствуйте! Чем могу помочь?",
			Escalated: "Я уточню у коллег и вернусь к вам с ответом.",
			Away:      "Спасибо за сообщение. Сейчас мы закрыты и ответим, когда снова откроемся ({opening}).",
			Clarify:   "Вы имеете в виду {first} или {second}?",
			FollowUp:  "Мы давно не получали от вас сообщений. Можем ли мы ещё чем-нибудь помочь?",
			Rating:    "Удалось ли нам помочь вам? Пожалуйста, отреагируйте на это сообщение 👍 или 👎.",
		},
		Turkish: {
			Greeting:  "Merhaba! Size nasıl yardımcı olabilirim?",
			Escalated: "Ekibe danışıp size geri döneceğim.",
			Away:      "Mesajınız için teşekkürler. Şu anda kapalıyız; yeniden açıldığımızda size dönüş yapacağız ({opening}).",
			Clarify:   "Hangisini kastediyorsunuz: {first}, yoksa {second}?",
			FollowUp:  "Bir süredir sizden haber alamadık. Sizin için yapabileceğimiz başka bir şey var mı?",
			Rating:    "Size yardımcı olabildik mi? Lütfen bu mesaja 👍 veya 👎 ile tepki verin.",
		},
		Arabic: {
			Greeting:  "مرحبًا! كيف يمكنني مساعدتك؟",
			Escalated: "سأراجع الأمر مع الفريق وأعود إليك.",
			Away:      "شكرًا على رسالتك. نحن مغلقون حاليًا، وسنرد عليك عند إعادة الافتتاح ({opening}).",
			Clarify:   "هل تقصد {first} أم {second}؟",
			FollowUp:  "لم نتلقَّ منك أي رسالة منذ فترة. هل هناك شيء آخر يمكننا فعله من أجلك؟",
			Rating:    "هل تمكّنا من مساعدتك؟ يرجى التفاعل مع هذه الرسالة بـ 👍 أو 👎.",
		},
	}
}

// weekdays returns the names of the weekdays of all languages, from Sunday on.
func weekdays() map[Lang][7]string {
	return map[Lang][7]string{
		English:    {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
		German:     {"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
		French:     {"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
		Spanish:    {"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
		Portuguese: {"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado"},
		Italian:    {"domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"},
		Dutch:      {"zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"},
		Russian:    {"воскресенье", "понедельник", "вторник", "среда", "четверг", "пятница", "суббота"},
		Turkish:    {"Pazar", "Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi"},
		Arabic:     {"الأحد", "الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت"},
	}
}
