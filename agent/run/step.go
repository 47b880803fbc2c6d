package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"multis/agent/tools"
	"multis/internal/text"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// stepWithResult returns a step with the result of its tool call.
func stepWithResult(s store.Step, res tools.Result) (store.Step, error) {
	s.Text = policy.Redact(res.ForLLM)
	s.ForUser = policy.Redact(res.ForUser)
	s.IsError = res.IsError
	s.Code = string(res.Code)
	s.Retriable = res.Retriable
	s.Ref = policy.Redact(res.Ref)
	s.Cost = res.Cost
	s.EndReason = policy.Redact(res.EndReason)
	if len(res.Passages) > 0 {
		raw, err := json.Marshal(redactPassages(res.Passages))
		if err != nil {
			return s, fmt.Errorf("write passages: %w", err)
		}
		s.Passages = raw
	}
	return s, nil
}

// resultOf reads the result of a tool call from its step.
func resultOf(s store.Step) (tools.Result, error) {
	res := tools.Result{
		ForLLM:    s.Text,
		ForUser:   s.ForUser,
		IsError:   s.IsError,
		Code:      tools.Code(s.Code),
		Retriable: s.Retriable,
		Ref:       s.Ref,
		Cost:      s.Cost,
		EndReason: s.EndReason,
	}
	if len(s.Passages) == 0 {
		return res, nil
	}
	if err := json.Unmarshal(s.Passages, &res.Passages); err != nil {
		return res, fmt.Errorf("read the passages of step %d: %w", s.Seq, err)
	}
	return res, nil
}

// stepWithResponse returns a step with the model's response.
func stepWithResponse(s store.Step, said llm.Response) (store.Step, error) {
	s.Text = policy.Redact(said.Text)
	s.TokensIn = said.Usage.In
	s.TokensOut = said.Usage.Out
	s.Code = string(said.Stop)
	if len(said.Calls) == 0 {
		return s, nil
	}
	raw, err := json.Marshal(redactCalls(said.Calls))
	if err != nil {
		return s, fmt.Errorf("write the calls of a model: %w", err)
	}
	s.Calls = raw
	return s, nil
}

// responseOf reads a model's response from its step.
func responseOf(s store.Step) (llm.Response, error) {
	said := llm.Response{Text: s.Text}
	if len(s.Calls) > 0 {
		if err := json.Unmarshal(s.Calls, &said.Calls); err != nil {
			return llm.Response{}, fmt.Errorf("read the calls of step %d: %w", s.Seq, err)
		}
	}
	return said, nil
}

// redactFirstRequest removes secrets from a first request before it is stored.
func redactFirstRequest(o FirstRequest) FirstRequest {
	messages := make([]llm.Message, len(o.Request.Messages))
	for i, m := range o.Request.Messages {
		m.Text = policy.Redact(m.Text)
		messages[i] = m
	}
	o.Request.Messages, o.Request.System = messages, policy.Redact(o.Request.System)
	o.Passages = redactPassages(o.Passages)
	return o
}

// redactPassages removes secrets from passages before they are stored.
func redactPassages(hits []search.Hit) []search.Hit {
	stored := slices.Clone(hits)
	for i := range stored {
		stored[i].Text = policy.Redact(stored[i].Text)
	}
	return stored
}

// redactCalls removes secrets from calls before they are stored.
func redactCalls(calls []llm.ToolCall) []llm.ToolCall {
	stored := slices.Clone(calls)
	for i, c := range stored {
		stored[i].Malformed = policy.Redact(c.Malformed)
		args := policy.Redact(string(c.Args))
		if raw, err := json.Marshal(args); err == nil && !json.Valid([]byte(args)) {
			args = string(raw) // the redaction broke the JSON
		}
		if c.Args != nil {
			stored[i].Args = json.RawMessage(args)
		}
	}
	return stored
}

// storable removes from a response what Postgres cannot store: zero bytes and invalid UTF-8. It also replaces the names
// of unknown tools: the model may have written any text there, and names of tools stay in the steps and in the audit log
// after the rest of a call is forgotten.
func (e Engine) storable(said llm.Response) llm.Response {
	said.Text = text.Storable(said.Text)
	for i, c := range said.Calls {
		c.Name, c.Malformed = e.Tools.KnownName(c.Name), text.Storable(c.Malformed)
		c.Args = storableJSON(c.Args)
		said.Calls[i] = c
	}
	return said
}

// storableJSON removes escapes that Postgres cannot store from JSON: zero bytes and unpaired surrogates.
func storableJSON(args json.RawMessage) json.RawMessage {
	if !bytes.Contains(args, []byte(`\u`)) {
		return args
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	raw, err := json.Marshal(storableValue(v))
	if err != nil {
		return args
	}
	return raw
}

func storableValue(v any) any {
	switch v := v.(type) {
	case string:
		return text.Storable(v)
	case []any:
		for i := range v {
			v[i] = storableValue(v[i])
		}
		return v
	case map[string]any:
		kept := make(map[string]any, len(v))
		for key, value := range v {
			kept[text.Storable(key)] = storableValue(value)
		}
		return kept
	default:
		return v
	}
}

// digest returns a hash of a request's text. A request that was stored and read again has the same digest.
func digest(request llm.Request) string {
	type message struct {
		Role, Text, CallID string
		IsError            bool
		Calls              []string
	}
	said := []message{{Text: policy.Redact(request.System)}}
	for _, m := range request.Messages {
		one := message{Role: string(m.Role), Text: policy.Redact(m.Text), CallID: m.CallID, IsError: m.IsError}
		for _, c := range redactCalls(m.Calls) {
			one.Calls = append(one.Calls, c.ID+" "+c.Name+" "+canonicalJSON(c.Args)+c.Malformed)
		}
		said = append(said, one)
	}
	raw, err := json.Marshal(said)
	if err != nil {
		return "" // plain strings
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// canonicalJSON returns JSON in one canonical form, because Postgres may store it in another.
func canonicalJSON(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(raw)
}
