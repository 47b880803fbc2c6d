package policy_test

import (
	"fmt"
	"time"

	"multis/policy"
)

func ExampleAdmit() {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	in := policy.AdmitInput{
		Mode: policy.ModeBusiness, Kind: policy.KindDM, Author: policy.AuthorContact,
		SentAt: now.Add(-time.Minute), Now: now, MaxAge: time.Hour,
		EscalationKeywords: []string{"refund"},
		StoreCap:           policy.Rate{Minute: 30, Day: 1000}, SendCap: policy.Rate{Minute: 5, Day: 100},
	}
	for _, text := range []string{"Are you open today?", "I want a refund", "thanks!"} {
		in.Text = text
		d := policy.Admit(in)
		fmt.Println(d.Action, d.Code)
	}
	// Output:
	// answer answer
	// escalate keyword
	// archive acknowledged
}

func ExampleGate() {
	in := policy.GateInput{
		Purpose: policy.PurposeReply, As: policy.AsOwner, Mode: policy.ModeBusiness, Kind: policy.KindDM,
		Encryption: policy.EncryptionNo, HasRoom: true, Verified: true, HasCitation: true,
		SendCap: policy.Rate{Minute: 5, Day: 100}, MsgType: "m.text", Body: "We open at 9:00.",
	}
	fmt.Println(policy.Gate(in).Why)
	in.Unsupported = policy.FindUnsupported(in.Body, "Opening hours: 10:00 to 18:00")
	fmt.Println(policy.Gate(in).Why)
	// Output:
	// The chat is business, you were away, it quotes a source.
	// “9” is in none of the sources.
}
