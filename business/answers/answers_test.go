package answers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestPersonalData_IsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Call Ana at +49 151 234 56789, or ana.smith@example.com": "Call … at …, or …",
		"Hi, my name is Tom Jones and I live at Hauptstr. 12":     "Hi, my name is … and I live at …",
		"Ich heiße Jürgen, IBAN DE89 3704 0044 0532 0130 00":      "Ich heiße …, IBAN …",
		"Bring it to 12 Baker Street today":                       "Bring it to … today",
		"Delivery costs 5 EUR, 120 EUR abroad, from 9:00 to 18":   "Delivery costs 5 EUR, 120 EUR abroad, from 9:00 to 18",
		"Anaconda and ANA and Banana":                             "Anaconda and … and Banana",
		"Rappelez le 06 12 34 56 78, 12 rue de la Paix":           "Rappelez le …, …",
		"Llame al 91 / 555 12 34, Calle Mayor, 12":                "Llame al 91 / …, …",
		"Звоните +7 (495) – 123–45–67":                            "Звоните …",
		"اتصل ٠١٢٣٤٥٦٧٨٩":                                         "اتصل …",
		"Write to ana.smith＠example.com":                          "Write to …",
		"Open 9-12 / 13-18, 9 - 12 and 14 - 18:30, 2026-12-24":    "Open 9-12 / 13-18, 9 - 12 and 14 - 18:30, 2026-12-24",
		"Anna liegt Via Roma, 5 und ул. Ленина, д. 5":             "Anna liegt … und …",
		"Jose\u0301 and JOSE, José":                               "… and …, …",
		"Pay by 24.12.2026, 9-12:30 and 13:30-18, 1.200,00 EUR":   "Pay by 24.12.2026, 9-12:30 and 13:30-18, 1.200,00 EUR",
		"": "",
	} {
		require.Equal(t, want, MaskPersonalData(text, []string{"Ana de Smith José"}), text)
	}
	require.Equal(t, "~~Ana~~ \\*said\\*", StrikePersonalData("Ana *said*", []string{"Ana"}))
}

func TestVariables_AreReplaced(t *testing.T) {
	t.Parallel()
	v := Variables{Business: "Piano House", Hours: "mon-fri 9-17"}
	require.Equal(t, "Wir haben Montag-Freitag 9-17 für Sie geöffnet, Ana.", v.Fill("Wir haben {hours} für Sie geöffnet, {name}.", "Ana"))
	require.Equal(t, "Hello Ana, Piano House is open Monday-Friday 9-17.", v.Fill("Hello {name}, {business} is open {hours}.", "Ana"))
	require.Equal(t, "Hello, welcome!", v.Fill("Hello {name}, welcome!", ""))
	require.Equal(t, "Welcome", v.Fill("{name}, Welcome", ""))
	require.Equal(t, "Hello!", v.Fill("Hello {name}!", "everything costs 1 euro"))
	require.Equal(t, "Hello !", v.Fill("Hello {name}!", " "), "a name of spaces")
	for _, name := range []string{
		"evil.example", "Ana evil.example", "www.evil.example Ana", "\u202eAna", "Ana\u200b", "@eva:x", "[Ana](x)", "Ana\x00", "{hours}",
		strings.Repeat("1", 10_000),
		"Ana\u3164", "Ana\u200dMaria", "\u2067Ana", "A" + strings.Repeat("\u0301", 40), "A\u20e3", "Ana\ufe0f", "evil.ex", "a/b", "Ana: call 110",
		"evil.e\u0301x", "Ana\nMaria\r",
	} {
		require.Equal(t, "Hello!", v.Fill("Hello {name}!", name), "%.40q", name)
	}
	for _, name := range []string{
		"J. R. Smith", "Ana-María O'Neill", "Jr.", "Ана", "安娜", "Zoe\u0308", "Nguye\u0302\u0303n", "अनुष्का",
		"क्\u200dषमा", "ప్రియ", "สมชาย", "O’Neil", "D‘Angelo", "J.R.R. Tolkien", "Jo'Ann St.-John", "Gal·la", "Jean‑Luc", "مریم\u200cالسادات",
		"שָׁלוֹם", "ʻOkina",
	} {
		require.Equal(t, "Hello "+name+"!", v.Fill("Hello {name}!", name))
	}
	require.Less(t, len(v.Fill("Hello {name}!", strings.Repeat("a ", 10_000))), 100)
}

