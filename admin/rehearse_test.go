package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/agent"
	"multis/policy"
	"multis/store"
)

// turnsPreviewer answers as the turns of an agent do.
type turnsPreviewer struct{ turns *agent.Turns }

func (p turnsPreviewer) Preview(ctx context.Context, room store.Chat, message store.Message, question string) (admin.Preview, error) {
	preview, err := p.turns.Preview(ctx, room, message, question)
	return admin.Preview(preview), err
}

func TestRehearse_ShowsWhatWouldDiffer(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.previewer = turnsPreviewer{r.newTurns()}
	r.settings.WebAddress = "https://multis.example.com"
	r.restart()
	require.Contains(t, r.asOwner("/rehearse"), "there is nothing to rehearse")
	prices := func(delivery string) { r.addDocument("prices.md", "# Delivery\n\n"+delivery, policy.RolePublic) }
	r.addDocument("parking.md", "# Parking\n\nParking costs 2 euro an hour.", policy.RolePublic)
	prices("Delivery costs 5 euro within the city.")
	for _, name := range []string{"Ana", "Ben"} {
		require.Contains(t, r.customerAsks(r.customer(name), "What does delivery cost?")[0], "5 euro")
	}
	cid := r.customer("Cid")
	require.Contains(t, r.customerAsks(cid, "What does parking cost?")[0], "2 euro")
	require.Equal(t, []string{toldTeam}, r.customerAsks(r.customer("Dan"), "Do you deliver pianos to Potsdam?"))
	require.Contains(t, r.asOwner("/rehearse"), "**0 of 3 answers differ**", "a question that two have asked counts once")

	prices("Delivery costs 8 euro within the city. A delivery of pianos to Potsdam costs 90 euro.")
	r.exec("delete from documents where name = 'parking.md'")
	before := r.count("select count(*) from outbox where purpose <> 'notice'")
	said := r.asOwner("/rehearse 7")
	require.Contains(t, said, "**3 of 3 answers differ**")
	require.Contains(t, said, "1 other number · 1 now escalated · 1 now answered")
	require.Contains(t, said, "then: “[Nora] Delivery costs 5 euro within the city. (from Delivery)”")
	require.Contains(t, said, "Delivery costs 8 euro within the city.")
	require.Contains(t, said, "https://multis.example.com/rehearsal")
	require.Equal(t, before, r.count("select count(*) from outbox where purpose <> 'notice'"), "nothing is sent to customers")

	var last store.Rehearsal
	found, err := store.GetSetting(r.ctx, r.st.DB(), store.SettingRehearsal, &last)
	require.NoError(t, err)
	require.True(t, found)
	require.Len(t, last.Different, 3)
	require.Equal(t, 7, last.Days)
	for _, wrong := range []string{"/rehearse x", "/rehearse 0", "/rehearse 91"} {
		require.Contains(t, r.asOwner(wrong), "asks again what customers asked", wrong)
	}

	r.exec("update chats set mode = 'personal' where id = $1", cid.ID)
	require.Contains(t, r.asOwner("/rehearse"), "**2 of 2 answers differ**", "only business chats count")
}
