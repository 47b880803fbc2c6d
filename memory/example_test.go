package memory_test

import (
	"fmt"
	"time"

	"multis/memory"
	"multis/policy"
	"multis/store"
)

func ExampleQuestionPeriod() {
	now := time.Date(2026, 11, 5, 9, 30, 0, 0, time.UTC)
	fmt.Println(memory.QuestionPeriod("What came in yesterday?", now).From.Format(time.DateTime))
	fmt.Println(memory.QuestionPeriod("Who is Ana?", now).IsZero())
	// Output:
	// 2026-11-04 00:00:00
	// true
}

func ExampleLatestPeriod() {
	now := time.Date(2026, 11, 8, 12, 0, 0, 0, time.UTC)
	fmt.Println(memory.LatestPeriod("What was said last?", now).From.Format(time.DateTime))
	fmt.Println(memory.LatestPeriod("What was said last about the invoice?", now).IsZero())
	// Output:
	// 2026-11-01 12:00:00
	// true
}

func ExampleLastMessageToAnswer() {
	messages := []store.Message{
		{Author: policy.AuthorContact, Body: "When do you open?"},
		{Author: policy.AuthorContact, Body: "Thanks!"},
	}
	last, found := memory.LastMessageToAnswer(messages, true)
	fmt.Println(last.Body, found)
	// Output: When do you open? true
}

func ExampleMessageSource() {
	chat := store.Chat{Name: "Ana", Protocol: "whatsapp", Kind: policy.KindDM}
	sent := time.Date(2026, 11, 3, 18, 22, 0, 0, time.UTC)
	fmt.Println(memory.MessageSource(chat, store.Message{Author: policy.AuthorContact, At: sent}, time.UTC, sent))
	// Output: Ana · WhatsApp, Tue 3 Nov 18:22
}

func ExampleNoteText() {
	fmt.Println(memory.NoteText(store.Note{Body: "The shop opens at 9", Was: "The shop opens at 8"}))
	// Output: The shop opens at 9 (was: The shop opens at 8)
}
