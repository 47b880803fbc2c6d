package language

// numberWords lists the words for numbers by language, one number per line. A mark after a word limits where it counts as a number:
//
//	~  the word means something else in another language: only in a text of its own language, or before a price
//	?  the word is also an article or has another common meaning: only before a price or a month
//	!  like ?, and also before a unit of time
var numberWords = map[Language]string{
	English: `0 zero nought
1 one! first? single?
2 two twice double second?
3 three triple thrice third?
4 four fourth
5 five fifth fiver
6 six~ sixth
7 seven seventh
8 eight eighth
9 nine ninth
10 ten~ tenth tenner
11 eleven eleventh
12 twelve twelfth dozen
13 thirteen thirteenth
14 fourteen fourteenth
15 fifteen fifteenth
16 sixteen sixteenth
17 seventeen seventeenth
18 eighteen eighteenth
19 nineteen nineteenth
20 twenty twentieth
30 thirty thirtieth
40 forty fourty
50 fifty
60 sixty
70 seventy
80 eighty
90 ninety
100 hundred hundreds
1000 thousand thousands
1000000 million millions
1000000000 billion billions
0.5 half
0.25 quarter`,
	German: `0 null~
1 ein? eins eine? einen? einem? einer? eines? erste? ersten? erster?
2 zwei zwo zweite? zweiten? zweiter? doppelt doppelte doppelten
3 drei dritte? dritten? dritter? dreifach
4 vier
5 fünf fuenf
6 sechs
7 sieben siebte siebten siebter
8 acht achte achten? achter
9 neun
10 zehn
11 elf~
12 zwölf zwoelf dutzend
13 dreizehn
14 vierzehn
15 fünfzehn fuenfzehn
16 sechzehn
17 siebzehn
18 achtzehn
19 neunzehn
20 zwanzig
30 dreißig dreissig
40 vierzig
50 fünfzig fuenfzig
60 sechzig
70 siebzig
80 achtzig
90 neunzig
100 hundert
1000 tausend
1000000 million millionen
1000000000 milliarde milliarden
1.5 anderthalb eineinhalb
2.5 zweieinhalb
3.5 dreieinhalb
0.5 halb~ halbe halben halber halbes hälfte
0.25 viertel`,
	French: `0 zéro
1 un? une? premier? première?
2 deux double deuxième
3 trois triple troisième
4 quatre quatrième
5 cinq cinquième
6 six~ sixième
7 sept septième
8 huit huitième
9 neuf~ neuvième
10 dix~ dizaine
11 onze~
12 douze douzaine
13 treize
14 quatorze
15 quinze quinzaine
16 seize~
20 vingt vingts
30 trente trentaine
40 quarante
50 cinquante
60 soixante
70 septante
80 huitante octante
90 nonante
100 cent~ cents~ centaine
1000 mille~
1000000 million millions
1000000000 milliard milliards
0.5 demi demie moitié
0.25 quart~`,
	Spanish: `0 cero
1 un? una? uno? primero? primer?
2 dos~ doble
3 tres triple
4 cuatro
5 cinco
6 seis
7 siete
8 ocho
9 nueve
10 diez
11 once~
12 doce docena
13 trece
14 catorce
15 quince
16 dieciséis
17 diecisiete
18 dieciocho
19 diecinueve
20 veinte
21 veintiún veintiuno veintiuna
22 veintidós
23 veintitrés
24 veinticuatro
25 veinticinco
26 veintiséis
27 veintisiete
28 veintiocho
29 veintinueve
30 treinta
40 cuarenta
50 cincuenta
60 sesenta
70 setenta
80 ochenta
90 noventa
100 cien ciento
200 doscientos doscientas
300 trescientos trescientas
400 cuatrocientos cuatrocientas
500 quinientos quinientas
600 seiscientos seiscientas
700 setecientos setecientas
800 ochocientos ochocientas
900 novecientos novecientas
1000 mil~
1000000 millón millones
0.5 medio? media? mitad`,
	Portuguese: `0 zero
1 um? uma? primeiro?
2 dois duas dobro
3 três triplo
4 quatro
5 cinco
6 seis
7 sete
8 oito
9 nove
10 dez~
11 onze~
12 doze dúzia
13 treze
14 catorze quatorze
15 quinze
16 dezesseis dezasseis
17 dezessete dezassete
18 dezoito
19 dezenove dezanove
20 vinte
30 trinta
40 quarenta
50 cinquenta
60 sessenta
70 setenta
80 oitenta
90 noventa
100 cem cento
200 duzentos duzentas
300 trezentos trezentas
400 quatrocentos quatrocentas
500 quinhentos quinhentas
600 seiscentos seiscentas
700 setecentos setecentas
800 oitocentos oitocentas
900 novecentos novecentas
1000 mil~
1000000 milhão milhões
0.5 meio? meia? metade`,
	Italian: `0 zero
1 un? una? uno? primo?
2 due~ doppio
3 tre~ triplo
4 quattro
5 cinque
6 sei~
7 sette
8 otto
9 nove
10 dieci decina
11 undici
12 dodici dozzina
13 tredici
14 quattordici
15 quindici
16 sedici
17 diciassette
18 diciotto
19 diciannove
20 venti
21 ventuno ventun
28 ventotto
30 trenta
31 trentuno trentun
38 trentotto
40 quaranta
41 quarantuno quarantun
48 quarantotto
50 cinquanta
51 cinquantuno cinquantun
58 cinquantotto
60 sessanta
61 sessantuno sessantun
68 sessantotto
70 settanta
71 settantuno settantun
78 settantotto
80 ottanta
81 ottantuno ottantun
88 ottantotto
90 novanta
91 novantuno novantun
98 novantotto
100 cento centinaio
1000 mille~ mila~
1000000 milione milioni
0.5 mezzo? mezza? metà~`,
	Dutch: `0 nul~
1 een? één? eerste?
2 twee tweede? dubbel dubbele
3 drie derde?
4 vier vierde
5 vijf vijfde
6 zes zesde
7 zeven zevende
8 acht achtste
9 negen negende
10 tien tiende
11 elf~ elfde
12 twaalf twaalfde dozijn
13 dertien
14 veertien
15 vijftien
16 zestien
17 zeventien
18 achttien
19 negentien
20 twintig
30 dertig
40 veertig
50 vijftig
60 zestig
70 zeventig
80 tachtig
90 negentig
100 honderd
1000 duizend
1000000 miljoen
1.5 anderhalf anderhalve
0.5 half halve helft
0.25 kwart`,
	Russian: `0 ноль нуль нуля
1 один! одна! одно! одного! одной! одну! первое? первого?
2 два две двух двое второе? второго? двойной
3 три трёх трое третье? третьего? тройной
4 четыре четырёх четверо четвёртое четвёртого
5 пять пяти пятое пятого
6 шесть шести шестое шестого
7 семь семи седьмое седьмого
8 восемь восьми восьмое восьмого
9 девять девяти девятое девятого
10 десять десяти десятое десятого десяток
11 одиннадцать одиннадцати одиннадцатое одиннадцатого
12 двенадцать двенадцати двенадцатое двенадцатого дюжина
13 тринадцать тринадцати тринадцатое тринадцатого
14 четырнадцать четырнадцати четырнадцатое четырнадцатого
15 пятнадцать пятнадцати пятнадцатое пятнадцатого
16 шестнадцать шестнадцати шестнадцатое шестнадцатого
17 семнадцать семнадцати семнадцатое семнадцатого
18 восемнадцать восемнадцати восемнадцатое восемнадцатого
19 девятнадцать девятнадцати девятнадцатое девятнадцатого
20 двадцать двадцати двадцатое двадцатого
30 тридцать тридцати тридцатое тридцатого
40 сорок сорока
50 пятьдесят пятидесяти
60 шестьдесят шестидесяти
70 семьдесят семидесяти
80 восемьдесят восьмидесяти
90 девяносто девяноста
100 сто ста сотня
200 двести двухсот
300 триста трёхсот
400 четыреста четырёхсот
500 пятьсот пятисот
600 шестьсот шестисот
700 семьсот семисот
800 восемьсот восьмисот
900 девятьсот девятисот
1000 тысяча тысячи тысяч тысячу
1000000 миллион миллиона миллионов
1.5 полтора полторы
0.5 половина половину полчаса
0.25 четверть`,
	Arabic: `0 صفر
1 واحد! واحدة!
2 اثنان اثنين اثنتان اثنتين ضعف
3 ثلاثة ثلاث
4 أربعة أربع
5 خمسة خمس
6 ستة ست
7 سبعة سبع
8 ثمانية ثماني ثمان
9 تسعة تسع
10 عشرة عشر
20 عشرون عشرين
30 ثلاثون ثلاثين
40 أربعون أربعين
50 خمسون خمسين
60 ستون ستين
70 سبعون سبعين
80 ثمانون ثمانين
90 تسعون تسعين
100 مئة مائة
200 مئتان مئتين مائتان مائتين
1000 ألف آلاف
2000 ألفان ألفين
1000000 مليون
0.5 نصف
0.25 ربع`,
}

// Words that follow a price, a percentage or a day of a month, and words that follow a length of time.
const (
	priceWords = `euro euros eur cent cents dollar dollars usd bucks pound pounds gbp pence franc francs franken rappen chf peso pesos real reais lira lire rubel roubles rubles kroner kronen krona
percent prozent procent pourcent евро доллар доллара долларов рубль рубля рублей руб процент процента процентов يورو دولار درهم ريال جنيه بالمئة
january february march april may june july august september october november december januar jänner februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
januari februari maart mei augustus января февраля марта апреля мая июня июля августа сентября октября ноября декабря
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر`
	timeWords = `second seconds minute minutes hour hours day days week weeks month months year years night nights минуту минута час день неделю неделя месяц год ночь دقيقة ساعة يوم أسبوع شهر سنة ليلة`
)
