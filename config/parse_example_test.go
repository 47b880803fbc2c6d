package config_test

import (
	"fmt"

	"multis/config"
)

func noEnvironment(string) (string, bool) { return "", false }

func ExampleParse() {
	c, err := config.Parse("/etc/multis/config.yaml", []byte(`
homeserver: {address: http://127.0.0.1:8008, domain: matrix.test}
appservice: {sender_localpart: as_multis, as_token: secret-one, hs_token: secret-two}
owner: "@ana:matrix.test"
time_zone: Europe/Berlin
documents: {folder: papers}
`), noEnvironment)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Owner, c.TimeZone, c.Documents.Folder, c.Appservice.ASToken, c.Budget.PerDay, c.Budget.Currency)
	// Output: @ana:matrix.test Europe/Berlin /etc/multis/data/papers … 2.00 EUR
}

// The error lists all problems, one line each.
func ExampleParse_problems() {
	_, err := config.Parse("config.yaml", []byte(`homeserver: {address: http://127.0.0.1:8008, domain: matrix.test}
appservice: {sender_localpart: as_multis, as_token: secret-one, hs_token: secret-two}
owner: "@ana:other.test"
time_zone: Europe/Berlin
budget: {per_day: much}
`), noEnvironment)
	fmt.Println(err)
	// Output:
	// config.yaml:3: owner: is not a user of matrix.test; write the id you have there, or correct homeserver.domain
	// config.yaml:5: budget.per_day: "much" is not an amount of money; write it like 2.50, with at most 6 decimals
}

func ExampleParseMoney() {
	amount, err := config.ParseMoney("0.25")
	fmt.Println(int64(amount), amount, err)
	// Output: 250000 0.25 <nil>
}
