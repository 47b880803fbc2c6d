package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRun_CancelStopsWithinSecond(t *testing.T) {
	t.Parallel()
	require.Less(t, stopPoll, time.Second)
}
