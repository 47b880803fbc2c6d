package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/reply"
)

type sentence struct {
	Text   string   `json:"text"`
	Source int      `json:"source"`
	Quote  string   `json:"quote"`
	Cite   []string `json:"cite" alias:"citations"`
}

type answer struct {
	Sentences []sentence `json:"sentences" alias:"answer,response,text"`
	Open      string     `json:"open"`
}

const good = `{"sentences": [{"text": "Yes.", "source": 1, "quote": "it is"}]}`

func TestRead_WhatModelsWrite(t *testing.T) {
	t.Parallel()
	yes := []sentence{{Text: "Yes.", Source: 1, Quote: "it is"}}
	for name, c := range map[string]struct {
		said string
		want []sentence
	}{
		"as asked":               {good, yes},
		"code fence":             {"```json\n" + good + "\n```", yes},
		"words around":           {"Here is the answer:\n" + good + "\nI hope this helps {or not}.", yes},
		"thought before":         {"<think>The form is {\"sentences\": ...} I think.</think>" + good, yes},
		"thought in capitals":    {"<Thinking>x</Thinking>\n" + good, yes},
		"stray end of a thought": {"I should answer {\"sentences\": [{\"text\": \"No.\"}]}\n</think>\n" + good, yes},
		"two thoughts":           {"<think>a</think> <reasoning>b {</reasoning>" + good, yes},
		"channels": {"<|channel|>analysis<|message|>{\"text\": \"no\"}<|end|><|start|>assistant<|channel|>final<|message|>" +
			good + "<|return|>", yes},
		"thoughts in brackets":     {"[THINK]a[/THINK]" + good, yes},
		"end token":                {good + "<|im_end|>", yes},
		"brace in the prose":       {"The {braces} say: " + good, yes},
		"comma at the end":         {`{"sentences": [{"text": "Yes.", "source": 1, "quote": "it is",},],}`, yes},
		"comments":                 {"{\"sentences\": [ // one\n{\"text\": \"Yes.\", /* no. */ \"source\": 1, \"quote\": \"it is\"}]}", yes},
		"single quotation marks":   {`{'sentences': [{'text': 'Yes.', 'source': 1, 'quote': 'it is'}]}`, yes},
		"bare keys":                {`{sentences: [{text: "Yes.", source: 1, quote: "it is"}]}`, yes},
		"names in capitals":        {`{"Sentences": [{"Text": "Yes.", "SOURCE": 1, "Quote": "it is"}]}`, yes},
		"number as a text":         {`{"sentences": [{"text": "Yes.", "source": "1", "quote": "it is"}]}`, yes},
		"number in a list":         {`{"sentences": [{"text": "Yes.", "source": [1], "quote": "it is"}]}`, yes},
		"number in brackets":       {`{"sentences": [{"text": "Yes.", "source": "[1]", "quote": "it is"}]}`, yes},
		"number with a name":       {`{"sentences": [{"text": "Yes.", "source": "passage 1", "quote": "it is"}]}`, yes},
		"number with a fraction":   {`{"sentences": [{"text": "Yes.", "source": 1.0, "quote": "it is"}]}`, yes},
		"quote in a list":          {`{"sentences": [{"text": "Yes.", "source": 1, "quote": ["it is"]}]}`, yes},
		"unknown key":              {`{"confidence": 0.9, "sentences": [{"text": "Yes.", "source": 1, "quote": "it is", "lang": "en"}]}`, yes},
		"one for the list":         {`{"sentences": {"text": "Yes.", "source": 1, "quote": "it is"}}`, yes},
		"beside thoughts":          {`{"thoughts": "It is.", "response": ` + good + `}`, yes},
		"in a call's arguments":    {`{"name": "answer", "arguments": ` + good + `}`, yes},
		"in a text":                {`{"response": "{\"sentences\": [{\"text\": \"Yes.\", \"source\": 1, \"quote\": \"it is\"}]}"}`, yes},
		"list at the top":          {`[{"text": "Yes.", "source": 1, "quote": "it is"}]`, yes},
		"sentence at the top":      {`{"text": "Yes.", "source": 1, "quote": "it is"}`, yes},
		"whole in a list":          {"[" + good + "]", yes},
		"whole in a wrapper":       {`{"result": ` + good + `}`, yes},
		"whole under another name": {`{"answer": ` + good + `}`, yes},
		"null for the quote":       {`{"sentences": [{"text": "Yes.", "source": 0, "quote": null}]}`, []sentence{{Text: "Yes."}}},
		"null for the number":      {`{"sentences": [{"text": "Yes.", "source": None, "quote": ""}]}`, []sentence{{Text: "Yes."}}},
		"texts for sentences":      {`{"sentences": ["Yes.", "No."]}`, []sentence{{Text: "Yes."}, {Text: "No."}}},
		"texts at the top":         {`["Yes."]`, []sentence{{Text: "Yes."}}},
		"another name":             {`{"answer": "Yes."}`, []sentence{{Text: "Yes."}}},
		"a third name":             {`{"response": ["Yes."]}`, []sentence{{Text: "Yes."}}},
		"values one after another": {
			"{\"text\": \"Yes.\", \"source\": 1, \"quote\": \"it is\"}\n{\"text\": \"No.\", \"source\": 2}",
			append(yes, sentence{Text: "No.", Source: 2}),
		},
		"line break in a text":   {"{\"sentences\": [{\"text\": \"Yes,\nit is.\"}]}", []sentence{{Text: "Yes,\nit is."}}},
		"quotation marks inside": {`{"sentences": [{"text": "The "Blue" room."}]}`, []sentence{{Text: `The "Blue" room.`}}},
		"unknown escape":         {`{"sentences": [{"text": "It\'s 5 \$."}]}`, []sentence{{Text: "It's 5 $."}}},
		"escaped letters":        {`{"sentences": [{"text": "caf\u00e9 \ud83d\ude00 \ud83d"}]}`, []sentence{{Text: "café 😀 \ufffd"}}},
		"numbers to cite":        {`{"sentences": [{"text": "Yes.", "cite": 1.3}]}`, []sentence{{Text: "Yes.", Cite: []string{"1.3"}}}},
		"texts to cite":          {`{"sentences": [{"text": "Yes.", "citations": "1.3"}]}`, []sentence{{Text: "Yes.", Cite: []string{"1.3"}}}},
		"nothing":                {`{"sentences": []}`, []sentence{}},
		"nothing at the top":     {`[]`, []sentence{}},
		"null":                   {`{"sentences": null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reply.Read[answer](c.said)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Sentences)
		})
	}
}

func TestRead_Unreadable(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"empty":                       "",
		"prose":                       "Breakfast is from 7 to 10 [1].",
		"prose with a list of things": "- [ ] call {somebody} [Nora]",
		"only a thought":              "<think>" + good,
		"cut at the limit":            `{"sentences": [{"text": "Dogs are welcome.", "source": 1, "quote": "x"}, {"text": "Not in the su`,
		"cut between sentences":       "{\"text\": \"Dogs are welcome.\", \"source\": 1}\n{\"text\": \"Not in",
		"broken in the middle":        `{"sentences": [{"text": "Dogs are welcome.", "source": 1}, {"text" "Not in the suite."}]}`,
		"no field of it":              `{"query": "breakfast"}`,
		"a call of a tool":            `{"name": "search_docs", "arguments": {"text": "breakfast"}}`,
		"another list":                `{"lines": []}`,
		"field of another type":       `{"sentences": {"foo": 1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := reply.Read[answer](said)
			require.ErrorIs(t, err, reply.ErrUnreadable)
		})
	}
}

func TestRead_OtherTypes(t *testing.T) {
	t.Parallel()
	type verdict struct {
		Notify *bool   `json:"notify"`
		Score  int     `json:"score"`
		From   []int   `json:"from"`
		Share  float64 `json:"share"`
	}
	no := false
	got, err := reply.Read[verdict](`{"notify": "no", "score": "85/100", "from": ["1", [2], "x"], "share": "0.5"}`)
	require.NoError(t, err)
	require.Equal(t, verdict{&no, 85, []int{1, 2}, 0.5}, got)

	got, err = reply.Read[verdict](`{"notify": null, "from": 17}`)
	require.NoError(t, err)
	require.Equal(t, verdict{From: []int{17}}, got)
}

func TestCalls_WrittenAsText(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"in tags":              "Let me look.\n<tool_call>\n{\"name\": \"search_docs\", \"arguments\": {\"query\": \"sauna\"}}\n</tool_call>",
		"bare":                 `{"name": "search_docs", "arguments": {"query": "sauna"}}`,
		"fenced":               "```json\n{\"name\": \"search_docs\", \"parameters\": {\"query\": \"sauna\"}}\n```",
		"arguments as a text":  `{"name": "search_docs", "arguments": "{\"query\": \"sauna\"}"}`,
		"as a function":        `{"type": "function", "function": {"name": "search_docs", "arguments": {"query": "sauna"}}}`,
		"in a list of calls":   `{"tool_calls": [{"function": {"name": "search_docs", "arguments": "{\"query\": \"sauna\"}"}}]}`,
		"with a token":         `[TOOL_CALLS] [{"name": "search_docs", "arguments": {"query": "sauna"}}]`,
		"beside the arguments": `{"tool": "search_docs", "query": "sauna"}`,
		"as an action":         `{"action": "search_docs", "action_input": {"query": "sauna"}}`,
		"function tag":         `<function=search_docs>{"query": "sauna"}</function>`,
		"parameter tags":       "<tool_call><function=search_docs>\n<parameter=query>\nsauna\n</parameter>\n</function></tool_call>",
		"invoke":               `<invoke name="search_docs"><parameter name="query">sauna</parameter></invoke>`,
		"as in a program":      `[search_docs(query='sauna')]`,
		"after a thought":      `<think>{"name": "escalate"}</think>{"name": "search_docs", "arguments": {"query": "sauna"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reply.Calls(said, func(name string) bool { return name == "search_docs" || name == "escalate" })
			require.Len(t, got, 1)
			require.Equal(t, "search_docs", got[0].Name)
			require.JSONEq(t, `{"query": "sauna"}`, string(got[0].Args))
			_, isProse := reply.Prose(said)
			require.Equal(t, name == "as in a program", isProse)
		})
	}
	for name, said := range map[string]string{
		"an answer":       good,
		"another tool":    `{"name": "delete_all", "arguments": {}}`,
		"prose":           "I would call search_docs(query) here.",
		"only in thought": `<think>{"name": "search_docs", "arguments": {}}</think>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reply.Calls(said, func(name string) bool { return name == "search_docs" })
			require.Empty(t, got)
		})
	}
}

func TestProse_NeverJSON(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Yes, it is.":                     "Yes, it is.",
		"<think>Hm {</think> Yes (see 1)": "Yes (see 1)",
		"See [1] and {this}.":             "See [1] and {this}.",
		"<think>never ends":               "",
		"":                                "",
		good:                              "",
		"Sure: " + good[:30]:              "",
		`[{"text": "a"}]`:                 "",
		`"sentences": [{"text": "a"}`:     "",
		"<tool_call>x":                    "",
	} {
		got, ok := reply.Prose(said)
		require.Equal(t, want, got, said)
		require.Equal(t, want != "", ok, said)
	}
}

// FuzzRead checks that valid JSON is read as the standard library reads it, and that nothing panics.
func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(`{"sentences":[{"text":"a\nb\u00e4\"","source":0,"cite":["1.2"]}],"open":"x"}`)
	f.Add("<think>{</think>```json\n[1,{'a':None,}]")
	f.Add(`<function=a><parameter=b>{"c":"d"}</parameter></function>`)
	f.Fuzz(func(t *testing.T, said string) {
		got, err := reply.Read[answer](said)
		reply.Prose(said)
		for _, c := range reply.Calls(said, func(string) bool { return true }) {
			require.True(t, json.Valid(c.Args), "%q", said)
		}
		var want map[string][]map[string]string
		if strings.ToValidUTF8(said, "") != said || json.Unmarshal([]byte(said), &want) != nil || len(want) != 1 || len(want["sentences"]) == 0 {
			return
		}
		if reply.Clean(said) != strings.TrimSpace(said) {
			return // a thought or a token of a model within a text is cut there, too
		}
		for i, s := range want["sentences"] {
			if len(s) != 1 || s["text"] == "" || len(want["sentences"]) != len(got.Sentences) {
				return
			}
			require.NoError(t, err)
			require.Equal(t, s["text"], got.Sentences[i].Text)
		}
	})
}
