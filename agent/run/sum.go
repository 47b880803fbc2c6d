package run

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number matches a number in digits, with a decimal point or comma.
var number = regexp.MustCompile(`\d+(?:[.,]\d+)?`)

// maxFactor is the largest whole number by which a computed number may multiply one of a source.
const maxFactor = 31

// withoutComputed returns a sentence without the numbers that can be computed from those of a source: multiples of one,
// and the sum, the difference or the product of two.
func withoutComputed(sentence, source string) string {
	known := numbersIn(source)
	return number.ReplaceAllStringFunc(sentence, func(digits string) string {
		if isComputed(valueOf(digits), known) {
			return ""
		}
		return digits
	})
}

func isComputed(n float64, known []float64) bool {
	is := func(m float64) bool { return math.Abs(n-m) < 0.005 }
	for i, a := range known {
		if factor := math.Round(n / a); a > 0 && factor >= 2 && factor <= maxFactor && is(factor*a) {
			return true
		}
		for j, b := range known {
			if i != j && (is(a+b) || is(a-b) || is(a*b)) {
				return true
			}
		}
	}
	return false
}

// numbersIn returns the numbers of a text, each once, and at most 100.
func numbersIn(text string) []float64 {
	var all []float64
	seen := map[float64]bool{}
	for _, digits := range number.FindAllString(text, 100) {
		if n := valueOf(digits); !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	return all
}

// valueOf returns the value of a number; NaN if it has none.
func valueOf(digits string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", "."), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}
