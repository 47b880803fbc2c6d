package text

import (
	"fmt"
	"strings"
	"time"
)

// Plural returns one if n is 1, else many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Count returns n with a noun whose plural ends in s: "1 chat", "3 chats".
func Count(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, noun, noun+"s"))
}

// Bytes formats a size for people: "640 bytes", "12.3 MB".
func Bytes(n int64) string {
	const step = 1000
	if n < step {
		return Count(int(n), "byte")
	}
	size, unit := float64(n)/step, 0
	units := []string{"kB", "MB", "GB", "TB"}
	for size >= step && unit < len(units)-1 {
		size, unit = size/step, unit+1
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

// List joins parts as in a sentence: "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Money formats an amount, in millionths of a currency, rounded to the cent: "1.50 EUR".
func Money(micros int64, currency string) string {
	if micros > 0 && micros < 10_000 {
		return "less than 0.01 " + currency
	}
	cents := (micros + 5_000) / 10_000
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}

// ExactMoney is Money, except that it formats amounts below a cent with four decimals, such as the cost of a single call: "0.0012 EUR".
func ExactMoney(micros int64, currency string) string {
	decimals := 2
	if micros < 10_000 {
		decimals = 4
	}
	return fmt.Sprintf("%.*f %s", decimals, float64(micros)/1e6, currency)
}

// Latency formats how long an answer took: "14 ms", "1.2 s".
func Latency(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Duration formats d in the largest unit of which it has at least two: "3 days", "2 h", "40 min", "30 s". It returns "0
// s" if d is negative.
func Duration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	}
}

// Ago formats how long before now t was, for a reader in zone: "just now", "5 min ago", "3 h ago", "yesterday", "Mon", "2
// Jan" and, in another year, "2 Jan 2006".
func Ago(t, now time.Time, zone *time.Location) string {
	local, today := t.In(zone), now.In(zone)
	midnight := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, zone)
	switch past := now.Sub(t); {
	case past < time.Minute:
		return "just now"
	case past < time.Hour:
		return fmt.Sprintf("%d min ago", int(past.Minutes()))
	case !local.Before(midnight) || past < 6*time.Hour:
		return fmt.Sprintf("%d h ago", int(past.Hours()))
	case !local.Before(midnight.AddDate(0, 0, -1)):
		return "yesterday"
	case !local.Before(midnight.AddDate(0, 0, -6)):
		return local.Format("Mon")
	case local.Year() == today.Year():
		return local.Format("2 Jan")
	default:
		return local.Format("2 Jan 2006")
	}
}
