package policy

import "multis/internal/text"

// InjectionVerdict says what is done with a text that may be a prompt injection: an attempt to give the assistant orders.
type InjectionVerdict string

// The verdicts, from harmless to dangerous. Their values are stored.
const (
	InjectionAllow InjectionVerdict = "allow"
	InjectionFlag  InjectionVerdict = "flag"  // the turn goes on, and counts as tainted
	InjectionBlock InjectionVerdict = "block" // no model reads the text
)

const (
	// flagScore is the score at which one layer alone flags a text.
	flagScore = 50
	// blockScore is the score at which one layer alone blocks a text. It is blocked as well if both Patterns and Scope flag
	// it, or any three layers do.
	blockScore = 90
	maxScore   = 100
)

// InjectionRate is what one sender wrote lately.
type InjectionRate struct {
	LastMinute int // messages in the last minute, this one included
	Suspicious int // messages of the last day that were flagged or blocked
}

// InjectionScores are the scores of a text by layer, each from 0 to 100. Layers score independently.
type InjectionScores struct {
	Patterns int // wording that tries to replace instructions, in several languages
	Scope    int // requests for other people's chats, for secrets, or for tools
	Rate     int // many messages, or many suspicious ones
	Judge    int // a model's opinion; 0 if none was asked
}

// ScoreInjection scores a text. It is a pure function of its input, and takes one to two milliseconds for 10 kB.
func ScoreInjection(text string, rate InjectionRate) InjectionScores {
	found := scanInjection(text)
	return InjectionScores{Patterns: found.patternsScore(), Scope: found.scopeScore(), Rate: rate.score()}
}

// score returns the score of the layer Rate. It is always below blockScore, because writing a lot is not an attack by itself.
func (r InjectionRate) score() int {
	score := 20 * min(r.Suspicious, 3)
	if r.LastMinute > 20 {
		score += flagScore
	}
	return min(score, blockScore-1)
}

// Verdict returns what is done with the text.
func (s InjectionScores) Verdict() InjectionVerdict {
	flags := 0
	for _, score := range []int{s.Patterns, s.Scope, s.Rate, s.Judge} {
		if score >= blockScore {
			return InjectionBlock
		}
		if score >= flagScore {
			flags++
		}
	}
	switch {
	case flags == 0:
		return InjectionAllow
	case s.Patterns >= flagScore && s.Scope >= flagScore, flags >= 3:
		return InjectionBlock
	default:
		return InjectionFlag
	}
}

// Max returns, for each layer, the higher of the two scores.
func (s InjectionScores) Max(other InjectionScores) InjectionScores {
	return InjectionScores{max(s.Patterns, other.Patterns), max(s.Scope, other.Scope), max(s.Rate, other.Rate), max(s.Judge, other.Judge)}
}

// IsInjection reports whether a text looks like a prompt injection, judged by its wording alone and not by its sender.
func IsInjection(text string) bool {
	return ScoreInjection(text, InjectionRate{}).Verdict() != InjectionAllow
}

// GivesOrders reports whether the words of a document try to replace the instructions of an assistant: those are not
// quoted to contacts. What a business says of passwords or of all its customers is no order.
func GivesOrders(quote string) bool {
	return ScoreInjection(text.Clean(quote), InjectionRate{}).Patterns >= flagScore
}
