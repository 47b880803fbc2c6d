package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/web"
	"multis/policy"
	"multis/store"
)

func TestWeb_SearchFindsWhatTheOwnerMayRead(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery of a piano costs 80 euro.", policy.RolePublic)
	r.addDocument("margins.md", "# Delivery\n\nA delivery costs us 31 euro.", policy.RoleAdmin)
	ana, off := r.chat("Ana", "whatsapp"), r.chat("Bank", "whatsapp")
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, off.ID, policy.ModeOff) })
	r.say(ana, policy.AuthorContact, "@whatsapp_1:example.com", "Is delivery on Sunday possible?")
	r.say(off, policy.AuthorContact, "@whatsapp_2:example.com", "The delivery of your card is late.")
	require.NoError(t, r.memory.IndexMessages(r.ctx))
	found, err := r.admin.Web.Search(r.ctx, "delivery")
	require.NoError(t, err)
	require.Len(t, found.Documents, 2)
	for _, p := range found.Documents {
		require.Regexp(t, `^/documents/\d+#p-\d+$`, p.Path)
		require.Equal(t, p.Source[:6] == "margin", p.Private)
		require.Contains(t, p.Match, "euro")
	}
	require.Len(t, found.Memory, 1, "a chat that is off is not searched")
	require.Equal(t, "Is delivery on Sunday possible?", found.Memory[0].Match)
	require.Regexp(t, `^/chats/\d+#m-\d+$`, found.Memory[0].Path)
	require.Contains(t, r.asOwner("/search delivery"), found.Documents[0].Match, "as the command says")

	for _, words := range []string{"the", "zzz", "'; drop table notes; --", "\u202e"} {
		_, err := r.admin.Web.Search(r.ctx, words)
		require.NoError(t, err, words)
	}
}

// ownNote stores a note of the owner's.
func (r *rig) ownNote(text string) (note store.NoteID) {
	r.t.Helper()
	said := r.storeCommand(store.Message{Body: "/remember " + text})
	r.exec("update messages set answered_at = now() where id = $1", said)
	r.tx(func(tx store.Tx) (err error) {
		note, err = r.memory.Remember(r.ctx, tx, r.room, said, text)
		return err
	})
	return note
}

func TestWeb_NoteIsChangedUndoneAndForgotten(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	note := r.ownNote("The plumber is called Otto")
	refused, err := r.admin.Web.ChangeNote(r.ctx, s, note, "The plumber is called Erna")
	require.NoError(t, err)
	require.Empty(t, refused)
	notes, former, err := r.admin.Web.Notes(r.ctx, r.room)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.Equal(t, "The plumber is called Erna", notes[0].Body)
	require.Equal(t, "The plumber is called Otto", former[notes[0].ID].Body)
	for _, gone := range []store.NoteID{note, 999} {
		refused, err = r.admin.Web.ChangeNote(r.ctx, s, gone, "x")
		require.NoError(t, err)
		require.Equal(t, "That note was changed or deleted in the meantime.", refused)
	}
	refused, err = r.admin.Web.UndoNote(r.ctx, s, notes[0].ID)
	require.NoError(t, err)
	require.Empty(t, refused)
	require.Contains(t, r.asOwner("/memory"), "Otto")

	refused, err = r.admin.Web.ForgetNote(r.ctx, s, note, "other")
	require.NoError(t, err)
	require.Contains(t, refused, "It has changed")
	rows, err := r.st.FindNote(r.ctx, note)
	require.NoError(t, err)
	refused, err = r.admin.Web.ForgetNote(r.ctx, s, note, web.DeletionVersion(rows))
	require.NoError(t, err)
	require.Empty(t, refused)
	require.Equal(t, 1, r.count("select count(*) from forgettings where kind = 'some'"))
	require.NoError(t, r.admin.Forgetting.Forget(r.ctx, 1))
	require.Zero(t, r.count("select count(*) from notes where body like '%plumber%'"))
	require.Equal(t, 2, r.count("select count(*) from audit_entries where action = 'memory' and rule = 'web_session_1'"))
}

