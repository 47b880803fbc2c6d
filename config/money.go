package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Money is an amount in millionths of Budget.Currency, so that sums are exact.
type Money int64

const moneyDecimals = 6

var moneyPattern = regexp.MustCompile(`^([0-9]{1,12})(?:\.([0-9]{1,6}))?$`)

// ParseMoney parses a decimal number such as 2 or 0.15. More than six decimals, a sign and an exponent are errors.
func ParseMoney(s string) (Money, error) {
	m := moneyPattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%.60q is not an amount of money; write it like 2.50, with at most %d decimals", s, moneyDecimals)
	}
	micros, err := strconv.ParseInt(m[1]+m[2]+strings.Repeat("0", moneyDecimals-len(m[2])), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.60q is not an amount of money: %w", s, err)
	}
	return Money(micros), nil
}

// String formats the amount with two decimals, or more if needed: 2.00, 0.15, 0.000001.
func (m Money) String() string {
	sign, micros := "", uint64(m) //nolint:gosec // a negative amount wraps around; it is negated below
	if m < 0 {
		sign, micros = "-", -micros
	}
	cents := strings.TrimRight(fmt.Sprintf("%06d", micros%1_000_000), "0")
	return fmt.Sprintf("%s%d.%s", sign, micros/1_000_000, cents+strings.Repeat("0", max(0, 2-len(cents))))
}
