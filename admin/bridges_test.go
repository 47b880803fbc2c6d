package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// addClaim stores that a bot claims the chats of @bot:example.com.
func (r *rig) addClaim(bot id.UserID) int64 {
	r.t.Helper()
	var change int64
	r.tx(func(tx store.Tx) (err error) {
		change, _, err = store.InsertBridgeChange(r.ctx, tx, "whatsapp", "@bot:example.com", bot)
		return err
	})
	return change
}

func TestBridge_ConflictingClaimAsksOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	require.Equal(t, text("**Bridges**", "WhatsApp — 1 chat, by @bot:example.com"), r.asOwner("/bridges"))
	change := r.addClaim("@bot2:example.com")
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicBridgeReplaced, SubjectID: change}))
	told := bodies(r.sendQueued())
	require.Contains(t, told, "@bot2:example.com says that chats of @bot:example.com (1 chat) are its own now")
	require.Contains(t, told, "/bridges accept @bot2:example.com")
	require.NotContains(t, r.asOwner("1"), "is your", "a number answers no question that nobody asked for")
	require.Contains(t, r.asOperator("/bridges accept @bot2:example.com"), "Only the owner can use")
	require.Zero(t, r.count("select count(*) from bridge_changes where accepted"))

	require.Contains(t, r.asOwner("/bridges refuse @bot2:example.com"), "gets nothing: its rooms stay unread")
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicBridgeReplaced, SubjectID: change}))
	require.Empty(t, bodies(r.sendQueued()), "what was decided is not asked again")
	require.Contains(t, r.asOwner("/bridges accept @bot3:example.com"), "No bot of that name waits")
	require.Contains(t, r.asOwner("/bridges accept @bot2:example.com"), "is your WhatsApp bridge from now on")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'describe' and args->>'room' = ''"),
		"all rooms are looked at")
}

func TestBridge_OwnerPicksKeeper(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.addClaim("@bot2:example.com")
	require.Contains(t, r.asOwner("/bridges"), "1 it is my bridge")
	require.Contains(t, r.react(r.lastSent().Event, "👍"), "Please type the number")
	require.Zero(t, r.count("select count(*) from bridge_changes where decided_at is not null"))
	require.Contains(t, r.asOwner("1"), "is your WhatsApp bridge from now on")
	ana := store.Chat{
		Protocol:   "whatsapp",
		ChannelID:  "channel2",
		RoomID:     new(id.RoomID),
		Kind:       policy.KindDM,
		Name:       "Ana",
		BridgeBot:  "@bot2:example.com",
		Encryption: policy.EncryptionNo,
	}
	*ana.RoomID = "!new:example.com"
	r.tx(func(tx store.Tx) error {
		_, err := store.UpsertChat(r.ctx, tx, ana)
		return err
	})
	require.Equal(t, 1, r.count("select count(*) from chats where bridge_bot = '@bot2:example.com'"))
}

func TestBridge_UnconfirmedIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers   func(r *rig) string
		confirmed int
		says      string
	}{
		"a number":     {func(r *rig) string { return r.asOwner("1") }, 1, "is your WhatsApp bridge"},
		"a reaction":   {func(r *rig) string { return r.react(r.lastSent().Event, "👍") }, 1, "is your WhatsApp bridge"},
		"a no":         {func(r *rig) string { return r.asOwner("2") }, 0, "is none of yours"},
		"the command":  {func(r *rig) string { return r.asOwner("/bridges accept @wabot:example.com") }, 1, "is your WhatsApp bridge"},
		"a thumb down": {func(r *rig) string { return r.react(r.lastSent().Event, "👎") }, 0, "is none of yours"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var bot store.BridgeBot
			r.tx(func(tx store.Tx) (err error) {
				bot, _, err = store.InsertBridgeBot(r.ctx, tx, "@wabot:example.com", "whatsapp", false)
				return err
			})
			ana := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.BridgeBot = "@wabot:example.com" })
			require.Contains(t, r.asOwner("/mode business Ana"),
				"cannot answer there yet: you have not said whether @wabot:example.com is a bridge of yours")
			require.Contains(t, r.asOwner("/bridges"), "**not confirmed**, its chats are silent")
			require.Contains(t, r.asOwner("2 "), "is none of yours", "the list asks as well")
			r.exec("update bridge_bots set refused_at = null")
			r.exec("update chats set closed_reason = '', room_id = $2 where id = $1", ana.ID, ana.RoomID)
			require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot.ID}))
			require.Contains(t, bodies(r.sendQueued()), "Is @wabot:example.com your WhatsApp bridge?")
			require.Contains(t, c.answers(r), c.says)
			require.Equal(t, c.confirmed, r.count("select count(*) from bridge_bots where confirmed_at is not null"))
			require.Equal(t, c.confirmed == 1, r.reload(ana).HasRoom() && !r.reload(ana).Unconfirmed)
			require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot.ID}))
			require.Empty(t, bodies(r.sendQueued()), "once decided it is not asked again")
		})
	}
}
