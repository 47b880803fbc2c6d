package setup

import (
	"slices"
	"strings"

	"multis/internal/text"
)

// hidden replaces each secret in a diff.
const hidden = "…"

// Diff returns the lines that differ between two versions of a file, each after - or +, with hidden in place of the secrets. It is empty if
// the versions are the same, or old is nil.
func Diff(old, now []byte, secrets []string) string {
	if old == nil || string(old) == string(now) {
		return ""
	}
	a, b := strings.Split(string(old), "\n"), strings.Split(string(now), "\n")
	// The files differ in a few lines: skip what is the same at both ends, then find the longest common lines between.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, l := range changedLines(a, b) {
		out.WriteString("  " + text.Visible(hideLine(l, secrets)) + "\n")
	}
	return out.String()
}

// changedLines returns the lines in which a and b differ, in order: "- " and the line for one that only a has, "+ " and the line for one that only b has.
func changedLines(a, b []string) []string {
	common := make([][]int, len(a)+1) // common[i][j] is the length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "- "+strings.TrimSpace(a[i]))
			i++
		default:
			lines = append(lines, "+ "+strings.TrimSpace(b[j]))
			j++
		}
	}
	return lines
}

// secretKeys are the keys whose values are not shown, in the old version and in the new one.
var secretKeys = []string{"as_token", "hs_token", "api_key", "token", "secret", "client_secret", "unidoc_key", "url"}

// hideLine returns a line of a diff without its secrets.
func hideLine(line string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			line = strings.ReplaceAll(line, s, hidden)
		}
	}
	key, value, ok := strings.Cut(line, ":")
	if fields := strings.Fields(key); ok && strings.Trim(value, ` "'`) != "" && len(fields) == 2 && slices.Contains(secretKeys, fields[1]) {
		return key + ": " + hidden
	}
	return line
}
