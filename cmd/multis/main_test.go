package main

import (
	"os"
	"testing"

	"multis/store/storetest"
)

// asProgram makes this test binary behave as the program itself.
const asProgram = "MULTIS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	storetest.Main(m)
}
