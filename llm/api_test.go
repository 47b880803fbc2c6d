package llm

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestEvents_YieldData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"names and ids are left out":       {"event: a\nid: 1\ndata: {}\n\n", []string{"{}\n"}},
		"lines of one event are joined":    {"data: a\ndata:b\n\ndata: c\n\n", []string{"a\nb\n", "c\n"}},
		"a comment keeps the line open":    {": ping\n\ndata: a\n\n", []string{"a\n"}},
		"lines may end as on Windows":      {"data: a\r\n\r\n", []string{"a\n"}},
		"an event that is cut is left out": {"data: a\n\ndata: b\n", []string{"a\n"}},
		"nothing":                          {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for data, err := range events(iotest.OneByteReader(strings.NewReader(c.stream))) {
				require.NoError(t, err, name)
				got = append(got, string(data))
			}
			require.Equal(t, c.want, got, name)
		})
	}
}

func TestEvents_EndWithConnectionError(t *testing.T) {
	t.Parallel()
	var last error
	for _, err := range events(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("data: a\n\n")))) {
		last = err
	}
	require.ErrorIs(t, last, iotest.ErrTimeout)
}
