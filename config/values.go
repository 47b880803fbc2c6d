package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"multis/internal/plainfile"
	"multis/internal/text"
)

// The parsers below convert a text to a value. Their errors say what is wrong and what to write. They quote at most 60
// characters of the text, and nothing if it may be a secret.

func textUpTo(limit int) func(string) (string, error) {
	return func(s string) (string, error) {
		if n := utf8.RuneCountInString(s); n > limit {
			return "", fmt.Errorf("is %d characters long; write at most %d", n, limit)
		}
		if strings.TrimSpace(s) == "" {
			return "", errors.New("is empty; write a text, or leave the key out")
		}
		return s, nil
	}
}

func lineOf(minLen, maxLen int) func(string) (string, error) {
	return func(s string) (string, error) {
		if n := utf8.RuneCountInString(s); n < minLen || n > maxLen {
			return "", fmt.Errorf("is %s long; write %d to %d characters", text.Count(n, "character"), minLen, maxLen)
		}
		if strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
			return "", errors.New("has line breaks, control characters or spaces around it; write one plain line")
		}
		if text.Clean(s) != s {
			return "", errors.New("has invisible characters or marks of the writing direction; write it without them")
		}
		return s, nil
	}
}

// assistantName parses a name without brackets, because replies begin with "[Nora]". It must contain a letter, because
// messages address the assistant by it.
func assistantName(s string) (string, error) {
	if strings.ContainsAny(s, "[]") || !strings.ContainsFunc(s, unicode.IsLetter) {
		return "", fmt.Errorf("%.60q is not a name; write letters, without brackets, such as Nora", s)
	}
	if err := checkAlphabets(s); err != nil {
		return "", err
	}
	return lineOf(2, 100)(s)
}

// lookalikes are the alphabets that have letters that look the same.
var lookalikes = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Latin", unicode.Latin},
	{"Cyrillic", unicode.Cyrillic},
	{"Greek", unicode.Greek},
	{"Armenian", unicode.Armenian},
	{"Cherokee", unicode.Cherokee},
}

// checkAlphabets returns an error if a word mixes letters of lookalikes: it would look like another word, and nobody could type it.
func checkAlphabets(s string) error {
	first := ""
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			first = ""
			continue
		}
		for _, alphabet := range lookalikes {
			switch {
			case !unicode.Is(alphabet.table, r):
			case first == "":
				first = alphabet.name
			case first != alphabet.name:
				return fmt.Errorf("%.60q mixes %s and %s letters in one word (%c is %s), so nobody could type it; write each word in one alphabet", s,
					first, alphabet.name, r, alphabet.name)
			}
		}
	}
	return nil
}

var wordPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func word(s string) (string, error) {
	if len(s) > 100 || !wordPattern.MatchString(s) {
		return "", fmt.Errorf("%.60q is not a plain word; write small letters, digits, dot, dash or underscore", s)
	}
	return s, nil
}

func oneOf[T ~string](allowed ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		if slices.Contains(allowed, T(s)) {
			return T(s), nil
		}
		names := make([]string, len(allowed))
		for i, name := range allowed {
			names[i] = string(name)
		}
		return "", fmt.Errorf("%.60q is not known here; write one of: %s", s, strings.Join(names, ", "))
	}
}

// optional returns parse extended so that it accepts an empty text.
func optional[T ~string](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		if s == "" {
			return "", nil
		}
		return parse(s)
	}
}

func boolean(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%.60q is neither true nor false; write one of these", s)
}

func between(minValue, maxValue int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < minValue || n > maxValue {
			return 0, fmt.Errorf("%.60q is not possible here; write a whole number from %d to %d", s, minValue, maxValue)
		}
		return n, nil
	}
}

func minutes(s string) (time.Duration, error) {
	const week = 7 * 24 * 60
	n, err := between(0, week)(s)
	return time.Duration(n) * time.Minute, err
}

func positive(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%.60q is not a length of time; write it like 30s, 10m or 1h30m", s)
	}
	return d, nil
}

// timeBetween parses a duration between two others.
func timeBetween(least, most time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := positive(s)
		if err == nil && (d < least || d > most) {
			err = fmt.Errorf("%.60q is not possible here; write a time from %s to %s", s, text.Duration(least), text.Duration(most))
		}
		return d, err
	}
}

