package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"multis/internal/text"
)

// errNotSimple is returned for a line that is no single command with literal words.
var errNotSimple = errors.New("only one simple command is run, without a shell: no ;, &, |, redirections, variables, substitutions or patterns; quote special characters")

// Parse reads a command line as exactly one simple command with literal words, and returns them. Quotes work as in a shell. Everything that
// a shell would expand, or that a person would not see, is an error.
func Parse(line string) ([]string, error) {
	if len(line) > maxArguments {
		return nil, fmt.Errorf("the command is longer than %d KB", maxArguments>>10)
	}
	if err := checkVisible(line); err != nil {
		return nil, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("the command cannot be read: %w", err)
	}
	if len(file.Stmts) != 1 || len(file.Last) > 0 || len(file.Stmts[0].Comments) > 0 {
		return nil, errNotSimple
	}
	return simpleCommand(file.Stmts[0])
}

// checkVisible returns an error if a text contains invisible characters.
func checkVisible(s string) error {
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || text.IsInvisible(r) || r == unicode.ReplacementChar) {
			return fmt.Errorf("the command holds the character %U, which cannot be seen: leave it out", r)
		}
	}
	return nil
}

// simpleCommand returns the words of a statement, or an error if it is more than a program with literal arguments.
func simpleCommand(s *syntax.Stmt) ([]string, error) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, errNotSimple
	}
	argv := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		word, ok := literal(w)
		if !ok {
			return nil, errNotSimple
		}
		argv = append(argv, word)
	}
	if argv[0] == "" {
		return nil, errNotSimple
	}
	return argv, nil
}

// literal returns the text of a word in which a shell would expand nothing.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				return "", false
			}
			if strings.ContainsFunc(p.Value, isWideSpace) || !unquote(&b, p.Value) {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !unquoteDouble(&b, p.Parts) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// isWideSpace reports whether a character looks like a space or a line end, and is a letter for a shell: without quotes,
// two words would be seen where there is one.
func isWideSpace(r rune) bool { return r > unicode.MaxASCII && (unicode.IsSpace(r) || r == '\u2800') }

// unquote writes an unquoted literal without its backslashes. It returns false for a pattern or a brace, which a shell would expand.
func unquote(b *strings.Builder, s string) bool {
	for i := 0; i < len(s); i++ {
		if strings.HasPrefix(s[i:], "{}") { // a shell leaves it as it is
			b.WriteString("{}")
			i++
			continue
		}
		switch c := s[i]; c {
		case '*', '?', '[', '{', '}', '~':
			if c != '~' || i > 0 && (s[i-1] == ':' || s[i-1] == '=') {
				return false // HEAD~2 is left as it is
			}
			b.WriteByte(c)
		case '\\':
			if i++; i == len(s) {
				return false
			}
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// unquoteDouble writes the content of double quotes, where a backslash only escapes the characters that are special there.
func unquoteDouble(b *strings.Builder, parts []syntax.WordPart) bool {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if c == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
				c = lit.Value[i]
			}
			b.WriteByte(c)
		}
	}
	return true
}

// Quote returns a command line that Parse reads as argv.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./,:@%+", r)
		}) ||
			isReserved(a) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// isReserved reports whether a word is a keyword or builtin of a shell.
func isReserved(word string) bool {
	return slices.Contains(strings.Fields("if then else elif fi for select while until do done case esac function time coproc let declare local export readonly typeset nameref in"), word)
}
