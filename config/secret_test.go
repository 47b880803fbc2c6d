package config

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecrets_IncludePartsOfAddresses(t *testing.T) {
	t.Parallel()
	var c Config
	var want []string
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() { //nolint:exhaustive // nothing else holds one
		case reflect.Struct:
			if v.Type().PkgPath() == reflect.TypeFor[Config]().PkgPath() {
				for f, field := range v.Fields() {
					if f.IsExported() {
						fill(field)
					}
				}
			}
		case reflect.Map:
			value := reflect.New(v.Type().Elem()).Elem()
			fill(value)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("name").Convert(v.Type().Key()), value)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		case reflect.String:
			if n++; v.Type() == reflect.TypeFor[Secret]() {
				v.SetString("secret" + string(rune('a'+n%26)) + string(rune('a'+n/26)))
				want = append(want, v.String())
			}
		}
	}
	fill(reflect.ValueOf(&c).Elem())
	require.Greater(t, len(want), 10)
	require.Subset(t, c.Secrets(), want)

	c = Config{
		Database: Database{URL: "postgres://multis:hunter2@db:5432/multis"},
		MCP:      map[string]MCP{"far": {URL: "https://tools.example.com/s/0123456789abcdef/mcp?key=value"}},
	}
	require.Equal(t, []string{
		"0123456789abcdef", "https://tools.example.com/s/0123456789abcdef/mcp?key=value", "hunter2", "postgres://multis:hunter2@db:5432/multis",
		"value",
	}, c.Secrets())
	c = Config{Database: Database{URL: "postgres://multis:multis@db/multis"}}
	require.NotContains(t, c.Secrets(), "multis")
}
