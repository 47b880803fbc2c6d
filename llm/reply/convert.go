package reply

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// reader puts values into a struct.
type reader struct {
	into        reflect.Value
	hasElements bool // single elements of the list were taken, and others may follow as values of their own
}

func newReader(into any) *reader { return &reader{into: reflect.ValueOf(into).Elem()} }

// take puts a value into the struct if it fits. first says that nothing stands before it.
func (r *reader) take(value any, first bool) bool {
	if elements, ok := r.element(value); ok {
		l := listField(r.into)
		l.Set(reflect.AppendSlice(l, elements))
		r.hasElements = true
		return true
	}
	if r.hasElements {
		return false
	}
	switch value := value.(type) {
	case object:
		if hasOwnKey(r.into.Type(), value) {
			return fill(r.into, value)
		}
		if inner, found := r.wrapped(value); found {
			return fill(r.into, inner)
		}
		if len(value) == 1 && isNested(value[0].value) && r.take(value[0].value, false) {
			return true
		}
		return fill(r.into, value)
	case list:
		return r.takeList(value, first)
	default:
		return false
	}
}

// wrapped returns the object that is meant among the members of another one, such as {"thoughts": "...", "response": {...}}: it has the
// name of the struct's first field. It may be JSON in a text.
func (r *reader) wrapped(o object) (object, bool) {
	first, _ := names(r.into.Type().Field(0))
	for _, m := range o {
		value := m.value
		if text, isText := value.(string); isText {
			p := parser{text: text}
			value, _ = p.value(0)
		}
		if inner, isObject := value.(object); isObject && first != "" && valueOf(inner, first) != nil {
			return inner, true
		}
	}
	return nil, false
}

func isNested(value any) bool {
	switch value.(type) {
	case object, list:
		return true
	default:
		return false
	}
}

// takeList puts a list at the top into the first field that is a list, or its only element into the struct. A list without objects is only
// taken if it is first, because prose has brackets too.
func (r *reader) takeList(values list, first bool) bool {
	l := listField(r.into)
	hasObjects := false
	for _, v := range values {
		o, isObject := v.(object)
		if isObject && (!l.IsValid() || !hasOwnKey(l.Type().Elem(), o)) {
			return len(values) == 1 && r.take(o, first)
		}
		hasObjects = hasObjects || isObject
	}
	return l.IsValid() && (hasObjects || first) && convert(l, values)
}

// element returns an object that is an element of the struct's list, not the struct.
func (r *reader) element(value any) (reflect.Value, bool) {
	l := listField(r.into)
	o, isObject := value.(object)
	if !l.IsValid() || !isObject || hasOwnKey(r.into.Type(), o) || !hasOwnKey(l.Type().Elem(), o) {
		return reflect.Value{}, false
	}
	elements := reflect.New(l.Type()).Elem()
	return elements, convert(elements, list{o})
}

// children returns the values directly within a value.
func children(value any) []any {
	switch value := value.(type) {
	case object:
		inner := make([]any, len(value))
		for i, m := range value {
			inner[i] = m.value
		}
		return inner
	case list:
		return value
	default:
		return nil
	}
}

// listField returns the first field of a struct that is a list; the zero Value if there is none.
func listField(s reflect.Value) reflect.Value {
	for _, f := range s.Fields() {
		if f.Kind() == reflect.Slice && f.CanSet() && f.Type() != rawType {
			return f
		}
	}
	return reflect.Value{}
}

var rawType = reflect.TypeFor[json.RawMessage]() //nolint:gochecknoglobals // a constant, were there constant types

// names returns the name of a field as it is compared, and its other names; no name for a field that is not read.
func names(f reflect.StructField) (own string, others []string) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return "", nil
	}
	if name == "" {
		name = f.Name
	}
	for alias := range strings.SplitSeq(f.Tag.Get("alias"), ",") {
		if alias != "" {
			others = append(others, plainName(alias))
		}
	}
	return plainName(name), others
}

// plainName returns a name as it is compared: in lower case, only letters and digits.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// hasOwnKey reports whether an object has the name of a field of a struct type.
func hasOwnKey(t reflect.Type, o object) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if own, _ := names(f); own != "" && valueOf(o, own) != nil {
			return true
		}
	}
	return false
}

// valueOf returns the member of an object with a plain name; nil if there is none.
func valueOf(o object, name string) *member {
	for i := range o {
		if plainName(o[i].key) == name {
			return &o[i]
		}
	}
	return nil
}

