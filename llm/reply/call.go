package reply

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Call is a tool call that a model wrote as text.
type Call struct {
	Name string
	Args json.RawMessage // a JSON object
}

// writtenCall is a tool call in JSON.
type writtenCall struct {
	Name      string          `json:"name" alias:"tool,tool_name,function_name,action"`
	Arguments json.RawMessage `json:"arguments" alias:"parameters,args,input,tool_input,action_input,tool_args,kwargs"`
	Function  *writtenCall    `json:"function"`
}

// tagged matches a call in tags: <function=NAME>...</function>, <invoke name="NAME">...</invoke>.
var (
	tagged    = regexp.MustCompile(`(?s)<(?:function=|function name="|invoke name=")([\w.-]+)"?>(.*?)</(?:function|invoke)>`)
	parameter = regexp.MustCompile(`(?s)<parameter(?:=| name=")([\w.-]+)"?>\s*(.*?)\s*</parameter>`)
	// written matches a whole reply that is a call as in a program: NAME(key="value").
	written  = regexp.MustCompile(`(?s)^\[?\s*([A-Za-z_][\w.]*)\(\s*(.*?)\s*\)\s*\]?;?$`)
	argument = regexp.MustCompile(`(?s)^([A-Za-z_]\w*)\s*[=:]\s*(.*)$`)
)

// Calls returns the tool calls that a reply has as text, of tools that isTool knows; none if it has none. Everything else
// in the reply is then what the model says beside its calls.
func Calls(said string, isTool func(name string) bool) []Call {
	text := Clean(said)
	var calls []Call
	for _, match := range tagged.FindAllStringSubmatch(text, -1) {
		if isTool(match[1]) {
			calls = append(calls, Call{Name: match[1], Args: taggedArgs(match[2])})
		}
	}
	if len(calls) > 0 {
		return calls
	}
	if match := written.FindStringSubmatch(strings.Trim(text, "` \n")); match != nil && isTool(match[1]) {
		if args, ok := writtenArgs(match[2]); ok {
			return []Call{{Name: match[1], Args: args}}
		}
	}
	return callsInJSON(text, isTool)
}

// callsInJSON returns the calls among the JSON values of a text.
func callsInJSON(text string, isTool func(string) bool) (calls []Call) {
	for at, tried := 0, 0; at < len(text) && len(text) <= maxLength && tried < maxStarts; at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		tried++
		p := parser{text: text, at: at}
		value, ok := p.value(0)
		if !ok && p.hasMembers {
			return nil
		}
		if ok {
			calls = append(calls, callsIn(value, isTool)...)
			at = p.at - 1
		}
	}
	return calls
}

// callsIn returns the calls that a value is, or has in a list or under a single key, such as tool_calls.
func callsIn(value any, isTool func(string) bool) (calls []Call) {
	o, isObject := value.(object)
	if isObject {
		if c, ok := callOf(o, isTool); ok {
			return []Call{c}
		}
		if len(o) > 1 && valueOf(o, "toolcalls") == nil {
			return nil // an answer
		}
	}
	for _, inner := range children(value) {
		calls = append(calls, callsIn(inner, isTool)...)
	}
	return calls
}

// callOf returns the call that an object is.
func callOf(o object, isTool func(string) bool) (Call, bool) {
	var w writtenCall
	r := newReader(&w)
	if !fill(r.into, o) {
		return Call{}, false
	}
	if w.Function != nil && w.Function.Name != "" {
		if len(w.Function.Arguments) == 0 {
			w.Function.Arguments = w.Arguments
		}
		w = *w.Function
	}
	if !isTool(w.Name) {
		return Call{}, false
	}
	return Call{Name: w.Name, Args: objectOf(w.Arguments, o)}, true
}

// objectOf returns arguments as an object. They may be JSON in a text; without any, the other members of the call are its
// arguments.
func objectOf(args json.RawMessage, call object) json.RawMessage {
	var inText string
	if json.Unmarshal(args, &inText) == nil {
		p := parser{text: inText}
		if value, ok := p.value(0); ok {
			args = encode(value)
		}
	}
	if len(args) > 0 && args[0] == '{' {
		return args
	}
	rest := object{}
	for _, m := range call {
		switch plainName(m.key) {
		case "name", "tool", "toolname", "functionname", "function", "action", "type", "id", "arguments", "parameters":
		default:
			rest = append(rest, m)
		}
	}
	return encode(rest)
}

// taggedArgs returns the arguments within a tag: JSON, or a tag for each.
func taggedArgs(inner string) json.RawMessage {
	args := object{}
	for _, match := range parameter.FindAllStringSubmatch(inner, -1) {
		args = append(args, member{match[1], scalarOf(match[2])})
	}
	if len(args) > 0 {
		return encode(args)
	}
	p := parser{text: strings.TrimSpace(inner)}
	if value, ok := p.value(0); ok {
		if o, isObject := value.(object); isObject {
			return encode(o)
		}
	}
	return encode(args)
}

// scalarOf returns a text as the JSON value that it is; the text itself if it is none.
func scalarOf(text string) any {
	p := parser{text: text}
	if value, ok := p.value(0); ok && strings.TrimSpace(p.text[p.at:]) == "" {
		return value
	}
	return text
}

// writtenArgs reads the arguments of a call as in a program.
func writtenArgs(text string) (json.RawMessage, bool) {
	args := object{}
	for _, part := range splitArgs(text) {
		match := argument.FindStringSubmatch(strings.TrimSpace(part))
		if match == nil {
			return nil, false
		}
		args = append(args, member{match[1], scalarOf(match[2])})
	}
	return encode(args), true
}

// splitArgs splits arguments at the commas outside of quotation marks and brackets.
func splitArgs(text string) (parts []string) {
	var quote rune
	depth := 0
	from := 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '(' || r == '[' || r == '{':
			depth++
		case r == ')' || r == ']' || r == '}':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	if strings.TrimSpace(text[from:]) != "" {
		parts = append(parts, text[from:])
	}
	return parts
}
