package diagnose_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/diagnose"
	"multis/ops/doctor"
)

// unzip returns the files of a zip.
func unzip(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

func TestBundle_NamesNoContact(t *testing.T) {
	t.Parallel()
	b := diagnose.Bundle{
		Versions: []string{"multis 1.2"},
		Doctor: doctor.Report{Sections: []doctor.Section{
			{Name: "encryption", Fact: "Zora Quux of 3 encrypted", Findings: []doctor.Finding{
				{
					ID: doctor.ChatsUnreadable, Severity: doctor.Warning, Subject: "Zora Quux",
					Message: "2 messages in Zora Quux cannot be read: she wrote hello",
				},
			}},
			{Name: "database", Fact: "Postgres 17", Findings: []doctor.Finding{
				{ID: doctor.DatabaseVector, Severity: doctor.Warning, Message: "there is no pgvector", Fix: "apt-get install it"},
			}},
		}},
		Log: []string{
			`{"level":"warn","time":"2026-11-29T10:00:00Z","event_id":"$aaaaaaaaaaaaaaaaaaaa","chat":7,"ok":true,"message":"Left out an event"}`,
			`{"level":"error","error":"send to Zora: 403 from !zoraroom:x (\"hello from the contact\")","user":"@whatsapp_491701234567:x","message":"Cannot send"}`,
			`{"level":"error","error":"number +49 170 1234567 is unknown","list":["Quux"],"message":"Cannot send"}`,
			"Zora wrote something",
		},
		Config: []string{
			"business.rules: Zora Quux pays later (config.yaml)", "owner: @me:x (config.yaml)",
			"llm.api_key: sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa (environment)",
		},
		Hidden: []string{"Zora Quux", "@whatsapp_491701234567:x", "!zoraroom:x", "zora-channel"},
	}
	var raw bytes.Buffer
	require.NoError(t, b.Write(&raw))
	files := unzip(t, raw.Bytes())
	for name, text := range files {
		for _, word := range []string{"Zora", "Quux", "zora", "491701234567", "1234567", "hello", "$aaaa", "sk-ant"} {
			require.NotContains(t, text, word, name)
		}
	}
	require.Contains(t, files["log.jsonl"], `"chat":7`)
	require.Contains(t, files["log.jsonl"], `"error":"send to …: 403 from … (…)"`)
	require.Contains(t, files["log.jsonl"], `"message":"Cannot send"`)
	require.Contains(t, files["doctor.json"], `"id": "chats.unreadable"`)
	require.Contains(t, files["doctor.json"], "there is no pgvector")
	require.Contains(t, files["config.txt"], "owner: @me:x")
	require.NotContains(t, files, "plans.txt", "an empty part is left out")
}

func TestLastLines_AreAThousand(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for n := range 5432 {
		fmt.Fprintln(&log, n)
	}
	last, err := diagnose.LastLines(strings.NewReader(log.String()))
	require.NoError(t, err)
	require.Len(t, last, diagnose.MaxLogLines)
	require.Equal(t, "4432", last[0])
	require.Equal(t, "5431", last[999])
}
