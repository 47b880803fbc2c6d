package main

import (
	"flag"
	"os"
	"slices"
	"testing"

	"multis/safety/sandbox"
	"multis/store/storetest"
)

// asProgram makes this test binary behave as the program itself.
const asProgram = "MULTIS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand {
		main()
	}
	if os.Getenv(asProgram) != "" || slices.Contains(os.Args, "read-document") { // its reader gets no environment
		main()
		return
	}
	// The tests wait for processes and servers more than for a processor.
	err := flag.Set("test.parallel", "6")
	if err != nil {
		panic(err)
	}
	storetest.Main(m)
}
