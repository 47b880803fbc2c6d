package knowledge_test

import (
	"context"
	"os"
	"testing"

	"multis/knowledge"
	"multis/store/storetest"
)

// readerArgument makes the test program the process that reads a file.
const readerArgument = "read-document"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == readerArgument {
		if err := knowledge.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	storetest.Main(m)
}
