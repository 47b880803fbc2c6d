package admin

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// No alias hides a command, and each command that is offered instead of an alias can be used.
func TestAliases_OfferOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	offered := regexp.MustCompile("`/([a-z-]+)")
	for name, o := range map[string]Options{
		"configured": {Config: struct{ Configuration }{}, Previewer: struct{ Previewer }{}},
		"terminal":   {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := New(o).table
			owner := map[string]string{}
			for _, c := range table.commands {
				_, exists := table.lookup(c.name)
				require.Equal(t, c.run != nil, exists, c.name)
				for _, alias := range c.aliases {
					_, exists := table.lookup(alias)
					require.False(t, exists, "/%s is a command", alias)
					require.NotContains(t, owner, alias)
					owner[alias] = c.name
				}
				for _, match := range offered.FindAllStringSubmatch(c.alternative(), -1) {
					_, exists := table.lookup(match[1])
					require.True(t, exists, "/%s offers /%s", c.name, match[1])
				}
				require.NotEmpty(t, c.alternative(), c.name)
			}
			require.NotEmpty(t, owner)
		})
	}
}
