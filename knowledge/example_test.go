package knowledge_test

import (
	"fmt"

	"multis/knowledge"
	"multis/knowledge/search"
)

func ExampleContainsQuote() {
	passage := "Delivery costs 5 euro.\nIt takes two days."
	fmt.Println(knowledge.ContainsQuote(passage, "costs 5 euro. It takes"), knowledge.ContainsQuote(passage, "elivery costs 5"))
	// Output: true false
}

func ExampleCite() {
	fmt.Println(knowledge.Cite(search.Hit{Title: "prices.md", LineFrom: 12, LineTo: 14}))
	// Output: [prices.md, lines 12-14]
}

func ExampleAddressName() {
	fmt.Println(knowledge.AddressName("https://www.example.com/prices/?ref=mail"))
	// Output: example.com/prices
}
