package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"multis/knowledge"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// stepOfResult is a step with what its call gave.
func stepOfResult(s store.Step, res tools.Result) (store.Step, error) {
	s.Text, s.ForUser, s.IsError, s.Code = policy.Redact(res.ForLLM), policy.Redact(res.ForUser), res.IsError, string(res.Code)
	s.Retriable, s.Ref, s.Cost, s.Handover = res.Retriable, policy.Redact(res.Ref), res.Cost, policy.Redact(res.Handover)
	if len(res.Passages) > 0 {
		raw, err := json.Marshal(redactPassages(res.Passages))
		if err != nil {
			return s, fmt.Errorf("write passages: %w", err)
		}
		s.Passages = raw
	}
	return s, nil
}

// resultOfStep brings back what a call gave.
func resultOfStep(s store.Step, res *tools.Result) error {
	*res = tools.Result{
		ForLLM: s.Text, ForUser: s.ForUser, IsError: s.IsError, Code: tools.Code(s.Code), Retriable: s.Retriable, Ref: s.Ref, Cost: s.Cost, Handover: s.Handover,
	}
	if len(s.Passages) == 0 {
		return nil
	}
	if err := json.Unmarshal(s.Passages, &res.Passages); err != nil {
		return fmt.Errorf("read the passages of step %d: %w", s.Seq, err)
	}
	return nil
}

// resultMessage is a result as the model reads it: fenced, because nothing is known of who wrote it. Passages get their numbers; those
// that may not be a source get none.
func (r *run) resultMessage(c llm.Call, res tools.Result, fence string) llm.Message {
	var b strings.Builder
	if res.ForLLM != "" {
		fmt.Fprintf(&b, "%s result of %s\n%s\n", fence, text.CollapseSpaces(c.Name), res.ForLLM)
	}
	for _, hit := range res.Passages {
		if !r.citable(hit) {
			fmt.Fprintf(&b, "%s remembered, no source: %s\n%s\n", fence, text.CollapseSpaces(knowledge.Cite(hit)), hit.Text)
			continue
		}
		r.passages = append(r.passages, hit)
		fmt.Fprintf(&b, "%s passage %d: %s\n%s\n", fence, len(r.passages), text.CollapseSpaces(knowledge.Cite(hit)), hit.Text)
	}
	fmt.Fprintf(&b, "%s end", fence)
	r.given = append(r.given, b.String())
	return llm.Message{Role: llm.RoleTool, CallID: c.ID, Text: b.String(), IsError: res.IsError}
}

// storable is what a model said without what no database holds: zero bytes, and halves of letters.
func storable(said llm.Response) llm.Response {
	said.Text = text.Storable(said.Text)
	for i, c := range said.Calls {
		c.ID, c.Name, c.Malformed = text.Storable(c.ID), text.Storable(c.Name), text.Storable(c.Malformed)
		c.Args = storableJSON(c.Args)
		said.Calls[i] = c
	}
	return said
}

// storableJSON is JSON with whole letters in the place of halves, and without zero bytes.
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

// cost is what a task has cost so far, with all that it started: its models' calls, and what its tools charged. It is in millionths
// of the currency.
func (r *run) cost(ctx context.Context) (int64, error) {
	run := ""
	if r.task.ParentID == nil { // else it is part of what the other one cost
		run = r.first.Run
	}
	return store.TaskCost(ctx, r.Store.DB(), r.task.ID, run)
}
