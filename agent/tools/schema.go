package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description,omitempty"`
	Items       *property `json:"items,omitempty"`
}

// Schema returns the JSON Schema of a struct of arguments. Fields are named by their json tag and described by their
// jsonschema tag; those with omitempty are optional. Fields may be strings, integers, numbers, booleans, and lists of
// them.
func Schema[T any]() json.RawMessage {
	t := reflect.TypeFor[T]()
	properties, required := map[string]property{}, []string{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = describe(f.Type, f.Tag.Get("jsonschema"))
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	schema, err := json.Marshal(struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Additional bool                `json:"additionalProperties"`
	}{"object", properties, required, false})
	if err != nil {
		panic(err) // plain structs can always be encoded
	}
	return schema
}

// argumentNames returns the names of the arguments in a struct, in the order of its fields.
func argumentNames[T any]() (names []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func describe(t reflect.Type, description string) property {
	switch t.Kind() {
	case reflect.String:
		return property{Type: "string", Description: description}
	case reflect.Int, reflect.Int64:
		return property{Type: "integer", Description: description}
	case reflect.Float64:
		return property{Type: "number", Description: description}
	case reflect.Bool:
		return property{Type: "boolean", Description: description}
	case reflect.Slice:
		items := describe(t.Elem(), "")
		return property{Type: "array", Description: description, Items: &items}
	default:
		panic(fmt.Sprintf("no schema for %s", t)) // found by the first test of the tool
	}
}
