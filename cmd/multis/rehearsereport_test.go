package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRehearseReport_CountsByGroup(t *testing.T) {
	t.Parallel()
	expect := &expectedReply{Outcome: outcomes{outcomeAnswered}, Contains: []string{"28"}, Never: []string{"21"}}
	rep := report{groups: map[string]*tally{}}
	for _, c := range []struct {
		kind  string
		reply rehearsedReply
	}{
		{"table", rehearsedReply{Outcome: outcomeAnswered, Text: "It is 28."}},
		{"table", rehearsedReply{Outcome: outcomeAnswered, Text: "It is 21."}},
		{"limit", rehearsedReply{Outcome: outcomeEscalated, Proposals: []rehearsedProposal{{Text: "21"}, {Text: "28"}}}},
		{"limit", rehearsedReply{Outcome: outcomeEscalated, Proposals: []rehearsedProposal{{Text: "28 or 21"}}}},
	} {
		q := rehearsedQuestion{Kind: c.kind, Expect: expect}
		c.reply.Failed = expect.check(c.reply)
		rep.add("en", "open", q, c.reply)
	}
	rep.add("en", "open", rehearsedQuestion{Kind: "table"}, rehearsedReply{Outcome: outcomeSilent})
	require.Equal(t, &tally{right: 1, wrong: 1, person: 2, proposed: 1}, rep.groups["all"])
	require.Equal(t, &tally{person: 2, proposed: 1}, rep.groups["kind: limit"])
	var b strings.Builder
	require.NoError(t, rep.write(&b))
	require.Contains(t, b.String(), "language: en")
}
