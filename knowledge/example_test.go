package knowledge_test

import (
	"fmt"

	"multis/knowledge"
	"multis/knowledge/search"
)

func ExampleCite() {
	fmt.Println(knowledge.Cite(search.Hit{Title: "prices.md", LineFrom: 12, LineTo: 14}))
	// Output: [prices.md, lines 12-14]
}

func ExampleAddressName() {
	fmt.Println(knowledge.AddressName("https://www.example.com/prices/?ref=mail"))
	// Output: example.com/prices
}
