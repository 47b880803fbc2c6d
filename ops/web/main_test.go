package web_test

import (
	"testing"

	"multis/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
