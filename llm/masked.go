package llm

import (
	"encoding/json"
	"slices"

	"multis/policy"
)

// masked returns the request with the secrets of the configuration masked in all of its texts, so that no provider reads them.
func (r Request) masked() Request {
	r.System = policy.Hide(r.System)
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		m.Text = policy.Hide(m.Text)
		m.Calls = slices.Clone(m.Calls)
		for j, c := range m.Calls {
			if c.Args != nil {
				m.Calls[j].Args = json.RawMessage(policy.Hide(string(c.Args)))
			}
			m.Calls[j].Malformed = policy.Hide(c.Malformed)
		}
		r.Messages[i] = m
	}
	return r
}

// maskAll returns texts with the secrets of the configuration masked.
func maskAll(texts []string) []string {
	masked := make([]string, len(texts))
	for i, t := range texts {
		masked[i] = policy.Hide(t)
	}
	return masked
}
