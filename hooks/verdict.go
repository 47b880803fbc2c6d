package hooks

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"multis/internal/text"
	"multis/policy"
)

var (
	// errNoDecision is returned for an output whose last line is no decision.
	errNoDecision = errors.New(`the last line that it printed is not a decision; it prints {"decision": "allow"}, or ask or deny and a reason`)
	// errManyDecisions is returned for an output with more than one decision.
	errManyDecisions = errors.New("it printed more than one decision")
)

// parseVerdict reads the decision in the last line of an output, which must be its only one.
func parseVerdict(output string) (policy.HookVerdict, error) {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := len(lines) - 1
	for _, line := range lines[:last] {
		if _, err := parseDecision(line); err == nil || errors.Is(err, errManyDecisions) {
			return policy.HookVerdict{}, errManyDecisions
		}
	}
	return parseDecision(lines[last])
}

// parseDecision reads a line with a decision: a JSON object with the keys decision and reason, each once and in these letters.
func parseDecision(line string) (v policy.HookVerdict, err error) {
	d := json.NewDecoder(strings.NewReader(line))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return policy.HookVerdict{}, errNoDecision
	}
	values := map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return policy.HookVerdict{}, errNoDecision
		}
		name, _ := key.(string)
		if _, repeated := values[name]; repeated {
			return policy.HookVerdict{}, errManyDecisions
		}
		value, err := d.Token()
		given, isText := value.(string)
		isText = isText || value == nil && name == "reason"
		if err != nil || !isText || (name != "decision" && name != "reason") {
			return policy.HookVerdict{}, errNoDecision
		}
		values[name] = given
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return policy.HookVerdict{}, errNoDecision
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return policy.HookVerdict{}, errNoDecision
	}
	switch decision := policy.HookDecision(values["decision"]); decision {
	case policy.HookAllow, policy.HookAsk, policy.HookDeny:
		return policy.HookVerdict{Decision: decision, Why: cleanReason(values["reason"])}, nil
	default:
		return policy.HookVerdict{}, errNoDecision
	}
}

// maxReason is the length of a reason in characters.
const maxReason = 300

// cleanReason returns a text of a program as one short line without secrets.
func cleanReason(s string) string { return text.Clip(policy.Redact(text.OneLine(s)), maxReason) }
