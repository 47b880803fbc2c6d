package knowledge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
)

func TestUnit_ShownWithoutMarks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"**Office:** Monday to Thursday.":   "Office: Monday to Thursday.",
		"- **Deposit** 50 EUR":              "Deposit 50 EUR",
		"The file is called a_b*c.":         "The file is called a_b*c.",
		"Call crm__delete on __init__.":     "Call crm__delete on init.",
		"Helmets are __not__ in the price.": "Helmets are not in the price.",
	} {
		units := knowledge.Units(body)
		require.Len(t, units, 1)
		require.Equal(t, want, units[0].Shown())
	}
}
