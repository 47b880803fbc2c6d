package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is the field of a flag or an argument. It implements pflag.Value.
type value struct {
	field       reflect.Value
	placeholder string
	choices     []string // the allowed values; nil if any value is allowed
	required    bool
	isSet       bool
}

// String returns an empty text, because the help shows the default from the tag.
func (v *value) String() string { return "" }

// Type returns the placeholder that the help shows for the value.
func (v *value) Type() string { return v.placeholder }

// Set sets the field. Items of lists are separated by commas, those of maps by semicolons. Further calls add items to a list or a map.
func (v *value) Set(given string) error {
	if v.choices != nil && !slices.Contains(v.choices, given) {
		return fmt.Errorf("expected one of %s but got %q", strings.Join(v.choices, ", "), given)
	}
	if !v.isSet {
		v.isSet = true
		v.field.SetZero() // removes the default
	}
	switch v.field.Kind() {
	case reflect.Slice:
		for _, item := range splitList(given, ',') {
			if err := v.add(item); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		if v.field.IsNil() {
			v.field.Set(reflect.MakeMap(v.field.Type()))
		}
		for _, item := range splitList(given, ';') {
			key, value, ok := strings.Cut(item, "=")
			if !ok {
				return fmt.Errorf("expected %s but got %q", v.placeholder, item)
			}
			v.field.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
		}
		return nil
	default:
		return setOne(v.field, given)
	}
}

// isList reports whether the field holds a list of values.
func (v *value) isList() bool { return v.field.Kind() == reflect.Slice }

// add sets the field to a value, or appends the value to a list.
func (v *value) add(given string) error {
	if !v.isList() {
		return setOne(v.field, given)
	}
	item := reflect.New(v.field.Type().Elem()).Elem()
	if err := setOne(item, given); err != nil {
		return err
	}
	v.field.Set(reflect.Append(v.field, item))
	return nil
}

// setOne sets a field that holds one value, or a pointer to one.
func setOne(field reflect.Value, given string) error {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if duration, ok := reflect.TypeAssert[*time.Duration](field.Addr()); ok {
		d, err := time.ParseDuration(given)
		if err != nil {
			return fmt.Errorf("expected a duration such as 90s or 30m but got %q", given)
		}
		*duration = d
		return nil
	}
	switch field.Kind() { // only the kinds that occur: others panic in the first test of the command
	case reflect.String:
		field.SetString(given)
	case reflect.Bool:
		switch strings.ToLower(given) {
		case "true", "1", "yes":
			field.SetBool(true)
		case "false", "0", "no":
			field.SetBool(false)
		default:
			return fmt.Errorf("expected true or false but got %q", given)
		}
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return fmt.Errorf("expected a number but got %q", given)
		}
		field.SetInt(n)
	default:
		panic(fmt.Errorf("commandline: no values of kind %s", field.Kind()))
	}
	return nil
}

// splitList splits a list at a separator. A separator after a backslash is part of an item.
func splitList(list string, separator rune) []string {
	var items []string
	var item strings.Builder
	escaped := false
	for _, r := range list {
		switch {
		case escaped:
			if r != separator {
				item.WriteByte('\\')
			}
			item.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == separator:
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteRune(r)
		}
	}
	if escaped {
		item.WriteByte('\\')
	}
	return append(items, item.String())
}
