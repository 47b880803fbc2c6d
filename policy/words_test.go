package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWithoutName(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"Nora", "Nora, what does it cost?", "what does it cost?"},
		{"Nora", "What does it cost, @NORA?", "What does it cost,"},
		{"Nora", "Noras, Nora-Lena and Honora came", "Noras, Nora-Lena and Honora came"},
		{"Nora Lee", "nora  lee: and Nora?", "and Nora?"},
		{"Zoë", "ZOË! price?", "price?"},
		{"Nora", "Nora?", "Nora?"},
		{"", "price?", "price?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, WithoutName(tt.name, tt.text), "%q without %q", tt.text, tt.name)
		})
	}
}

func TestAddressed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       bool
	}{
		{"Nora", "Nora, when do you open?", true},
		{"Nora", "hey NORA!", true},
		{"nora", "@Nora: price?", true},
		{"Nora", "Nora's list, please", true},
		{"Nora", "ask nora.", true},
		{"Nora", "no\u00adra?", true},
		{"Nora", "Honora", false},
		{"Nora", "Noras", false},
		{"Nora", "Nora2", false},
		{"Nora", "Nora-Lena came", false},
		{"Nora", "Anna-Nora came", false},
		{"Nora", "write to nora@example.com", false},
		{"Nora", "see info.nora.example", false},
		{"Nora", "when do you open?", false},
		{"Nora", "Nick, when do you open?", false},
		{"Nora", "a-nora came", false},
		{"Nora", "/nora price", true},
		{"Nora", "Nora-Lena and Nora came", true},
		{"Dr. Bot", "thanks dr.  BOT, what else?", true},
		{"Zoë", "ZOË?", true},
		{"Ἀθηνᾶς", "ἈΘΗΝᾶΣ!", true},
		{"Юля", "юля, привет", true},
		{"Юля", "июля", false},
		{"نورة", "يا نورة كم السعر", true},
		{"小美", "小美你好", true},
		{"Nora", "Nora你好", true},
		{"", "anything", false},
		{" ", "a b", false},
		{"Nora", "", false},
		{"?", "is it?", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, MentionsName(test.name, test.text), "%q in %q", test.name, test.text)
		})
	}
}

func TestFindKeyword(t *testing.T) {
	t.Parallel()
	keywords := []string{"", "refund", "money back", "Rückerstattung", "退款", "$$$"}
	tests := []struct {
		text string
		want string
	}{
		{"I want a Refund!", "refund"},
		{"refund-request", "refund"},
		{"re\u200bfund", "refund"},
		{"my money\n  back", "money back"},
		{"RÜCKERSTATTUNG bitte", "Rückerstattung"},
		{"我要退款谢谢", "退款"},
		{"$$$", "$$$"},
		{"refunds", ""},
		{"prefund", ""},
		{"money is back", ""},
		{"", ""},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			keyword, found := FindKeyword(keywords, test.text)
			require.Equal(t, test.want, keyword, test.text)
			require.Equal(t, test.want != "", found, test.text)
		})
	}
}

func TestIsCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want bool
	}{
		{"!wa login", true},
		{"!Ж", true},
		{" \t\n!wa", true},
		{"\ufeff!wa", true},
		{"!", false},
		{"! hello", false},
		{"!!", false},
		{"!1", false},
		{"wow!nice", false},
		{"[Nora] !wa", false},
		{"", false},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			require.Equal(t, test.want, IsBridgeCommand(test.text), "%q", test.text)
		})
	}
}

func FuzzWords(f *testing.F) {
	f.Add("Nora", "hey NORA!")
	f.Add("Dr. Bot", "dr.  bot")
	f.Add("\xff", "a\xff\x00b")
	f.Add("ς", "Σ σ")
	f.Fuzz(func(t *testing.T, name, text string) {
		if MentionsName(name, text) {
			_, found := FindKeyword([]string{name}, text)
			require.True(t, found, "who is addressed is also named")
			require.NotEmpty(t, fold(name))
		}
		require.False(t, MentionsName("", text))
		if strings.HasPrefix(text, "!w") {
			require.True(t, IsBridgeCommand(text))
		}
		folded := fold(text)
		require.Equal(t, folded, fold(string(folded)), "folding twice is folding once")
		if IsBridgeCommand(text) {
			require.True(t, IsBridgeCommand(" \u200b"+text))
		}
		if len(fold(name)) > 0 && utf8.ValidString(name) {
			_, found := FindKeyword([]string{name}, "so "+name+" it is")
			require.True(t, found)
		}
	})
}
