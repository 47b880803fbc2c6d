package text

import "strings"

// OneLine cleans s (see Clean) and puts it on one line, with single spaces.
func OneLine(s string) string { return CollapseSpaces(Clean(s)) }

// CollapseSpaces replaces each run of white space in s by one space, and trims both ends. Unlike OneLine it removes nothing else.
func CollapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine returns the first line of s, without its line end and without white space before it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Clip shortens s to at most n runes. The last rune of a shortened text is an ellipsis. If n is below 1, s is returned unchanged.
func Clip(s string, n int) string {
	if runes := []rune(s); n > 0 && len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// ClipBytes shortens s to at most n bytes and never cuts a rune. It does not mark the cut.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// ClipBytesFromStart shortens s to at most n bytes by removing its beginning. Like ClipBytes, it never cuts a rune.
func ClipBytesFromStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}
