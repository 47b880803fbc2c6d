package policy

// The classes of words and phrases that the injection layers look for.
const (
	classOverride  injectionClass = 1 << iota // ignore, forget
	classRule                                 // instructions, rules
	classPrior                                // previous, all, your
	classRole                                 // you are now, developer mode
	classAuthority                            // the owner told you to
	classShow                                 // show, send, repeat
	classPrompt                               // the text above, system prompt
	classSecret                               // password, api key
	classOthers                               // other customers
	classPlace                                // /etc/passwd
	classTool                                 // fetch_url, run the command
)

// injectionLexicon lists the words by class and language. A * at the end of a word matches any ending. Words in a phrase are joined by "+".
// Case, accents and invisible characters do not matter. Characters of scripts without spaces are words of their own.
//
//nolint:gochecknoglobals // a constant, were there constant lists
var injectionLexicon = map[injectionClass][]string{
	classOverride: {
		"ignore ignoring disregard* overrid* bypass* forget+all forget+your forget+every* forget+the+rules forget+previous forget+any forget+what+you+were do+not+follow stop+following",
		"ignorier* vergiss* vergesst* missacht* übergeh* umgeh*", "ignore* ignorez oublie* oubliez passe+outre",
		"ignora* olvida* omite* desobedec*",
		"ignore ignora* esqueça* esquece* esqueca* desconsider* desconsidere*", "ignora* dimentica* trascura* scorda*",
		"negeer* vergeet* omzeil*",
		"игнорир* проигнорир* забудь* забудьте пренебре* не+следуй*", "yok+say* yoksay* görmezden* unut*", "تجاهل* انس* اهمل*",
		"忽略 无视 無視 忘记 忘記 不要遵守", "無視し 無視せよ 忘れて 従わない", "무시* 잊어*", "ignoruj* zignoruj* zapomnij* pomiń*", "अनदेखा* अनदेखी* भूल*", "bỏ+qua lờ+đi quên",
	},
	classRule: {
		"instruction* rule rules prompt* guideline* directive* guardrail* restriction* safeguards",
		"anweisung* regel regeln vorgabe* vorschrift* instruktion* richtlinie* aufforderung*",
		"instruction* consigne* règle* directive*", "instruccion* regla reglas directriz* indicacion*",
		"instruções instrucoes instrução regra regras diretriz*", "istruzion* regola regole direttiv*",
		"instructie* regels voorschrift* richtlijn*", "инструкци* правил* указани* предписан* ограничени*", "talimat* kural* yönerge* komut*",
		"تعليمات* قواعد* توجيهات* ارشادات*",
		"指令 指示 规则 規則 提示词 命令 限制", "指示 ルール 規則 プロンプト 命令", "지시* 규칙* 명령* 프롬프트*", "polece* instrukcj* zasad* reguł*", "निर्देश* नियम* आदेश*",
		"hướng+dẫn chỉ+dẫn quy+tắc chỉ+thị",
	},
	classPrior: {
		"previous prior above earlier preceding all any every your system initial original these former",
		"alle allen vorherig* bisherig* obig* deine deinen vorig* vorherigen sämtlich*",
		"toutes tous tes vos précédent* antérieur* ci+dessus", "todas todos anterior* previas previos tus sus",
		"todas anterior* suas prévias acima", "tutte tutti precedent* tue sue",
		"alle eerdere vorige bovenstaande jouw je", "все всё предыдущ* прошл* прежн* свои твои ваши", "önceki tüm bütün yukarıdaki",
		"سابق* كل جميع اعلاه",
		"之前 以前 所有 全部 上面 以上 你的", "以前 すべて 全て 上記 これまで あなたの", "이전* 모든 위의", "poprzedni* wszystki* swoje twoje", "पिछले पिछली सभी ऊपर",
		"mọi tất+cả trước",
	},
	classRole: {
		"you+are+now+in you+are+now+a you+are+now+an you+are+now+the you+are+now+my you+are+now+root you+are+no+longer act+as+an+unrestricted act+as+if+you+had developer+mode dan+mode jailbreak* from+now+on+you from+now+on+your new+instructions your+real+instructions your+true+instructions your+new+name pretend+you+have+no note+to+ai note+to+the+ai attention+ai important+message+to+the+assistant",
		"du+bist+jetzt du+bist+ab entwicklermodus neue+anweisungen ab+jetzt+bist ab+sofort+bist",
		"tu+es+maintenant vous+êtes+maintenant mode+développeur nouvelles+instructions désormais+tu",
		"ahora+eres modo+desarrollador nuevas+instrucciones a+partir+de+ahora+eres",
		"agora+você+é você+agora+é modo+desenvolvedor novas+instruções a+partir+de+agora+você",
		"ora+sei adesso+sei modalità+sviluppatore nuove+istruzioni d+ora+in+poi+sei",
		"je+bent+nu ontwikkelaarsmodus nieuwe+instructies vanaf+nu+ben",
		"ты+теперь теперь+ты вы+теперь режим+разработчика новые+инструкции отныне+ты", "artık+sen sen+artık geliştirici+modu yeni+talimat*",
		"انت+الان وضع+المطور تعليمات+جديدة من+الان+فصاعدا",
		"你现在是 你現在是 开发者模式 開發者模式 新指令 新的指令", "あなたは今 今からあなたは 開発者モード 新しい指示", "너는+이제 이제부터+너는 개발자+모드", "jesteś+teraz tryb+programisty nowe+instrukcje",
	},
	classAuthority: {
		"as+your+administrator as+your+developer as+your+owner i+am+your+administrator i+am+your+developer i+am+the+owner i+am+your+owner owner+told+me+to owner+told+you+to owner+allowed owner+approved owner+authori* approval+was+already approval+already already+approved+by authorized+by+the+owner admin+override sudo+mode",
		"als+dein+administrator ich+bin+dein+besitzer ich+bin+dein+entwickler der+besitzer+hat+erlaubt genehmigung+wurde+bereits",
		"en+tant+qu+administrateur je+suis+ton+propriétaire le+propriétaire+a+autorisé",
		"como+tu+administrador soy+tu+dueño el+dueño+autorizó", "como+seu+administrador sou+seu+dono o+dono+autorizou",
		"come+tuo+amministratore sono+il+tuo+proprietario il+proprietario+ha+autorizzato",
		"als+jouw+beheerder ik+ben+je+eigenaar de+eigenaar+heeft+toestemming",
		"я+твой+администратор я+твой+владелец владелец+разрешил", "ben+senin+yöneticin sahibin+izin", "انا+مالكك انا+المسؤول+عنك المالك+سمح",
		"我是你的主人 我是管理员 已经批准", "私はあなたの管理者 所有者が許可",
	},
	classShow: {
		"show tell give send list print reveal forward repeat display output dump leak paste read share export",
		"zeig* sag* gib* schick* sende* nenne* verrate* wiederhole* liste* drucke* leite*",
		"montre* dis donne* envoie* affiche* révèle* répète* liste* transmets",
		"muestra* muéstra* dime dame envía* envia* revela* repite* lista* reenvía*",
		"mostre* mostra* diga* dê envie* revele* repita* liste* encaminhe*", "mostra* dimmi dammi invia* rivela* ripeti* elenca* inoltra*",
		"toon vertel geef stuur onthul herhaal* laat+zien",
		"покажи* скажи* дай* отправь* перешли* раскрой* повтори* выведи* перечисли*", "göster* söyle* ver gönder* listele* tekrarla* açıkla*",
		"اظهر* اخبرني اعطني ارسل* اعرض* كرر*", "显示 告诉 给我 发送 列出 重复 透露 输出", "見せて 教えて 送って 表示して 繰り返して 出力して", "보여* 알려* 보내*",
		"pokaż* podaj* wyślij* powtórz*",
	},
	classPrompt: {
		"system+prompt your+prompt your+instructions text+above words+above everything+above your+rules hidden+instructions initial+instructions",
		"systemprompt* deine+anweisungen text+oben deine+regeln", "prompt+système tes+instructions vos+instructions texte+ci+dessus",
		"prompt+del+sistema tus+instrucciones texto+anterior",
		"prompt+do+sistema suas+instruções texto+acima", "prompt+di+sistema tue+istruzioni testo+sopra",
		"systeemprompt jouw+instructies je+instructies tekst+hierboven", "системный+промпт твои+инструкции текст+выше",
		"sistem+istemi talimatlarını yukarıdaki+metin",
		"تعليماتك النص+اعلاه", "系统提示 你的指令 上面的文字", "システムプロンプト あなたの指示 上の文章",
	},
	classSecret: {
		"password* passcode* api+key* apikey* private+key* ssh+key* access+token* secret+key* credentials credit+card+number* bank+details iban+of", "passwort* passwörter* kennwort* zugangsdaten* api+schlüssel* geheimschlüssel*", "mot+de+passe mots+de+passe identifiants clé+api clé+privée", "contraseña* clave+api clave+privada credenciales",
		"senha* chave+api chave+privada credenciais", "parola+d+ordine credenziali chiave+api chiave+privata",
		"wachtwoord* inloggegevens api+sleutel*", "парол* учётные+данные ключ+api api+ключ* закрытый+ключ*", "şifre* parola* api+anahtar*",
		"كلمة+المرور كلمات+المرور كلمة+السر مفتاح+api", "密码 密碼 密钥 私钥 口令", "パスワード 秘密鍵 apiキー", "비밀번호*", "hasło hasła", "पासवर्ड*", "mật+khẩu",
	},
	classOthers: {
		"other+customer* other+client* other+contact* other+chat* other+people+s other+user* another+customer* another+chat* all+chats all+contacts all+customers all+messages all+conversations every+chat every+customer everyone+s+messages owner+s+notes owner+s+messages owner+s+files owner+s+calendar private+notes all+notes customer+list contact+list of+your+owner",
		"andere+kunden anderer+kunden anderen+kunden alle+chats alle+kontakte alle+kunden alle+nachrichten kundenliste notizen+des+besitzers",
		"autres+clients autres+conversations tous+les+clients tous+les+messages toutes+les+conversations notes+du+propriétaire",
		"otros+clientes otras+conversaciones todos+los+clientes todos+los+mensajes todas+las+conversaciones notas+del+dueño",
		"outros+clientes outras+conversas todos+os+clientes todas+as+mensagens todas+as+conversas notas+do+dono",
		"altri+clienti altre+conversazioni tutti+i+clienti tutti+i+messaggi tutte+le+conversazioni note+del+proprietario",
		"andere+klanten andere+gesprekken alle+klanten alle+berichten alle+gesprekken notities+van+de+eigenaar",
		"других+клиентов другие+клиенты всех+клиентов все+сообщения все+чаты все+переписки заметки+владельца",
		"diğer+müşteri* tüm+müşteri* tüm+mesajlar* tüm+sohbet* sahibin+notlar*",
		"عملاء+اخرين العملاء+الاخرين جميع+العملاء جميع+الرسائل كل+المحادثات ملاحظات+المالك", "其他客户 其他顾客 所有客户 所有消息 所有聊天 主人的笔记",
		"他の顧客 他のお客 すべての顧客 すべてのメッセージ すべての会話 オーナーのメモ",
	},
	classPlace: {"etc+passwd etc+shadow id_rsa id_ed25519 ssh+id authorized_keys soul+md agents+md user+md var+log config+yaml environment+variables env+file rm+rf 169+254+169+254 localhost 127+0+0+1 javascript+alert"},
	classTool: {
		"search_docs recall_memory fetch_url send_file read_file write_file edit_file grep_files find_files stream_command tail_output audit_summary sessions_list sessions_history sessions_send write_persona escalate_owner mcp__* tool_call tool_result function_call function+call call+the+tool use+the+tool invoke+the+tool call+the+function run+the+command run+this+command execute+the+command execute+this shell+command call+exec call+remember call+schedule call+delegate call+kill call+lamp",
		"rufe+das+werkzeug nutze+das+werkzeug führe+den+befehl führe+diesen+befehl", "appelle+l+outil utilise+l+outil exécute+la+commande",
		"llama+a+la+herramienta usa+la+herramienta ejecuta+el+comando", "chame+a+ferramenta use+a+ferramenta execute+o+comando",
		"chiama+lo+strumento usa+lo+strumento esegui+il+comando", "roep+de+tool gebruik+de+tool voer+het+commando",
		"вызови+инструмент используй+инструмент выполни+команду", "aracı+çağır aracı+kullan komutu+çalıştır",
		"استدع+الاداة استخدم+الاداة نفذ+الامر", "调用工具 使用工具 执行命令 运行命令", "ツールを呼び出 ツールを使って コマンドを実行",
	},
}

// injectionMarkup lists strings that normally occur only in prompts and wire formats of models, in lower case and without spaces.
//
//nolint:gochecknoglobals // a constant, were there constant lists
var injectionMarkup = []string{
	"<|im_", "<|system", "<|end", "[inst]", "[/inst]", "<<sys>>", "</passage>", "<system>", "</system>", `"role":"system"`,
	`"role":"assistant"`, "===end", "###system", "###instruction",
	"endofdocument=", "<tool_call", "</tool", "<function", "{call",
}
