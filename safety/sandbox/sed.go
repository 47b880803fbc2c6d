package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// sedAddress is the pattern of one address in a script of sed.
const sedAddress = `(?:[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+|/(?:[^/\\\n]|\\.)*/[IM]*)\s*`

// sedCommand matches the commands of sed that run a program (e) or write a file (w, W), with the program or the file.
var sedCommand = regexp.MustCompile(`(?:^|[;{}\n])\s*(?:` + sedAddress + `(?:,\s*` + sedAddress +
	`)?)?!?\s*(?:e\s*([^\n]+)|[wW]\s*([^\n;}]+))`)

// readSed returns the commands that a script of sed runs, and the files that it writes. Words that are no such script have neither.
func readSed(script string) (programs, files []string) {
	for _, m := range sedCommand.FindAllStringSubmatch(script, -1) {
		programs, files = append(programs, m[1]), append(files, strings.TrimSpace(m[2]))
	}
	for i, r := range script {
		if r != 's' {
			continue
		}
		if replacement, flags, ok := substitution(script[i+1:]); ok {
			if strings.Contains(flags, "e") {
				programs = append(programs, replacement)
			}
			if _, file, writes := strings.Cut(flags, "w"); writes {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	isEmpty := func(s string) bool { return s == "" }
	return slices.DeleteFunc(programs, isEmpty), slices.DeleteFunc(files, isEmpty)
}

// substitution reads what follows the s of a substitution: /pattern/replacement/flags, with any punctuation for "/". The
// flags go on to the end of the line.
func substitution(s string) (replacement, flags string, ok bool) {
	if s == "" || s[0] >= unicode.MaxASCII || !unicode.IsPunct(rune(s[0])) && !unicode.IsSymbol(rune(s[0])) || s[0] == '\\' {
		return "", "", false
	}
	var ends []int
	for i := 1; i < len(s) && len(ends) < 2; i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			ends = append(ends, i)
		}
	}
	if len(ends) < 2 {
		return "", "", false
	}
	flags, _, _ = strings.Cut(s[ends[1]+1:], "\n")
	if beforeFile, _, writes := strings.Cut(flags, "w"); !writes || strings.ContainsAny(beforeFile, ";} ") {
		flags, _, _ = strings.Cut(flags, ";")
		flags, _, _ = strings.Cut(flags, "}")
	}
	return s[ends[0]+1 : ends[1]], flags, true
}
