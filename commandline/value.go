package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is the field of a flag or an argument. Its methods but add are those that pflag calls.
type value struct {
	field       reflect.Value
	placeholder string
	choices     []string // what may be given; nil if anything
	required    bool
	isSet       bool
}

// String is empty, because the help says what is in the tag.
func (v *value) String() string { return "" }

// Type returns what the help shows for a value.
func (v *value) Type() string { return v.placeholder }

// Set sets the field to what is given. Lists are separated by commas, maps by semicolons, and what is given again is added to them.
func (v *value) Set(given string) error {
	if v.choices != nil && !slices.Contains(v.choices, given) {
		return fmt.Errorf("expected one of %s but got %q", strings.Join(v.choices, ", "), given)
	}
	if !v.isSet {
		v.isSet = true
		v.field.SetZero() // no default
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

// isList says whether the field holds any number of values.
func (v *value) isList() bool { return v.field.Kind() == reflect.Slice }

// add sets the field to what is given, or adds it to a list.
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
	switch field.Kind() { // the kinds that fields have; others panic in the first test of the command
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

// splitList splits a list at a separator, which a backslash before it makes part of an item.
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
