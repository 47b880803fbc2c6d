package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"multis/safety/sandbox"
)

// TestMain makes the test program the child of the sandbox as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	if len(os.Args) == 4 && os.Args[1] == holdArgument {
		holdLock(os.Args[2], os.Args[3])
		os.Exit(1) // it is killed before
	}
	if len(os.Args) == 4 && os.Args[1] == reachArgument {
		tryPorts(os.Args[2], os.Args[3])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
