package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

func TestLimits_CutWholeTurnsAndPassages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200) // about 340 tokens
	var hits []search.Hit
	var window []store.Message
	for i := range 10 {
		hits = append(hits, search.Hit{Ref: store.ChunkRef(store.ChunkID(i)), Text: long})
		author := policy.AuthorContact
		if i%2 == 1 {
			author = policy.AuthorMultisOwner
		}
		window = append(window, store.Message{ID: store.MessageID(i), Author: author, Body: long})
	}
	l := Limits{Context: 4000, Reserve: 1000}
	kept, turns := l.trim(500, hits, window)
	require.Len(t, kept, 4, "two thirds of 2500")
	require.Equal(t, store.ChunkRef(0), kept[0].Ref, "the best ones")
	require.NotEmpty(t, turns)
	require.Equal(t, policy.AuthorContact, turns[0].Author, "it begins with a question, not in the middle of an answer")
	require.Equal(t, store.MessageID(9), turns[len(turns)-1].ID, "the newest stay")
	kept, turns = l.trim(5000, hits, window)
	require.Empty(t, kept)
	require.Empty(t, turns)
}

func TestLimits_TrimOldResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2000)
	r := llm.Request{System: "s", Messages: []llm.Message{
		{Role: llm.RoleUser, Text: "question"},
		{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "1", Name: "read_file", Args: json.RawMessage(`{}`)}}},
		{Role: llm.RoleTool, CallID: "1", Text: long},
		{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "2", Name: "read_file", Args: json.RawMessage(`{}`)}}},
		{Role: llm.RoleTool, CallID: "2", Text: long},
	}}
	before := r.Messages
	require.NoError(t, Limits{Context: 6000}.WithDefaults().fit(&r))
	require.Equal(t, leftOutText, r.Messages[2].Text)
	require.Equal(t, long, r.Messages[4].Text)
	require.Equal(t, long, before[2].Text, "what is stored stays whole")
	require.ErrorIs(t, Limits{Context: 500}.fit(&r), errTooLarge)
}

func TestLimits_KeepLastTurns(t *testing.T) {
	t.Parallel()
	var said []store.Message
	for i := range 8 {
		author := policy.AuthorContact
		if i%2 == 1 {
			author = policy.AuthorMultisOwner
		}
		said = append(said, store.Message{ID: store.MessageID(i), Author: author, Body: strings.Repeat("word ", 400)}) // about 670 tokens
	}
	require.Zero(t, Limits{Context: 64_000}.WithDefaults().SummariseCount(said, 0))
	n := Limits{Context: 16_000}.WithDefaults().SummariseCount(said, 0)
	require.Equal(t, 8, n+len(said[n:]))
	require.Equal(t, policy.AuthorContact, said[n].Author, "whole turns")
	require.Equal(t, 6, n, "what stays takes half of what may be, 2,000 tokens")
}
