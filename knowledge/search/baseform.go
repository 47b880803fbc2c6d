package search

// baseForm returns the base form of English words that the stemmer of Postgres does not unify: irregular verbs and nouns, a
// few nouns with the meaning of their verb, and abbreviated days. Other words are returned unchanged.
func baseForm(word string) string { //nolint:funlen // a table
	switch word {
	case "am", "are", "is", "was", "were", "been", "being":
		return "be"
	case "arose", "arisen":
		return "arise"
	case "ate", "eaten":
		return "eat"
	case "awoke", "awoken", "woke", "woken":
		return "wake"
	case "beaten":
		return "beat"
	case "became":
		return "become"
	case "began", "begun":
		return "begin"
	case "bent":
		return "bend"
	case "bitten", "bit":
		return "bite"
	case "blew", "blown":
		return "blow"
	case "bought":
		return "buy"
	case "bore", "borne":
		return "bear"
	case "bound":
		return "bind"
	case "bred":
		return "breed"
	case "broke", "broken":
		return "break"
	case "brought":
		return "bring"
	case "built":
		return "build"
	case "burnt":
		return "burn"
	case "came":
		return "come"
	case "caught":
		return "catch"
	case "chose", "chosen":
		return "choose"
	case "clung":
		return "cling"
	case "crept":
		return "creep"
	case "dealt":
		return "deal"
	case "did", "done", "does":
		return "do"
	case "drank", "drunk":
		return "drink"
	case "drawn", "drew":
		return "draw"
	case "dreamt":
		return "dream"
	case "driven", "drove":
		return "drive"
	case "dug":
		return "dig"
	case "fallen", "fell":
		return "fall"
	case "fed":
		return "feed"
	case "felt":
		return "feel"
	case "fled":
		return "flee"
	case "flew", "flown":
		return "fly"
	case "forbade", "forbidden":
		return "forbid"
	case "forgave", "forgiven":
		return "forgive"
	case "forgot", "forgotten":
		return "forget"
	case "fought":
		return "fight"
	case "found":
		return "find"
	case "froze", "frozen":
		return "freeze"
	case "gave", "given":
		return "give"
	case "gone", "went":
		return "go"
	case "got", "gotten":
		return "get"
	case "grew", "grown":
		return "grow"
	case "had", "has":
		return "have"
	case "heard":
		return "hear"
	case "held":
		return "hold"
	case "hid", "hidden":
		return "hide"
	case "hung":
		return "hang"
	case "kept":
		return "keep"
	case "knelt":
		return "kneel"
	case "knew", "known":
		return "know"
	case "laid":
		return "lay"
	case "leant":
		return "lean"
	case "leapt":
		return "leap"
	case "learnt":
		return "learn"
	case "led":
		return "lead"
	case "left":
		return "leave"
	case "lent":
		return "lend"
	case "lit":
		return "light"
	case "lost":
		return "lose"
	case "made":
		return "make"
	case "meant":
		return "mean"
	case "met":
		return "meet"
	case "paid", "payment", "payments":
		return "pay"
	case "proven":
		return "prove"
	case "ran":
		return "run"
	case "rang", "rung":
		return "ring"
	case "ridden", "rode":
		return "ride"
	case "risen", "rose":
		return "rise"
	case "said":
		return "say"
	case "sang", "sung":
		return "sing"
	case "sank", "sunk":
		return "sink"
	case "saw", "seen":
		return "see"
	case "sent":
		return "send"
	case "sewn":
		return "sew"
	case "shaken", "shook":
		return "shake"
	case "shone":
		return "shine"
	case "shot":
		return "shoot"
	case "shown":
		return "show"
	case "shrank", "shrunk":
		return "shrink"
	case "slept":
		return "sleep"
	case "slid":
		return "slide"
	case "smelt":
		return "smell"
	case "sold":
		return "sell"
	case "sought":
		return "seek"
	case "spelt":
		return "spell"
	case "spent":
		return "spend"
	case "spilt":
		return "spill"
	case "spoke", "spoken":
		return "speak"
	case "spun":
		return "spin"
	case "stole", "stolen":
		return "steal"
	case "stood":
		return "stand"
	case "struck":
		return "strike"
	case "stuck":
		return "stick"
	case "stung":
		return "sting"
	case "swam", "swum":
		return "swim"
	case "swept":
		return "sweep"
	case "swore", "sworn":
		return "swear"
	case "swung":
		return "swing"
	case "taken", "took":
		return "take"
	case "taught":
		return "teach"
	case "tore", "torn":
		return "tear"
	case "told":
		return "tell"
	case "thought":
		return "think"
	case "threw", "thrown":
		return "throw"
	case "understood":
		return "understand"
	case "wept":
		return "weep"
	case "won":
		return "win"
	case "wore", "worn":
		return "wear"
	case "wound":
		return "wind"
	case "written", "wrote":
		return "write"
	case "children":
		return "child"
	case "men":
		return "man"
	case "women":
		return "woman"
	case "feet":
		return "foot"
	case "teeth":
		return "tooth"
	case "mice":
		return "mouse"
	case "geese":
		return "goose"
	case "people":
		return "person"
	case "wives":
		return "wife"
	case "knives":
		return "knife"
	case "shelves":
		return "shelf"
	case "halves":
		return "half"
	case "wolves":
		return "wolf"
	case "loaves":
		return "loaf"
	case "thieves":
		return "thief"
	case "better", "best":
		return "good"
	case "worse", "worst":
		return "bad"
	case "delivery", "deliveries":
		return "deliver"
	case "shipment", "shipments":
		return "ship"
	case "recovery", "recoveries":
		return "recover"
	case "rental", "rentals":
		return "rent"
	case "departure", "departures":
		return "depart"
	case "mon":
		return "monday"
	case "tue", "tues":
		return "tuesday"
	case "wed":
		return "wednesday"
	case "thu", "thur", "thurs":
		return "thursday"
	case "fri":
		return "friday"
	case "sat":
		return "saturday"
	case "sun":
		return "sunday"
	default:
		return word
	}
}
