package pin

import (
	"strings"
	"testing"
)

func noCommand(string) bool { return false }

// FuzzForm checks that a PIN is seen wherever it stands: nothing invisible, no space and no other digits hide it.
func FuzzForm(f *testing.F) {
	for _, s := range []string{
		"482917", "48 29", "\u202e4829\u202c", "pin 4829", "/pin 4829", "my pin is 4829", "٤٨٢٩",
		"what did 3 people say?", "4\u200b8\u20602\ufeff9", "рin 4829", "4\u31648\u31642\u31649", "46\u115f39", "\uffa04829",
	} {
		f.Add(s, uint(3))
	}
	f.Add(strings.Repeat("0", 58)+"\xe9\xcdA", uint(99))
	f.Fuzz(func(t *testing.T, s string, at uint) {
		s = strings.ToValidUTF8(s, "\uFFFD") // as all text of Matrix is
		form := formOf(s, noCommand)
		if isPIN(strings.TrimSpace(s)) && form != formPIN {
			t.Fatalf("%q is a PIN and has the form %d", s, form)
		}
		if form == formOther {
			return
		}
		runes := []rune(s)
		i := int(at % uint(len(runes)+1))
		for _, hidden := range []string{
			"\u200b", "\u202e", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u115f", "\uffa0", "\u034f", "\ufe0f",
			"\u0301",
		} {
			hiding := string(runes[:i]) + hidden + string(runes[i:])
			if formOf(hiding, noCommand) == formOther {
				t.Fatalf("%q is seen, and %q is not", s, hiding)
			}
			if form == formPIN && formOf(hiding, noCommand) < formLikely {
				t.Fatalf("%q has a PIN that nobody asked for, and stays", hiding)
			}
		}
		if strings.ContainsAny(s, "/!／！") && isPINCommand(visible(s)) && form != formCommand {
			t.Fatalf("%q is /pin with digits", s)
		}
	})
}