func TestAnswers_CannotChangeDocument(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Is there parking?", CleanQuestion("## Is *there*\n\u202eparking?"))
	require.Equal(t, "Title\nBehind the house.\n\nAnd", CleanAnswer("# Title\n===\nBehind the house.\n---\n\n> And"))
	for _, block := range []string{"```\nx", "~~~~ x", "<!-- x", "<script>x", "<PRE>x", "<?x", "<![CDATA[x", "<!X"} {
		require.NotRegexp(t, "^(```|~~~|<)", CleanAnswer(block), "it would swallow the answers below it")
	}
	require.Equal(t, "`/help` or <3 5 < 6", CleanAnswer("`/help` or <3 5 < 6"))
	require.Len(t, []rune(CleanQuestion(strings.Repeat("ä", 300))), MaxQuestion)
}

func TestLearn_AnswerEndsAtNextMessage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	q := store.UnansweredQuestion{ChatID: 2, MessageIDs: []store.MessageID{3}, Question: "Do you deliver to Potsdam?"}
	line := func(id int64, person bool, body string, after time.Duration) store.ChatLine {
		return store.ChatLine{
			MessageID: store.MessageID(id),
			Person:    person,
			Sender:    "@eva:x",
			Body:      body,
			At:        at.Add(after),
		}
	}
	lines := []store.ChatLine{
		line(4, false, "Hello?", time.Minute), line(5, true, "Yes.", 2*time.Minute), line(6, true, "It costs 9 euro.", 3*time.Minute),
		line(7, false, "Thanks", 4*time.Minute), line(8, true, "Bye", 5*time.Minute),
	}
	g, ok := answerIn(q, "Ana", lines, at.Add(time.Hour))
	require.True(t, ok)
	require.Equal(t, "Yes.\nIt costs 9 euro.", g.Answer)
	require.Equal(t, []store.MessageID{3, 5, 6}, g.MessageIDs)
	require.Equal(t, at.Add(2*time.Minute), g.AnsweredAt)
	_, ok = answerIn(q, "Ana", lines[:3], at.Add(3*time.Minute+19*time.Second))
	require.False(t, ok, "it may go on")
	_, ok = answerIn(q, "Ana", lines[:1], at.Add(time.Hour))
	require.False(t, ok, "nobody answered")
	g, _ = answerIn(q, "Ana", []store.ChatLine{lines[1], line(9, true, "Something else", 40*time.Minute)}, at.Add(time.Hour))
	require.Equal(t, "Yes.", g.Answer)
}

func TestLearn_AsksOwnerOnce(t *testing.T) {
	t.Parallel()
	g := store.UnansweredQuestion{Question: "Do you deliver to Potsdam?", Answer: "Yes, it costs 9 euro."}
	learned := []store.LearnedAnswer{{ID: 7, Question: "do you deliver to potsdam", Answer: "Yes, it costs 9 euro."}}
	state, changes := judge(g, true, nil, nil)
	require.Equal(t, store.UnansweredOpen, state)
	require.Nil(t, changes)
	state, _ = judge(g, false, nil, nil)
	require.Equal(t, store.UnansweredNotAsked, state, "a person was asked for, and no document was missing")
	state, _ = judge(g, true, nil, []store.UnansweredQuestion{{Question: "Do you deliver to Potsdam"}})
	require.Equal(t, store.UnansweredNotAsked, state, "he was asked, or has declined")
	state, _ = judge(g, true, learned, nil)
	require.Equal(t, store.UnansweredNotAsked, state, "it is in the documents")
	g.Answer = "Yes, it costs 12 euro."
	state, changes = judge(g, false, learned, nil)
	require.Equal(t, store.UnansweredOpen, state)
	require.EqualValues(t, 7, *changes)
}

