package search_test

import (
	"fmt"
	"strings"

	"multis/knowledge/search"
)

// What is indexed and what is searched for is split into words in the same way.
func ExampleWords() {
	fmt.Println(strings.Join(search.Words("Our E-Bikes weighed 25kg at the Café"), " "))
	fmt.Println(strings.Join(search.Words("日本語"), " "))
	// Output:
	// our e bikes ebikes weighed 25 kg at the cafe
	// 日本 本語
}

// The name of the document and the headings are indexed with each passage.
func ExampleIndexText() {
	fmt.Println(search.IndexText("price-list.md", "Bread"+search.SectionSeparator+"Rye", "We bought a new oven."))
	// Output:
	// price list bread rye we buy a new oven
}

func ExampleBreakOffsets() {
	text := "Dr. Who pays 2.50 now. Then he leaves."
	from := 0
	for _, to := range search.BreakOffsets(text) {
		fmt.Printf("%q\n", text[from:to])
		from = to
	}
	// Output:
	// "Dr. Who pays 2.50 now. "
	// "Then he leaves."
}
