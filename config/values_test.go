package config

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoney_IsExact(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		micros  Money
		printed string
	}{
		"0":                   {0, "0.00"},
		"2":                   {2_000_000, "2.00"},
		"2.5":                 {2_500_000, "2.50"},
		"0.15":                {150_000, "0.15"},
		"0.1":                 {100_000, "0.10"},
		"0.075":               {75_000, "0.075"},
		"0.000001":            {1, "0.000001"},
		"007.10":              {7_100_000, "7.10"},
		"999999999999.999999": {999_999_999_999_999_999, "999999999999.999999"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseMoney(text)
			require.NoError(t, err)
			require.Equal(t, c.micros, got)
			require.Equal(t, c.printed, got.String())
		})
	}
	for _, text := range []string{
		"", ".5", "5.", "-1", "+1", "1e3", "1,50", "2 EUR", " 2", "0.0000001", "1000000000000", "0x10", "NaN",
		"1_000", "٢",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := ParseMoney(text)
			require.ErrorContains(t, err, "is not an amount of money", text)
		})
	}
	require.Equal(t, "-0.50", Money(-500_000).String())
	require.Equal(t, "-9223372036854.775808", Money(math.MinInt64).String())
}

func TestOpsListen_IsOfThisMachineOnly(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:29400", "localhost:29400", "[::1]:29400"} {
		_, err := localAddress(address)
		require.NoError(t, err, address)
	}
	for _, address := range []string{
		"0.0.0.0:29400", ":29400", "192.0.2.1:29400", "example.com:29400", "127.0.0.1", "127.0.0.1:0",
		"127.0.0.1:70000",
	} {
		_, err := localAddress(address)
		require.ErrorContains(t, err, "is not an address of this machine only; write 127.0.0.1 and a port, such as 127.0.0.1:29400", address)
	}
	host, port := Ops{Listen: "[::1]:29400"}.Address()
	require.Equal(t, "::1", host)
	require.Equal(t, 29400, port)
	_, port = Ops{}.Address()
	require.Zero(t, port)
}

func TestOpsWeb_IsEncryptedOrOfThisMachine(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://multis.example.com":      "https://multis.example.com",
		"https://Multis.Example.com:444/": "https://multis.example.com:444",
		"http://127.0.0.1:29400":          "http://127.0.0.1:29400",
		"http://[::1]:29400":              "http://[::1]:29400",
		"http://localhost:29400":          "http://localhost:29400",
	} {
		got, err := pageAddress(address)
		require.NoError(t, err, address)
		require.Equal(t, want, got)
	}
	for address, want := range map[string]string{
		"multis.example.com":                 "is not a web address",
		"ftp://multis.example.com":           "is not a web address",
		"https://":                           "is not a web address",
		"https://multis.example.com/page":    "has more than scheme, host and port in it",
		"https://you:secret@multis.example":  "has more than scheme, host and port in it",
		"https://multis.example.com?a=b":     "has more than scheme, host and port in it",
		"http://multis.example.com":          "is not encrypted",
		"http://192.0.2.1:29400":             "is not encrypted",
		"http://127.0.0.1.example.com:29400": "is not encrypted",
	} {
		_, err := pageAddress(address)
		require.ErrorContains(t, err, want, address)
	}
}

func TestOpsWeb_NeedsListener(t *testing.T) {
	t.Parallel()
	_, err := Parse("config.yaml", []byte(least+"ops: {web: \"https://multis.example.com\"}\n"), noEnv)
	require.ErrorContains(t, err, "ops.web: is set, but ops.listen is empty; write where the page listens there, such as 127.0.0.1:29400")
}

func TestSuggest_SkipsLongNames(t *testing.T) {
	t.Parallel()
	r := &reader{fieldOrder: []string{"owner"}}
	require.Equal(t, "known here: owner", r.suggest("", strings.Repeat("x", 1_000_000)))
	require.Equal(t, `did you mean "owner"?`, r.suggest("", "owenr"))
}

func FuzzMoney(f *testing.F) {
	for _, seed := range []string{"2.00", "0.000001", "999999999999.999999", "-1", "1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMoney(text)
		if err != nil {
			return
		}
		again, err := ParseMoney(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
	})
}

func TestPath_RejectsImpossible(t *testing.T) {
	t.Parallel()
	for _, path := range []string{strings.Repeat("n", 256), "/srv/" + strings.Repeat("name/", 2000)} {
		t.Run(path, func(t *testing.T) {
			_, err := filePath(path)
			require.ErrorContains(t, err, "is longer than a path can be")
		})
	}
	_, err := filePath("/srv/" + strings.Repeat("n", 255))
	require.NoError(t, err)
}

func TestMatrixID_RejectsInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"@an\u200bna:example.org", "@anna\u202e:example.org", "@anna:exam\u00adple.org"} {
		t.Run(id, func(t *testing.T) {
			_, err := userID(id)
			require.ErrorContains(t, err, "has characters that do not show; write it without them")
			require.NotContains(t, err.Error(), id, "it is printed with the characters written out")
			_, err = roomID("!" + id[1:])
			require.ErrorContains(t, err, "has characters that do not show")
		})
	}
	_, err := userID("@anna:example.org")
	require.NoError(t, err)
}

func TestTimeZone_EmptyIsNamed(t *testing.T) {
	t.Parallel()
	_, err := timeZone("")
	require.EqualError(t, err, "is empty; write the IANA name of a time zone, such as Europe/Berlin or UTC")
}

func TestName_RejectsMixedAlphabets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Nora", "Renée", "Нора", "Νόρα", "Nora Помощник", "Nora-Нора", "ノラ Nora", "ノラ2号", "نورا", "Նորա"} {
		t.Run(name, func(t *testing.T) {
			_, err := assistantName(name)
			require.NoError(t, err, name)
		})
	}
	for _, name := range []string{"Nоra", "Нopa", "Nοra", "Аnna Smith", "Rеnée", "Ꭱora"} {
		t.Run(name, func(t *testing.T) {
			_, err := assistantName(name)
			require.ErrorContains(t, err, "letters in one word", name)
		})
	}
}
