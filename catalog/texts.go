package catalog

// standards returns the standard texts of all languages.
func standards() map[Lang]map[Name]string {
	return map[Lang]map[Name]string{
		English: {
			Greeting:  "Hello! How can I help you?",
			Escalated: "Let me check with the team and get back to you.",
			Away:      "Thank you for your message. We are closed at the moment; a person will see it when we open again ({opening}).",
			Clarify:   "Do you mean {first} or {second}?",
		},
		German: {
			Greeting:  "Hallo! Wie kann ich Ihnen helfen?",
			Escalated: "Ich frage im Team nach und melde mich wieder.",
			Away:      "Danke für Ihre Nachricht. Wir haben gerade geschlossen; jemand sieht sie, wenn wir wieder öffnen ({opening}).",
			Clarify:   "Meinen Sie {first} oder {second}?",
		},
		French: {
			Greeting:  "Bonjour ! Comment puis-je vous aider ?",
			Escalated: "Je me renseigne auprès de l’équipe et je reviens vers vous.",
			Away:      "Merci pour votre message. Nous sommes fermés pour le moment ; quelqu’un le lira à la réouverture ({opening}).",
			Clarify:   "Voulez-vous dire {first} ou {second} ?",
		},
		Spanish: {
			Greeting:  "¡Hola! ¿En qué puedo ayudarle?",
			Escalated: "Lo consulto con el equipo y le respondo.",
			Away:      "Gracias por su mensaje. Ahora estamos cerrados; una persona lo verá cuando volvamos a abrir ({opening}).",
			Clarify:   "¿Se refiere a {first} o a {second}?",
		},
		Portuguese: {
			Greeting:  "Olá! Como posso ajudar?",
			Escalated: "Vou verificar com a equipe e volto a falar com você.",
			Away:      "Obrigado pela sua mensagem. Estamos fechados no momento; uma pessoa vai vê-la quando reabrirmos ({opening}).",
			Clarify:   "Você se refere a {first} ou a {second}?",
		},
		Italian: {
			Greeting:  "Buongiorno! Come posso aiutarla?",
			Escalated: "Chiedo al team e le faccio sapere.",
			Away:      "Grazie per il messaggio. In questo momento siamo chiusi; qualcuno lo leggerà alla riapertura ({opening}).",
			Clarify:   "Intende {first} o {second}?",
		},
		Dutch: {
			Greeting:  "Hallo! Waarmee kan ik u helpen?",
			Escalated: "Ik vraag het na bij het team en kom erop terug.",
			Away:      "Bedankt voor uw bericht. We zijn nu gesloten; iemand leest het als we weer open zijn ({opening}).",
			Clarify:   "Bedoelt u {first} of {second}?",
		},
		Russian: {
			Greeting:  "Здравствуйте! Чем могу помочь?",
			Escalated: "Я уточню у коллег и вернусь к вам с ответом.",
			Away:      "Спасибо за сообщение. Сейчас мы закрыты; его прочитают, когда мы снова откроемся ({opening}).",
			Clarify:   "Вы имеете в виду {first} или {second}?",
		},
		Turkish: {
			Greeting:  "Merhaba! Size nasıl yardımcı olabilirim?",
			Escalated: "Ekibe danışıp size geri döneceğim.",
			Away:      "Mesajınız için teşekkürler. Şu anda kapalıyız; yeniden açıldığımızda bir kişi mesajınızı görecek ({opening}).",
			Clarify:   "{first} mi, yoksa {second} mi demek istiyorsunuz?",
		},
		Arabic: {
			Greeting:  "مرحبًا! كيف يمكنني مساعدتك؟",
			Escalated: "سأراجع الأمر مع الفريق وأعود إليك.",
			Away:      "شكرًا على رسالتك. نحن مغلقون حاليًا، وسيطّلع عليها أحد الزملاء عند إعادة الافتتاح ({opening}).",
			Clarify:   "هل تقصد {first} أم {second}؟",
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
