package language_test

import (
	"fmt"

	"multis/internal/language"
)

func ExampleDetect() {
	fmt.Println(language.Detect("Wann ist der Laden am Samstag und am Sonntag offen?"))
	fmt.Println(language.Detect("When is the shop open, and what does it cost?"))
	// Output:
	// german
	// english
}

func ExampleDetectPart() {
	fmt.Println(language.DetectPart("Pizza", language.Italian))
	// Output: italian
}