// orOff parses a duration, or "off" as zero.
func orOff(parse func(string) (time.Duration, error)) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		if s == "off" || s == "false" { // YAML reads off without quotation marks as false
			return 0, nil
		}
		d, err := parse(s)
		if err != nil {
			err = fmt.Errorf("%w, or off", err)
		}
		return d, err
	}
}

// durationUpTo returns a parser of a positive duration that is not longer than limit.
func durationUpTo(limit time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := positive(s)
		if err == nil && d > limit {
			return 0, fmt.Errorf("%.60q is too long; write at most %s", s, limit)
		}
		return d, err
	}
}

// toolPattern parses a tool name or a pattern. It rejects patterns that can match no tool, because in a deny list they would
// forbid nothing.
func toolPattern(s string) (string, error) {
	if _, err := path.Match(s, ""); err != nil || len(s) > 64 || !toolPatternChars.MatchString(s) {
		return "", fmt.Errorf(`%.60q is not a tool name or pattern; write a name such as fetch_url, or a pattern such as "github__get_*"`, s)
	}
	return s, nil
}

// toolPatternChars matches the characters of tool names and of path.Match patterns.
var toolPatternChars = regexp.MustCompile(`^[a-zA-Z0-9_*?^\[\]-]+$`)

func timeZone(s string) (*time.Location, error) {
	if s == "" {
		return nil, errors.New("is empty; write the IANA name of a time zone, such as Europe/Berlin or UTC")
	}
	// "Local" means something else on every machine.
	if s != "Local" {
		if zone, err := time.LoadLocation(s); err == nil {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("%.60q is not a time zone; write an IANA name such as Europe/Berlin or UTC", s)
}

// checkVisible returns an error if an id has characters that do not show: it would look like another id.
func checkVisible(s string) error {
	if text.Clean(s) != s {
		return fmt.Errorf("%.60q has characters that do not show; write it without them", s)
	}
	return nil
}

func filePath(s string) (string, error) {
	if s == "" || strings.ContainsRune(s, 0) {
		return "", errors.New("is not a path; write one, absolute or relative")
	}
	const maxPath, maxName = 4000, 255 // in bytes; Linux allows 4095 and 255, and multis appends names of files to paths
	isLong := func(name string) bool { return len(name) > maxName }
	if len(s) > maxPath || slices.ContainsFunc(strings.Split(s, "/"), isLong) {
		return "", fmt.Errorf("is longer than a path can be; write at most %d bytes, and %d for each name in it", maxPath, maxName)
	}
	return s, nil
}

// modelOrStrategy parses NoModel, "provider/name" or the name of a strategy.
func modelOrStrategy(s string) (string, error) {
	if s == NoModel || new(Strategies).byName(s) != nil {
		return s, nil
	}
	if _, err := providerModel(s); err != nil {
		return "", fmt.Errorf("%.60q is not a model; write none, PROVIDER/NAME such as anthropic/claude-haiku-4-5, or a strategy such as %s", s,
			CheapFirst)
	}
	return s, nil
}

// judgeModel parses AgentModel, or what modelOrStrategy parses.
func judgeModel(s string) (string, error) {
	if s == AgentModel {
		return s, nil
	}
	if _, err := modelOrStrategy(s); err != nil {
		return "", fmt.Errorf("%.60q is not a model; write agent for the model that answers, none, PROVIDER/NAME, or a strategy such as %s", s,
			CheapFirst)
	}
	return s, nil
}

// ollamaPrefix is the prefix of Ollama's model names.
const ollamaPrefix = "ollama/"

func embeddingModel(s string) (string, error) {
	if s == NoModel {
		return s, nil
	}
	provider, model, _ := strings.Cut(s, "/")
	if provider+"/" != ollamaPrefix && provider != "openai" || model == "" || hasSpace(s) {
		return "", fmt.Errorf("%.60q is not a model; write none, openai/NAME for any OpenAI-compatible server, or ollama/NAME", s)
	}
	return s, nil
}

// providerModel parses "provider/name".
func providerModel(s string) (string, error) {
	provider, model, _ := strings.Cut(s, "/")
	if _, err := word(provider); err != nil || strings.Contains(provider, ".") || model == "" || hasSpace(s) {
		return "", fmt.Errorf("%.60q is not a model; write PROVIDER/NAME such as anthropic/claude-haiku-4-5", s)
	}
	return s, nil
}

// minContext is the smallest context window in tokens in which a prompt of the owner's fits.
const minContext = 4096

// contextWindow parses a model and the size of its context window.
func contextWindow(s string) (ContextWindow, error) {
	name, size, _ := strings.Cut(strings.TrimSpace(s), " ")
	model, err := providerModel(name)
	if err != nil {
		return ContextWindow{}, err
	}
	tokens, err := between(minContext, 10_000_000)(strings.TrimSpace(size))
	if err != nil {
		return ContextWindow{},
			fmt.Errorf("%.60q is not a context window; write the model and its tokens, at least %d, such as ollama/qwen3:8b 32768", s,
				minContext)
	}
	return ContextWindow{Model: model, Tokens: tokens}, nil
}

// price parses a model and two to four amounts: input, output, cache read and cache write.
func price(s string) (Price, error) {
	words := strings.Fields(s)
	if len(words) < 3 || len(words) > 5 {
		return Price{},
			fmt.Errorf("%.60q is not a price; write the model and what a million tokens cost in and out, such as openai/gpt-5-mini 0.25 2.00", s)
	}
	var amounts [4]Money
	for i, text := range words[1:] {
		amount, err := ParseMoney(text)
		if err != nil {
			return Price{}, err
		}
		amounts[i] = amount
	}
	model, err := providerModel(words[0])
	return Price{
		Model:      model,
		In:         amounts[0],
		Out:        amounts[1],
		CacheRead:  amounts[2],
		CacheWrite: amounts[3],
	}, err
}

// shortcut parses "PATTERN => /COMMAND".
func shortcut(s string) (Shortcut, error) {
	pattern, command, found := strings.Cut(s, "=>")
	pattern, command = strings.TrimSpace(pattern), strings.TrimSpace(command)
	if !found || pattern == "" || !strings.HasPrefix(command, "/") {
		return Shortcut{},
			fmt.Errorf("%.60q is not a shortcut; write words and the command that they mean, such as stop everything => /pause all", s)
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return Shortcut{}, fmt.Errorf("%.60q is not a regular expression; write one of RE2's, or plain words", pattern)
	}
	return Shortcut{pattern, command}, nil
}

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

func currency(s string) (string, error) {
	if !currencyPattern.MatchString(s) {
		return "", fmt.Errorf("%.60q is not a currency; write three capital letters such as EUR", s)
	}
	return s, nil
}

func logLevel(s string) (zerolog.Level, error) {
	known, err := oneOf("trace", "debug", "info", "warn", "error")(s)
	if err != nil {
		return zerolog.NoLevel, err
	}
	return zerolog.ParseLevel(known)
}

// token parses a secret that is valid in an HTTP header.
func token(s string) (Secret, error) {
	if s == "" || hasSpace(s) || strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errors.New("is empty or has spaces or non-ASCII characters; copy the token again")
	}
	return Secret(s), nil
}

func postgresURL(s string) (Secret, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "",
			errors.New("is not a Postgres address; write it like postgres://multis@localhost/multis, with a colon and the password after the name (special characters in it as %XX), " +
				"or leave it empty")
	}
	return Secret(s), nil
}

// readSecret returns the trimmed content of a file that contains only a secret. It reads only regular files of at
// most 64 KiB, because a pipe could block and a device could be endless. Its errors do not quote the path, because users
// may have written the secret itself in its place.
func readSecret(path string) (string, error) {
	const most = 64 << 10
	f, _, err := plainfile.Open(path)
	if errors.Is(err, plainfile.ErrNotRegular) {
		return "", errors.New("is not a plain file; write the path of a file with only the secret in it")
	}
	if err != nil {
		return "", unreadable(err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", unreadable(err)
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" || len(data) > most {
		return "", errors.New("names a file that is empty or over 64 KiB; put only the secret into it")
	}
	return secret, nil
}

func unreadable(err error) error {
	if withPath := new(fs.PathError); errors.As(err, &withPath) {
		err = withPath.Err
	}
	return fmt.Errorf("is not readable: %w; write the path of a file that multis may read", err)
}

func hasSpace(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
