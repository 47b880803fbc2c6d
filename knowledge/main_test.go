package knowledge_test

import (
	"context"
	"os"
	"testing"

	"multis/knowledge"
	"multis/store/storetest"
)

// readerArgument is the argument with which the test program runs as the reader process.
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
