package persona

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/llm"
	"multis/policy"
	"multis/store"
)

func TestChoose_FollowsDocumentedOrder(t *testing.T) {
	t.Parallel()
	room := id.RoomID("!room:x")
	all := []Persona{
		{ID: "first"},
		{ID: "modes", Modes: []policy.Mode{"business"}},
		{ID: "networks", Networks: []string{"whatsapp"}},
		{ID: "accounts", Logins: []string{"login1"}},
		{ID: "spaces", Spaces: []string{"!work:x"}},
		{ID: "senders", Senders: []string{"@ana:x"}},
		{ID: "rooms", Rooms: []string{room.String()}},
		{ID: "chosen", Name: "Eve", Mentions: []string{"helper"}},
		{ID: "fallback", Default: true},
	}
	w := RouteInput{
		Mention: "eve",
		Mode:    policy.ModeBusiness,
		Chat: store.Chat{
			Agent: "chosen", RoomID: &room, Contact: "@ana:x", Login: "login1", Protocol: "whatsapp",
			Spaces: []id.RoomID{"!home:x", "!work:x"},
		},
	}
	for _, step := range []struct {
		want   string
		remove func()
	}{
		{"chosen", func() { w.Mention = "" }},
		{"chosen", func() { w.Chat.Agent = "" }},
		{"rooms", func() { w.Chat.RoomID = nil }},
		{"senders", func() { w.Chat.Contact = "" }},
		{"spaces", func() { w.Chat.Spaces = w.Chat.Spaces[:1] }},
		{"accounts", func() { w.Chat.Login = "" }},
		{"networks", func() { w.Chat.Protocol = "signal" }},
		{"modes", func() { w.Mode = policy.ModeSilent }},
		{"fallback", func() { all = all[:8] }},
		{"first", func() { all = nil }},
		{"", func() {}},
	} {
		p, _ := Set{All: all}.Route(w)
		require.Equal(t, step.want, p.ID)
		step.remove()
	}
}

func TestMention_IsLeadingName(t *testing.T) {
	t.Parallel()
	all := []Persona{{ID: "sales", Name: "Sam", Mentions: []string{"shop"}}}
	for text, want := range map[string][2]string{
		"@sales what now?": {"sales", "what now?"}, "@SAM: hi": {"SAM", "hi"}, " @shop, x": {"shop", "x"}, "@nobody hi": {"", "@nobody hi"},
		"mail a@sales x": {"", "mail a@sales x"},
	} {
		name, rest := Set{All: all}.CutMention(text)
		require.Equal(t, want, [2]string{name, rest}, text)
	}
}

func TestCapture_UsesModelOfChatsAgent(t *testing.T) {
	t.Parallel()
	own := openModel(t)
	require.Nil(t, Set{All: []Persona{{ID: "shop"}}, Model: llm.None{}}.ChatModel(policy.Defaults{}))
	of := Set{
		All:   []Persona{{ID: "plain"}, {ID: "shop", Model: own, Networks: []string{"whatsapp"}}},
		Model: llm.None{},
	}.ChatModel(policy.Defaults{})
	require.Equal(t, own.Name(), of(store.Chat{Protocol: "whatsapp"}).Name())
	require.Equal(t, llm.Model(llm.None{}), of(store.Chat{Protocol: "signal"}))
}

// openModel opens a model that nobody asks.
func openModel(t *testing.T) llm.Model {
	t.Helper()
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: "http://127.0.0.1:1", Local: true}},
		Timeout:   time.Second,
	})
	require.NoError(t, err)
	model, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	return model
}

// TestCutMention_EndsAtAnySpace: telephones put a new line after a name.
func TestCutMention_EndsAtAnySpace(t *testing.T) {
	t.Parallel()
	set := Set{All: []Persona{{ID: "sales"}}}
	for _, said := range []string{"@sales what sold?", "@sales\nwhat sold?", "@sales:\twhat sold?", "@sales\u00a0 what sold?"} {
		name, rest := set.CutMention(said)
		require.Equal(t, "sales", name, "%q", said)
		require.Equal(t, "what sold?", rest, "%q", said)
	}
}
