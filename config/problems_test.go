package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstBadLine_NotTheBlock(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{
		"a: 1\nb: 2\nc: \"x\nd: \"y\"\n":     3,
		"a: 1\nb: 2\n c: 3\nd: 4\n":          3,
		"a:\n  b: 1\n  c: [1,\nd: 2\ne: 3\n": 3,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, firstBadLine([]byte(file), 1))
		})
	}
}
