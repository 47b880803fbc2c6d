package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACancelledTaskStopsWithinASecond(t *testing.T) {
	t.Parallel()
	require.Less(t, stopPoll, time.Second)
}
