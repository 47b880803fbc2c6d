package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSet_ListValueMayHaveCommas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least+"business: {topics: [old]}\n"), 0o600))
	for value, want := range map[string][]string{
		`["Prices include tax, always","[x] \"quoted\""]`: {"Prices include tax, always", `[x] "quoted"`},
		"one rule, another": {"one rule", "another"}, "[]": {}, "[not json": {"[not json"},
	} {
		t.Run(value, func(t *testing.T) {
			require.NoError(t, CheckSetting(path, nil, "business.rules", value))
			c, err := LoadWith(path, map[string]string{"business.rules": value, "business.topics": "[]"})
			require.NoError(t, err)
			require.Equal(t, want, c.Business.Rules)
			require.Empty(t, c.Business.Topics, "an empty list replaces that of the file")
		})
	}
	require.ErrorContains(t, CheckSetting(path, nil, "business.rules", `["x"]`), "2 to 200 characters")
	require.ErrorContains(t, CheckSetting(path, nil, "business.pages", `["http://example.net/"]`), "beginning of a web address")
	require.ErrorContains(t, CheckSetting(path, nil, "business.pages", `["https://u:p@example.net/"]`), "beginning of a web address")
	require.ErrorContains(t, CheckSetting(path, nil, "operators", `["eva"]`), "is not a Matrix id")
	require.ErrorContains(t, CheckSetting(path, nil, "owner", "@eva:example.org"), "can only be changed in config.yaml")
}

func TestSettings_SeeLabelsAndTexts(t *testing.T) {
	t.Parallel()
	before := parse(t, least)
	require.Equal(t, []string{"chats.labels"}, Changes(before, parse(t, least+"chats: {labels: {vip: {delivery: draft}}}\n")))
	require.Equal(t, []string{"business.texts"}, Changes(before, parse(t, least+"business: {texts: {de: {greeting: Moin}}}\n")))
	require.Empty(t, Changes(before, parse(t, least)))
}
