package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestWhoAnswersIsChosenInTheDocumentedOrder(t *testing.T) {
	t.Parallel()
	room := id.RoomID("!room:x")
	all := []Persona{
		{ID: "first"},
		{ID: "modes", Modes: []string{"business"}},
		{ID: "networks", Networks: []string{"whatsapp"}},
		{ID: "accounts", Accounts: []string{"login1"}},
		{ID: "spaces", Spaces: []string{"!work:x"}},
		{ID: "senders", Senders: []string{"@ana:x"}},
		{ID: "rooms", Rooms: []string{room.String()}},
		{ID: "chosen", Name: "Eve", Mentions: []string{"helper"}},
		{ID: "fallback", Default: true},
	}
	w := Where{Mention: "eve", Mode: policy.ModeBusiness, Chat: store.Chat{Agent: "chosen", RoomID: &room, Contact: "@ana:x", Receiver: "login1", Protocol: "whatsapp", Spaces: []id.RoomID{"!home:x", "!work:x"}}}
	for _, step := range []struct {
		want   string
		remove func()
	}{
		{"chosen", func() { w.Mention = "" }},
		{"chosen", func() { w.Chat.Agent = "" }},
		{"rooms", func() { w.Chat.RoomID = nil }},
		{"senders", func() { w.Chat.Contact = "" }},
		{"spaces", func() { w.Chat.Spaces = w.Chat.Spaces[:1] }},
		{"accounts", func() { w.Chat.Receiver = "" }},
		{"networks", func() { w.Chat.Protocol = "signal" }},
		{"modes", func() { w.Mode = policy.ModeSilent }},
		{"fallback", func() { all = all[:8] }},
		{"first", func() { all = nil }},
		{"", func() {}},
	} {
		require.Equal(t, step.want, Route(all, w).ID)
		step.remove()
	}
}

func TestAMentionIsANameAtTheBeginning(t *testing.T) {
	t.Parallel()
	all := []Persona{{ID: "sales", Name: "Sam", Mentions: []string{"shop"}}}
	for text, want := range map[string][2]string{
		"@sales what now?": {"sales", "what now?"}, "@SAM: hi": {"SAM", "hi"}, " @shop, x": {"shop", "x"}, "@nobody hi": {"", "@nobody hi"}, "mail a@sales x": {"", "mail a@sales x"},
	} {
		name, rest := mention(all, text)
		require.Equal(t, want, [2]string{name, rest}, text)
	}
}

func TestAPersonasFilesAreReadAnewAndAContactsTurnSeesOnlyThree(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(says("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")))
	b := setup(t, model)
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, name := range ownerFiles[:4] {
		write(name, "this is "+name)
	}
	write("SOUL.md", "calm "+strings.Repeat("x", 9000))
	b.agent.Personas = []Persona{{ID: "main", Default: true}, {ID: "sales", Name: "Sam", Emoji: "👀", Workspace: folder, Networks: []string{"demo"}, Deny: []string{"search_docs"}}}
	b.equip()
	ask := func() llmtest.Request {
		m := b.asks("@sam what does a grand piano cost?")
		require.NoError(t, b.agent.Ask(context.Background(), b.admin, m, m.Body))
		return server.Requests()[len(server.Requests())-1]
	}
	owner := ask()
	require.Contains(t, owner.System, "You are Sam,")
	require.Contains(t, owner.System, "this is USER.md")
	require.Contains(t, owner.System, "[SOUL.md is cut here: 8000 of 9005 bytes]")
	require.Contains(t, owner.System, "[not written yet: TOOLS.md]")
	require.NotContains(t, owner.Last(), "@sam")
	require.Empty(t, owner.Tools, "what it may not use it is not offered")
	write("AGENTS.md", "changed since")
	require.Contains(t, ask().System, "changed since")
	var content string
	require.NoError(t, b.store.DB().QueryRow(context.Background(), "select string_agg(content::text, ' ') from outbox where chat_id = $1", b.admin.ID).Scan(&content))
	require.Contains(t, content, `"displayname": "Sam"`)
	require.Contains(t, content, "👀")

	b.says("What does a grand piano cost?", policy.ActionAnswer)
	b.turn()
	contact := server.Requests()[len(server.Requests())-1]
	require.Contains(t, contact.System, "changed since")
	require.Contains(t, contact.System, "this is IDENTITY.md")
	require.NotContains(t, contact.System, "this is USER.md")
	require.True(t, strings.HasPrefix(b.sent(b.chat)[0], "[Sam] A grand piano"), b.sent(b.chat)[0])
}

func TestAPersonasFileThatIsNoneOrHugeHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	huge, err := os.Create(filepath.Join(folder, "AGENTS.md"))
	require.NoError(t, err)
	_, err = huge.WriteString("Be calm. ")
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<40), "a terabyte, most of it a hole")
	require.NoError(t, huge.Close())
	for _, name := range []string{"SOUL.md", "HEARTBEAT.md"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600), "nobody ever writes into it")
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "IDENTITY.md"), 0o700))
	p := Persona{Workspace: folder}
	said := p.prompt(true)
	require.Contains(t, said, "## AGENTS.md\nBe calm. ")
	require.Contains(t, said, "[AGENTS.md is cut here: 8000 of 1099511627776 bytes]")
	require.Contains(t, said, "[not written yet: SOUL.md, IDENTITY.md]")
	require.Empty(t, p.heartbeatItems())
}

func TestNotesAreTakenWithTheModelOfWhoAnswersInTheChat(t *testing.T) {
	t.Parallel()
	own, _ := scripted(t, llmtest.Say(""))
	require.Nil(t, ModelOf([]Persona{{ID: "shop"}}, llm.None{}, policy.Defaults{}))
	of := ModelOf([]Persona{{ID: "plain"}, {ID: "shop", Model: own, Networks: []string{"whatsapp"}}}, llm.None{}, policy.Defaults{})
	require.Equal(t, own.Name(), of(store.Chat{Protocol: "whatsapp"}).Name())
	require.Equal(t, llm.Model(llm.None{}), of(store.Chat{Protocol: "signal"}))
}
