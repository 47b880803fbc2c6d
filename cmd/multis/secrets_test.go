package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/mcp"
	"multis/agent/tools"
	"multis/jobs"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// leak is a tool that says what it should keep to itself.
type leak struct{ says string }

func (leak) Spec() tools.Spec {
	return tools.Spec{Name: "search_docs", Tier: tools.Read, Schema: tools.Schema[struct {
		Query string `json:"query"`
	}]()}
}

func (l leak) Run(context.Context, tools.Call) (tools.Result, error) {
	return tools.Result{ForLLM: l.says}, nil
}

// markedSecrets are the secrets in the configuration of TestSecrets_AreWrittenNowhere, by their keys.
func markedSecrets() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"model", "token", "path", "query", "dead", "deadquery", "hook", "signing", "variable", "header"} {
		all[name] = "canary" + name + "4f1c9d27b6e05a38"
	}
	return all
}

func TestSecrets_AreWrittenNowhere(t *testing.T) {
	secret := markedSecrets()
	var all []string
	for _, s := range secret {
		all = append(all, s)
	}
	everything := strings.Join(all, " ")
	model := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		switch {
		case strings.Contains(r.Last(), "first question"):
			return llmtest.Reply{Status: http.StatusUnauthorized, Message: "Incorrect API key provided: " + secret["model"]}
		case strings.Contains(r.Last(), "question to answer"):
			return llmtest.Reply{Calls: []llmtest.Call{{Name: "desk__search_docs", Args: `{"query": "` + everything + `"}`}}}
		default:
			answer, err := json.Marshal(map[string]any{"sentences": []map[string]any{{"text": "It is " + everything, "source": 0, "quote": ""}}})
			require.NoError(t, err)
			return llmtest.Reply{Text: string(answer)}
		}
	})
	desk := httptest.NewServer(mcp.Serve(t.Context(), mcp.ServeOptions{
		Registry: tools.NewRegistry(tools.TierPolicy{}, leak{everything}), Token: secret["token"], Version: "1",
		Record: func(context.Context, tools.Call, string) error { return nil },
	}))
	t.Cleanup(desk.Close)

	h := &processGroup{t: t, homeserver: newFakeHomeserver(t), dir: t.TempDir(), dsn: storetest.DSN(t)}
	var err error
	h.st, err = store.Open(t.Context(), h.dsn)
	require.NoError(t, err)
	t.Cleanup(h.st.Close)
	log := filepath.Join(h.dir, "multis.log")
	t.Setenv("MULTIS_LOGGING_FILE", log)
	t.Setenv("CANARY_TOKEN", secret["token"])
	t.Setenv("CREDENTIALS_DIRECTORY", h.dir)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "model-key"), []byte(secret["model"]+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "signing-key"), []byte(secret["signing"]), 0o600))
	t.Setenv("MULTIS_LOGGING_LEVEL", "debug")
	h.config = fmt.Sprintf(`
llm: {model: openai/test, base_url: %q, api_key: "file:%s/model-key", local: true}
mcp:
  desk: {url: %q, token: "env:CANARY_TOKEN", read: ["*"], headers: {X-Canary: %q}}
  gone: {command: [/nowhere/at/all], env: {CANARY: %q}}
  dead: {url: %q}
hooks:
  shop: {url: %q, secret: "systemd:signing-key", private: true, events: ["message:business"]}
chats: {burst_quiet: 1ms}
`, model.URL, h.dir, desk.URL+"/"+secret["path"]+"/mcp?api="+secret["query"], secret["header"], secret["variable"],
		"http://127.0.0.1:1/"+secret["dead"]+"?api="+secret["deadquery"], "http://127.0.0.1:1/"+secret["hook"])
	chat := h.chats(1)[0]
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, chat, policy.ModeBusiness) }))
	h.procs = append(h.procs, nil)
	h.start(0)
	t.Cleanup(func() { h.kill(0) })
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, done, 2*time.Minute, 50*time.Millisecond, what)
	}
	logged := func() string {
		text, _ := os.ReadFile(log) // it may not be there yet
		return string(text)
	}
	var room store.Chat
	wait("an admin room and the tools", func() bool {
		room, err = store.AdminChat(t.Context(), h.st.DB())
		return err == nil && strings.Contains(logged(), `"mcp_server":"dead"`)
	})
	for n, text := range []string{"/tools", "what is the first question?", "and the second one?", "/replay 2", "/tasks"} {
		event := id.EventID(fmt.Sprintf("$secret%d", n))
		h.storeMessage(store.Message{
			ChatID:  room.ID,
			EventID: event,
			Author:  policy.AuthorOwnerClient,
			Sender:  testOwner,
			Body:    text,
			Action:  policy.ActionCommand,
			Code:    policy.CodeCommand,
		}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
		wait(text, func() bool {
			return storetest.Count(t, h.st, "select count(*) from messages where event_id = $1 and answered_at is not null", event) == 1
		})
	}
	h.storeQuestion(chat, 1, "do you tune pianos?")
	wait("a contact's answer", func() bool {
		return storetest.Count(t, h.st, "select count(*) from messages where event_id = '$slow1' and answered_at is not null") == 1
	})
	require.GreaterOrEqual(t, len(model.Requests()), 3)
	var prompts strings.Builder
	for _, r := range model.Requests() {
		r.Key = "" // it is sent there
		fmt.Fprintf(&prompts, "%+v\n", r)
	}
	require.Contains(t, prompts.String(), "[secret]", "it was there to be hidden")
	file := h.procs[0].Args[2]
	shown := captureOutput(t, file, "config", "get") + captureOutput(t, file, "config", "diff") + captureOutput(t, file, "audit", "export") +
		captureOutput(t, file, "account") + readExport(t, file, filepath.Join(h.dir, "export.zip"))
	require.Contains(t, shown, "model-key  # config.yaml", "where a secret is may be shown")
	require.Contains(t, shown, "What I can do as you\n\nThe token as_token", "what /account says, without its markup")
	require.Equal(t, 1, storetest.Count(t, h.st,
		"select count(*) from task_steps where name = 'desk__search_docs' and text like '%[secret]%'"), "it was there to be hidden")
	require.Equal(t, 1, storetest.Count(t, h.st,
		"select count(*) from audit_entries where kind = 'config' and action = 'config.yaml' and outcome = 'taken_over' and content is not null"))
	for name, value := range secret {
		require.Empty(t, storetest.ColumnsContaining(t, h.st, value), name)
		require.NotContains(t, logged(), value, name)
		require.NotContains(t, prompts.String(), value, name)
		require.NotContains(t, shown, value, name)
	}
}

// captureOutput returns what a command prints.
func captureOutput(t *testing.T, file string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--config", file}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// readExport returns the contents of all files of an export.
func readExport(t *testing.T, file, name string) string {
	t.Helper()
	captureOutput(t, file, "export", name)
	archive, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer archive.Close()
	require.NotEmpty(t, archive.File)
	var all strings.Builder
	for _, f := range archive.File {
		r, err := f.Open()
		require.NoError(t, err)
		_, err = io.Copy(&all, r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	return all.String()
}

// TestLog_MaskedLineStaysJSON: a log line stays valid JSON when secrets in it are masked.
func TestLog_MaskedLineStaysJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := zerolog.New(redactingWriter{&out})
	log.Info().Str("api_key", "abcdef0123456789").Int("client_secret", 123456789).Msg("Opened postgres://multis:hunter2@db/multis")
	log.Info().Str("key", "-----BEGIN PRIVATE KEY-----\nabcdef0123456789").Msg("Opened")
	for line := range strings.Lines(out.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	for _, s := range []string{"abcdef0123", "123456789", "hunter2"} {
		require.NotContains(t, out.String(), s)
	}
}
