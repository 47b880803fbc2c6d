package run

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// number matches a number in digits, with a decimal point or comma.
var number = regexp.MustCompile(`\d+(?:[.,]\d+)?`)

// maxFactor is the largest whole number by which a computed number may multiply one of a source.
const maxFactor = 31

// withoutComputed returns a sentence without the numbers that can be computed from those of a source: multiples of one,
// and the sum, the difference or the product of two. factors are those of the multiples, which the sentence may name.
func withoutComputed(sentence, source string) (rest, factors string) {
	known := numbersIn(source)
	var used []string
	rest = number.ReplaceAllStringFunc(sentence, func(digits string) string {
		n := valueOf(digits)
		if slices.Contains(known, n) {
			return digits // with its unit, which is compared as well
		}
		if isSumOrProduct(n, known) {
			return ""
		}
		factor := factorOf(n, known)
		if factor == 0 {
			return digits
		}
		used = append(used, strconv.Itoa(factor))
		return ""
	})
	return rest, strings.Join(used, " . ")
}

// isSumOrProduct reports whether a number is the sum, the difference or the product of two others.
func isSumOrProduct(n float64, known []float64) bool {
	for i, a := range known {
		for j, b := range known {
			if i != j && (isEqual(n, a+b) || isEqual(n, a-b) || isEqual(n, a*b)) {
				return true
			}
		}
	}
	return false
}

// factorOf returns by what a known number is multiplied to a number, from 2 to maxFactor; 0 if none is.
func factorOf(n float64, known []float64) int {
	for _, a := range known {
		if factor := math.Round(n / a); a > 0 && factor >= 2 && factor <= maxFactor && isEqual(n, factor*a) {
			return int(factor)
		}
	}
	return 0
}

// isEqual compares amounts of money, which have at most two decimals.
func isEqual(a, b float64) bool { return math.Abs(a-b) < 0.005 }

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