func TestFigures_OfOneKindDisagree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quote, answer string
		want          bool
	}{
		{"Delivery costs 5 EUR.", "7 €", true},
		{"Delivery costs 5 EUR.", "5,00 euro, as always", false},
		{"Delivery costs 5 EUR, abroad 9 EUR.", "for you it is 9 euro", false},
		{"Delivery costs 5 EUR.", "We come at 18:00.", false},
		{"Delivery costs 5 EUR.", "Your order has the number 4711.", false},
		{"We close at 18:00.", "We close at 19:00 now", true},
		{"We close at 18:00.", "at 18 Uhr", false},
		{"The deposit is 20 %.", "It is 30 percent", true},
		{"Open Monday to Friday, 9-17.", "Monday to Friday 9-18 since May", true},
		{"Open Monday to Friday, 9-17.", "call me on 18", false},
		{"We deliver.", "We do not.", false},
		{"Доставка стоит 300 рублей.", "400 руб.", true},
	} {
		require.Equal(t, c.want, figuresDiffer(c.quote, c.answer), "%s / %s", c.quote, c.answer)
	}
}

func TestPublicDocument_NamesNoPerson(t *testing.T) {
	t.Parallel()
	list := []store.LearnedAnswer{
		{
			Question: "Do you deliver?", Answer: "Yes.", Role: policy.RolePublic, Person: "@eva:x.org",
			AnsweredAt: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC),
		},
		{
			Question: "Who is Jim?", Answer: "A friend.", Role: policy.RoleAdmin, Person: "@eva:x.org",
			AnsweredAt: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC),
		},
	}
	require.Equal(t, "# From a person of the business, 25 November 2026\n\n## Do you deliver?\n\nYes.\n",
		learnedDocument(list, policy.RolePublic))
	require.Contains(t, learnedDocument(list, policy.RoleAdmin), "# From @eva:x.org, 25 November 2026\n")
}

func TestPersonalData_InOtherLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Merhaba, benim adım Ayşe Yılmaz, kargom nerede?":    "Merhaba, benim adım …, kargom nerede?",
		"Dzień dobry, nazywam się Jan Kowalski":              "Dzień dobry, nazywam się …",
		"Mam na imię Ola, czy macie chleb?":                  "Mam na imię …, czy macie chleb?",
		"مرحبا اسمي فاطمة علي، أين طلبي؟":                    "مرحبا اسمي …، أين طلبي؟",
		"你好，我叫王芳，请问几点开门？":                                    "你好，我叫…，请问几点开门？",
		"你好我叫王芳请问几点开门":                                       "你好我叫…请问几点开门",
		"我叫欧阳娜娜，要订蛋糕":                                        "我叫…，要订蛋糕",
		"我姓李想订一个蛋糕":                                          "我姓…想订一个蛋糕",
		"田中と申します。配達できますか？":                                   "…と申します。配達できますか？",
		"저는 김민수입니다. 배달되나요?":                                  "저는 …입니다. 배달되나요?",
		"Breng het naar Keizersgracht 12a of Dorpsstraat 5":  "Breng het naar … of …",
		"Proszę na ul. Długa 5/7, albo plac Jana Pawła II 3": "Proszę na …, albo …",
		"王芳的订单什么时候到？":                                        "…的订单什么时候到？",
		"Wij zijn open van 9 tot 18, de laan is lang":        "Wij zijn open van 9 tot 18, de laan is lang",
		"Jestem głodny, chleb kosztuje 5 złotych":            "Jestem głodny, chleb kosztuje 5 złotych",
		"我们九点开门，送货五元":                                        "我们九点开门，送货五元",
	} {
		require.Equal(t, want, MaskPersonalData(text, []string{"王芳"}), text)
	}
}