// fill puts the members of an object into the fields of a struct. It returns false if it put none.
func fill(s reflect.Value, o object) bool {
	filled := false
	for i := range s.NumField() {
		own, others := names(s.Type().Field(i))
		if own == "" {
			continue
		}
		found := valueOf(o, own)
		for _, name := range others {
			if found != nil {
				break
			}
			found = valueOf(o, name)
		}
		if found != nil {
			filled = convert(s.Field(i), found.value) || found.value == nil || filled
		}
	}
	return filled
}

// convert puts a value into a Go value of another type, if it can.
func convert(into reflect.Value, value any) bool {
	if value == nil {
		return false
	}
	if into.Type() == rawType {
		into.SetBytes(encode(value))
		return true
	}
	if values, isList := value.(list); isList && into.Kind() != reflect.Slice {
		return len(values) > 0 && convert(into, values[0])
	}
	switch into.Kind() {
	case reflect.Pointer:
		inner := reflect.New(into.Type().Elem())
		if !convert(inner.Elem(), value) {
			return false
		}
		into.Set(inner)
		return true
	case reflect.Slice:
		return convertList(into, value)
	case reflect.Struct:
		return convertStruct(into, value)
	default:
		return convertScalar(into, value)
	}
}

func convertList(into reflect.Value, value any) bool {
	values, isList := value.(list)
	if !isList {
		values = list{value}
	}
	read := reflect.MakeSlice(into.Type(), 0, len(values))
	for _, v := range values {
		element := reflect.New(into.Type().Elem()).Elem()
		if convert(element, v) {
			read = reflect.Append(read, element)
		}
	}
	into.Set(read)
	return read.Len() > 0 || len(values) == 0
}

func convertStruct(into reflect.Value, value any) bool {
	if o, isObject := value.(object); isObject {
		return fill(into, o)
	}
	for _, f := range into.Fields() {
		if f.Kind() == reflect.String && f.CanSet() {
			return convertScalar(f, value)
		}
	}
	return false
}

func convertScalar(into reflect.Value, value any) bool {
	if o, isObject := value.(object); isObject {
		return len(o) == 1 && convert(into, o[0].value)
	}
	text := textOf(value)
	switch into.Kind() {
	case reflect.String:
		into.SetString(text)
		return true
	case reflect.Bool:
		yes, ok := truth(text)
		into.SetBool(yes)
		return ok
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := integer(text)
		if !ok || into.OverflowInt(n) {
			return false
		}
		into.SetInt(n)
		return true
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		into.SetFloat(n)
		return err == nil
	default:
		return false
	}
}

// textOf returns a scalar as a text.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case number:
		return string(value)
	case bool:
		return strconv.FormatBool(value)
	default:
		return ""
	}
}

// truth reads a text as a truth value.
func truth(s string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "y", "1":
		return true, true
	case "false", "no", "n", "0", "none", "":
		return false, true
	default:
		return false, false
	}
}

var firstNumber = regexp.MustCompile(`-?\d+(?:\.\d+)?`)

// integer returns the first number in a text, without its fraction.
func integer(s string) (int64, bool) {
	if _, err := strconv.ParseFloat(s, 64); err == nil && strings.ContainsAny(s, "eE") {
		return 0, false // nobody counts so
	}
	n, err := strconv.ParseFloat(firstNumber.FindString(s), 64)
	if err != nil {
		return 0, false
	}
	if n > 1<<53 || n < -(1<<53) {
		return 0, false
	}
	return int64(n), true
}

// encode returns a value as JSON.
func encode(value any) json.RawMessage {
	raw, err := json.Marshal(plain(value))
	if err != nil { // cannot happen: it is made of texts and numbers that were read
		return json.RawMessage("null")
	}
	return raw
}

// plain returns a value in the types that encoding/json writes. Of two members with one key the last counts.
func plain(value any) any {
	switch value := value.(type) {
	case object:
		all := make(map[string]any, len(value))
		for _, m := range value {
			all[m.key] = plain(m.value)
		}
		return all
	case list:
		all := make([]any, len(value))
		for i, v := range value {
			all[i] = plain(v)
		}
		return all
	case number:
		if raw := json.Number(value); json.Valid([]byte(raw)) {
			return raw
		}
		n, _ := strconv.ParseFloat(string(value), 64)
		return n
	default:
		return value
	}
}
