package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var allAuthors = []Author{
	"", AuthorContact, AuthorOwnerClient, AuthorOwnerPhone, AuthorMultisOwner, AuthorMultisBot, AuthorOperator, AuthorBridgeBot,
	AuthorOtherBot, "new",
}

func TestAdminRoom_CountsOwnerClientAndOperators(t *testing.T) {
	t.Parallel()
	for _, author := range allAuthors {
		counts := author == AuthorOwnerClient || author == AuthorOperator
		for _, e := range []AdminEvent{{}, {Forgeable: true}, {Closed: true}, {Forgeable: true, Closed: true}} {
			e.Author = author
			require.Equal(t, counts && !e.Forgeable && !e.Closed, e.Refusal() == "", "%+v", e)
		}
		for _, in := range []AdmitInput{{Text: "/pause all"}, {Text: "yes"}, {Voice: true}, {Text: "1234", Edited: true}} {
			in.Kind = KindAdmin
			in.Author = author
			in.Now = time.Now()
			in.SentAt = in.Now
			got := Admit(in).Action
			require.Equal(t, counts && !in.Edited, got == ActionCommand || got == ActionTranscribe, "%s %+v", author, in)
		}
		require.Equal(t, author == AuthorOwnerClient, author.MayCommandAsOwner())
		require.Equal(t, author == AuthorOwnerClient, author.MayAnswer(false))
		require.Equal(t, counts, author.MayAnswer(true))
	}
}

func TestRefusedAnswer_ReportedToItsAuthor(t *testing.T) {
	t.Parallel()
	for want, e := range map[Code]AdminEvent{
		CodeBridged:    {Author: AuthorOwnerPhone},
		CodeUntrusted:  {Author: AuthorOwnerPhone, Forgeable: true},
		CodeRoomClosed: {Author: AuthorOperator, Forgeable: true, Closed: true},
	} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			require.Equal(t, want, e.Refusal())
			require.True(t, want.IsReportedRefusal())
			require.NotEmpty(t, want.Sentence())
		})
	}
	for want, e := range map[Code]AdminEvent{
		CodeNotAllowed: {Author: AuthorContact, Closed: true},
		CodeEcho:       {Author: AuthorMultisBot, Closed: true},
	} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			require.Equal(t, want, e.Refusal())
			require.False(t, want.IsReportedRefusal())
		})
	}
}
