package answers

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// exchange is a question with what a document and a person say, in which % stands for an entry of a table.
type exchange struct{ question, heading, quote, answer string }

// with returns an exchange with an entry in it.
func (x exchange) with(entry string) exchange {
	put := func(s string) string { return strings.ReplaceAll(s, "%", entry) }
	return exchange{put(x.question), put(x.heading), put(x.quote), put(x.answer)}
}

func (x exchange) contradicts() bool {
	return contradicts(x.question, source{x.heading, x.quote}, x.answer)
}

// Each entry of each table matters: with it an exchange is a contradiction, and without it not, or the other way round.
func TestContradictionWords_EachMatters(t *testing.T) { //nolint:paralleltest // it changes the tables
	for _, table := range []struct {
		name   string
		words  map[string]bool
		latin  exchange
		cyr    exchange
		isSeen bool // whether it is a contradiction with the entry
	}{
		{
			"yes", yesWords,
			exchange{"Do you deliver on Sundays?", "", "We do not deliver on Sundays.", "%, since May."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы не доставляем по воскресеньям.", "%, с мая."},
			true,
		},
		{
			"no", noWords,
			exchange{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "%, we stopped that."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы доставляем по воскресеньям.", "%, больше так."},
			true,
		},
		{
			"polite", politeWords,
			exchange{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "%, nope, we stopped that."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы доставляем по воскресеньям.", "%, nope, так."},
			true,
		},
		{
			"pronouns", pronouns,
			exchange{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "Nope % stopped."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы доставляем по воскресеньям.", "Nope % так."},
			true,
		},
		{
			"negations", negatingWords,
			exchange{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "We % deliver on Sundays."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы доставляем по воскресеньям.", "Мы % доставляем по воскресеньям."},
			true,
		},
		{
			"hedges", hedgeWords,
			exchange{"Do you deliver on Sundays?", "", "We deliver on Sundays %.", "No."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы доставляем по воскресеньям %.", "Нет."},
			false,
		},
		{
			"alternatives", alternativeWords,
			exchange{"Do you deliver % on Sundays?", "%", "We deliver on Sundays.", "No."},
			exchange{"Вы доставляете % по воскресеньям?", "%", "Мы доставляем по воскресеньям.", "Нет."},
			false,
		},
		{
			"questions", questionWords,
			exchange{"% do you deliver on Sundays?", "%", "We deliver on Sundays.", "No."},
			exchange{"% вы доставляете по воскресеньям?", "%", "Мы доставляем по воскресеньям.", "Нет."},
			false,
		},
		{
			"who", whoWords,
			exchange{
				"% repairs the violins for you?", "", "Carla repairs the violins in our house.",
				"Maria repairs the violins in our house.",
			},
			exchange{"% чинит скрипки?", "", "Карла чинит скрипки у нас.", "Мария чинит скрипки у нас."},
			true,
		},
		{
			"own", ownWords,
			exchange{"What does % order cost?", "", "An order costs 5 EUR.", "It is 7 EUR."},
			exchange{"Сколько стоит % заказ?", "", "Заказ стоит 5 EUR.", "7 EUR."},
			false,
		},
		{
			"also", alsoWords,
			exchange{"When do you deliver?", "", "We % deliver on Mondays.", "We % deliver on Fridays."},
			exchange{"Когда вы доставляете?", "", "Мы % доставляем понедельник.", "Мы % доставляем пятница."},
			false,
		},
		{
			"one-off", oneOffWords,
			exchange{"What does delivery cost?", "", "Delivery costs 5 EUR.", "It is 7 EUR, %."},
			exchange{"Сколько стоит доставка?", "", "Доставка стоит 5 EUR.", "7 EUR, %."},
			false,
		},
		{
			"fillers", fillerWords,
			exchange{"Do you deliver on Sundays?", "", "We do not deliver on Sundays.", "We deliver % on Sundays."},
			exchange{"Вы доставляете по воскресеньям?", "", "Мы не доставляем по воскресеньям.", "Мы доставляем % по воскресеньям."},
			true,
		},
		{
			"ranges", rangeWords,
			exchange{"Are you open on Tuesdays?", "", "We are open Monday % Wednesday.", "No, we are closed on Tuesdays."},
			exchange{"Вы открыты вторник?", "", "Мы открыты понедельник % среда.", "Нет, вторник закрыты."},
			true,
		},
	} {
		for _, entry := range slices.Sorted(maps.Keys(table.words)) {
			x := table.latin.with(entry)
			if strings.ContainsFunc(entry, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
				x = table.cyr.with(entry)
			}
			with := x.contradicts()
			delete(table.words, entry)
			without := x.contradicts()
			table.words[entry] = true
			if with != table.isSeen || without == table.isSeen {
				t.Errorf("%s: %q changes nothing: %v with it, %v without it: %+v", table.name, entry, with, without, x)
			}
		}
	}
	for name, table := range map[string]struct {
		entries map[string]string
		of      func(entry, meaning string) exchange
	}{
		"opposites": {opposites, func(entry, meaning string) exchange {
			return exchange{"Are we " + meaning + " on Mondays?", "", "We are " + entry + " on Mondays.", "Yes, we are " + meaning + " on Mondays."}
		}},
		"synonyms": {synonyms, func(entry, meaning string) exchange {
			return exchange{"Are we " + meaning + " on Mondays?", "", "We are not " + meaning + " on Mondays.", "We are " + entry + " on Mondays."}
		}},
		"days": {dayNames, func(entry, meaning string) exchange {
			other := "friday"
			if meaning == "day:5" {
				other = "monday"
			}
			return exchange{"When do you deliver?", "", "We deliver on " + entry + ".", "We deliver on " + other + "."}
		}},
	} {
		for _, entry := range slices.Sorted(maps.Keys(table.entries)) {
			meaning := table.entries[entry]
			x := table.of(entry, meaning)
			with := x.contradicts()
			delete(table.entries, entry)
			without := x.contradicts()
			table.entries[entry] = meaning
			if !with || without {
				t.Errorf("%s: %q changes nothing: %v with it, %v without it: %+v", name, entry, with, without, x)
			}
		}
	}
}
