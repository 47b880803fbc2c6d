package tools

import (
	"fmt"

	"multis/internal/text"
	"multis/policy"
)

// maxOutputForLLM is the maximum length of a program's output in a result, in bytes. It leaves room in maxForLLM for the
// line that says how the program ended.
const maxOutputForLLM = maxForLLM - 1000

// Clip cuts a text for a model to maxBytes, and adds a line that says so. It masks secrets first, because a cut could
// hide one from the mask.
func Clip(s string, maxBytes int) string {
	s = policy.Hide(s)
	if len(s) <= maxBytes {
		return s
	}
	kept := text.ClipBytes(s, maxBytes)
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes]", kept, len(kept), len(s))
}

// clipOutput shortens the output of a program to its first and last bytes. Like Clip it masks secrets first.
func clipOutput(s string) string {
	s = policy.Hide(s)
	if len(s) <= maxOutputForLLM {
		return s
	}
	first, last := text.ClipBytes(s, maxOutputForLLM/2), text.ClipBytesFromStart(s, maxOutputForLLM/2)
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", first, len(s)-len(first)-len(last), last)
}

// clipTail shortens a text to its last bytes. Like Clip it masks secrets first.
func clipTail(s string) string {
	s = policy.Hide(s)
	if len(s) <= maxOutputForLLM {
		return s
	}
	last := text.ClipBytesFromStart(s, maxOutputForLLM-100)
	return fmt.Sprintf("[%d bytes before this left out]\n%s", len(s)-len(last), last)
}