func TestWeb_ModeIsSetAsByItsCommand(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	ana := r.chat("Ana", "whatsapp")
	set := func(was, to policy.Mode, pin string) string {
		refused, err := r.admin.Web.SetMode(r.ctx, s, web.ModeChange{Chat: ana.ID, Was: was, To: to, PIN: pin})
		require.NoError(t, err)
		return refused
	}
	effect, needsPIN, err := r.admin.Web.ExplainMode(r.ctx, ana, policy.ModeBusiness)
	require.NoError(t, err)
	require.False(t, needsPIN)
	require.Contains(t, effect, "becomes business.")
	require.Contains(t, effect, "I answer what is asked there from the public documents (0)")
	was := r.reload(ana).ModeIn(r.settings.Defaults)
	require.Empty(t, set(was, policy.ModeBusiness, ""))
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
	require.Contains(t, set(was, policy.ModePersonal, ""), "It has changed since the page showed it.")
	require.Contains(t, set(policy.ModeBusiness, policy.ModeBusiness, ""), "It has that mode already.")
	require.Equal(t, 1,
		r.count("select count(*) from audit_entries where action = 'mode' and outcome = 'business' and rule = 'web_session_1'"))
	require.Contains(t, r.asOwner("/undo"), "is now "+string(was), "as after the command")
}

func TestWeb_ModeOffNeedsThePIN(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	s := r.session("a")
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	_, needsPIN, err := r.admin.Web.ExplainMode(r.ctx, ana, policy.ModeOff)
	require.NoError(t, err)
	require.True(t, needsPIN)
	was := r.reload(ana).ModeIn(r.settings.Defaults)
	for _, c := range []struct{ digits, want string }{{"", "That needs your PIN"}, {"1111", "That is not the PIN"}, {canary, ""}} {
		refused, err := r.admin.Web.SetMode(r.ctx, s, web.ModeChange{Chat: ana.ID, Was: was, To: policy.ModeOff, PIN: c.digits})
		require.NoError(t, err)
		require.Contains(t, refused, c.want)
		require.Equal(t, c.digits == canary, r.reload(ana).IsOff(r.settings.Defaults))
	}
}

func TestWeb_PreviewSendsNothing(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	s := r.session("a")
	_, refused, err := r.admin.Web.Preview(r.ctx, s, "What does delivery cost?")
	require.NoError(t, err)
	require.NotEmpty(t, refused, "nothing answers customers")
	r.previewer = turnsPreviewer{r.newTurns()}
	r.restart()
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	r.addDocument("costs.md", "# Delivery\n\nDelivery costs us 2 euro in fuel.", policy.RoleAdmin)
	r.customer("Ana")
	rows := func() int {
		return r.count("select (select count(*) from messages) + (select count(*) from outbox) + (select count(*) from tasks) + (select count(*) from escalations)")
	}
	before := rows()
	p, refused, err := r.admin.Web.Preview(r.ctx, s, "What does delivery cost?")
	require.NoError(t, err)
	require.Empty(t, refused)
	require.Contains(t, p.Text, "5 euro")
	require.Contains(t, p.Citations[0].Source, "prices.md")
	require.False(t, p.Escalates)
	p, _, err = r.admin.Web.Preview(r.ctx, s, "Do you rent out tents?")
	require.NoError(t, err)
	require.True(t, p.Escalates)
	require.NotContains(t, p.Text, "fuel")
	require.Equal(t, before, rows())
	require.Equal(t, 2, r.count("select count(*) from audit_entries where action = 'business' and outcome = 'preview' and rule = 'web_session_1'"))
}

func TestWeb_UploadIsIndexedAsAFileOfTheRoom(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	add := func(name, data string, role policy.Role) (string, bool) {
		report, added, err := r.admin.Web.AddDocument(r.ctx, s, web.Upload{Name: name, Data: []byte(data), Role: role})
		require.NoError(t, err)
		return report, added
	}
	report, added := add("prices.md", "# Delivery\n\nDelivery of a piano costs 80 euro.", policy.RolePublic)
	require.True(t, added)
	require.Contains(t, report, "prices.md")
	require.Contains(t, report, "1 passage, public.")
	require.Contains(t, r.asOwner("/search piano"), "80 euro")
	_, added = add("prices.md", "# Delivery\n\nDelivery of a piano costs 90 euro.", policy.RoleAdmin)
	require.True(t, added)
	require.Equal(t, 1, r.count("select count(*) from documents where role = 'admin'"), "the same name is the same document")
	for name, data := range map[string]string{"a.exe": "MZ\x00\x01", "empty.md": "", "bad.pdf": "%PDF-1.7 nothing"} {
		report, added = add(name, data, policy.RolePublic)
		require.False(t, added, name)
		require.Contains(t, report, name)
	}
	require.Zero(t, r.count("select count(*) from documents where role = 'public'"))
}
