package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/llm"
	"multis/llm/budget"
	"multis/llm/llmtest"
	"multis/llm/media"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// listening is an inbox with a transcriber, a fake media server and a fake transcription server.
type listening struct {
	t        *testing.T
	store    *store.Store
	inbox    *appservice.Inbox
	listener *media.Transcriber
	hs       *appservice.Homeserver
	speech   *llmtest.SpeechServer
	answer   llmtest.Transcript
	told     []string
	chat     store.Chat
	admin    store.Chat
}

const (
	listenOwner = id.UserID("@you:example.com")
	listenAna   = id.UserID("@demo_ana:example.com")
)

func newListening(t *testing.T, dayCap int64) *listening {
	t.Helper()
	l := &listening{t: t, store: storetest.New(t), answer: llmtest.Transcript{Text: "What does delivery cost?", Seconds: 3}}
	l.speech = llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return l.answer })
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/media/download/example.com/note") {
			http.Error(w, `{"errcode":"M_NOT_FOUND","error":"gone"}`, http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("a recording"))
	}))
	t.Cleanup(files.Close)
	var err error
	l.hs, err = appservice.NewHomeserver(l.store, appservice.Access{
		URL:   files.URL,
		Token: "as",
		Owner: listenOwner,
		Bot:   "@multis:example.com",
	})
	require.NoError(t, err)
	defaults := policy.Defaults{Profile: policy.ProfilePersonal}
	l.inbox = appservice.NewInbox(l.store, appservice.Settings{
		Owner:              listenOwner,
		Bot:                "@multis:example.com",
		Name:               "Nora",
		Defaults:           defaults,
		ReplyMaxAge:        10 * time.Minute,
		EscalationKeywords: []string{"refund"},
		CanTranscribe:      true,
		StoreCap:           policy.Rate{Minute: 60, Day: 2000},
		SendCap:            policy.Rate{Minute: 10, Day: 100},
	})
	l.listen(dayCap, dayCap)
	room, adminRoom := id.RoomID("!ana:x"), id.RoomID("!admin:x")
	l.chat = l.makeChat(store.Chat{
		Protocol:   "demo",
		ChannelID:  "ana",
		RoomID:     &room,
		Kind:       policy.KindDM,
		Name:       "Ana",
		Contact:    listenAna,
		BridgeBot:  "@demobot:example.com",
		Encryption: policy.EncryptionNo,
	})
	l.admin = l.makeChat(store.Chat{
		Protocol:   "matrix",
		ChannelID:  "admin",
		RoomID:     &adminRoom,
		Kind:       policy.KindAdmin,
		Encryption: policy.EncryptionNo,
	})
	l.mode(policy.ModeBusiness)
	return l
}

// listen makes the transcriber, with the caps of its model.
func (l *listening) listen(dayCap, chatCap int64) {
	l.t.Helper()
	ears, err := llm.OpenSpeech(llm.SpeechConfig{Model: "openai/whisper-1", BaseURL: l.speech.URL, PerMinute: 6000},
		llm.Budget{Ledger: budget.New(l.store, dayCap), DayCap: dayCap, ChatCap: chatCap, Today: func() string { return "2026-11-21" }})
	require.NoError(l.t, err)
	l.listener = media.NewTranscriber(media.TranscriberOptions{
		Store:    l.store,
		Files:    l.hs,
		Model:    ears,
		Inbox:    l.inbox,
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
		Notify: func(_ context.Context, _ store.Tx, text string) error {
			l.told = append(l.told, text)
			return nil
		},
	})
}

func (l *listening) makeChat(c store.Chat) (made store.Chat) {
	l.t.Helper()
	require.NoError(l.t, l.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		made, err = store.UpsertChat(context.Background(), tx, c)
		return err
	}))
	return made
}

func (l *listening) mode(mode policy.Mode) {
	l.t.Helper()
	require.NoError(l.t, l.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.SetMode(context.Background(), tx, l.chat.ID, mode)
	}))
}

// receiveVoiceNote receives a voice note, and returns its row.
func (l *listening) receiveVoiceNote(chat store.Chat, sender id.UserID, file string) store.Message {
	l.t.Helper()
	raw := fmt.Sprintf(`{"type":"m.room.message","room_id":%q,"sender":%q,"event_id":"$note","origin_server_ts":%d,"content":{"msgtype":"m.audio",
		"body":"Voice message.ogg","url":"mxc://example.com/%s","info":{"duration":3000,"size":11,"mimetype":"audio/ogg"},"org.matrix.msc3245.voice":{}}}`,
		*chat.RoomID, sender, time.Now().UnixMilli(), file)
	var evt event.Event
	require.NoError(l.t, json.Unmarshal([]byte(raw), &evt))
	require.NoError(l.t, l.inbox.Receive(context.Background(), []*event.Event{&evt}, ""))
	return l.message()
}

func (l *listening) message() store.Message {
	l.t.Helper()
	var row store.MessageID
	require.NoError(l.t, l.store.DB().QueryRow(context.Background(), "select id from messages where event_id = '$note'").Scan(&row))
	m, err := store.MessageByID(context.Background(), l.store.DB(), row)
	require.NoError(l.t, err)
	return m
}

func (l *listening) jobs(kind string) (n int) {
	l.t.Helper()
	require.NoError(l.t, l.store.DB().QueryRow(context.Background(), "select count(*) from river.river_job where kind = $1", kind).Scan(&n))
	return n
}

func TestTranscribe_AnswersTranscript(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	note := l.receiveVoiceNote(l.chat, listenAna, "note")
	require.Equal(t, policy.ActionTranscribe, note.Action)
	require.Equal(t, "[voice note]", note.Body)
	require.Equal(t, 1, l.jobs("transcribe"))
	require.Zero(t, l.jobs("turn"))

	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
	heard := l.message()
	require.Equal(t, "What does delivery cost?", heard.Body)
	require.Equal(t, policy.ActionAnswer, heard.Action)
	require.Equal(t, 1, l.jobs("turn"))
	require.Equal(t, []byte("a recording"), l.speech.Requests()[0].Data)
	spent, err := store.Spent(t.Context(), l.store.DB(), "2026-11-21", l.chat.ID)
	require.NoError(t, err)
	require.Equal(t, int64(300), spent, "three seconds of it, booked on the chat")

	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false), "the job comes again")
	require.Len(t, l.speech.Requests(), 1)
	require.Equal(t, 1, l.jobs("turn"))
}

func TestTranscribe_PhantomsAreSilence(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	l.answer = llmtest.Transcript{Text: "Untertitel der Amara.org-Community", Seconds: 2}
	note := l.receiveVoiceNote(l.chat, listenAna, "note")
	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
	require.Equal(t, policy.ActionEscalate, l.message().Action, "as if nobody spoke in it")
	require.Equal(t, "[voice note]", l.message().Body)
}

func TestTranscribe_AdmitsByTranscript(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	l.answer.Text = "I want a refund"
	note := l.receiveVoiceNote(l.chat, listenAna, "note")
	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
	require.Equal(t, policy.CodeKeyword, l.message().Code)
	require.Equal(t, 1, l.jobs("turn"))
}

func TestTranscribe_ChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(*listening)
		code    policy.Code
		body    string
		calls   int
	}{
		"its chat is switched off": {func(l *listening) { l.mode(policy.ModeOff) }, policy.CodeTranscriptionFailed, "[voice note]", 0},
		"its chat falls silent":    {func(l *listening) { l.mode(policy.ModeSilent) }, policy.CodeSilent, "What does delivery cost?", 1},
		"it is deleted": {func(l *listening) {
			require.NoError(l.t, l.store.InTx(context.Background(), func(tx store.Tx) error {
				_, err := store.RedactMessage(context.Background(), tx, l.chat.ID, "$note", time.Now())
				return err
			}))
		}, "redacted", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newListening(t, 1_000_000)
			note := l.receiveVoiceNote(l.chat, listenAna, "note")
			test.happens(l)
			require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
			require.Equal(t, test.code, l.message().Code)
			require.Equal(t, test.body, l.message().Body)
			require.Len(t, l.speech.Requests(), test.calls)
			require.Zero(t, l.jobs("turn"))
		})
	}
}

func TestTranscribe_DeletedLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	note := l.receiveVoiceNote(l.chat, listenAna, "note")
	require.NoError(t, l.store.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := store.RedactMessage(t.Context(), tx, l.chat.ID, "$note", time.Now()); err != nil {
			return err
		}
		return l.inbox.StoreTranscript(t.Context(), tx, note.ID, "a secret")
	}))
	require.Empty(t, l.message().Body)
	require.Zero(t, l.jobs("turn"))
}

func TestTranscribe_FailureIsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file   string
		answer llmtest.Transcript
		budget int64
		why    string
		told   int
	}{
		"the file is gone":           {"gone", llmtest.Transcript{}, 1_000_000, "the homeserver does not have the file any more", 0},
		"nobody speaks":              {"note", llmtest.Transcript{Text: " "}, 1_000_000, "nobody speaks in it", 0},
		"the server is down":         {"note", llmtest.Transcript{Status: 500}, 1_000_000, "the provider has a problem", 0},
		"the key is wrong":           {"note", llmtest.Transcript{Status: 401}, 1_000_000, "the key was refused", 0},
		"there is no money for this": {"note", llmtest.Transcript{}, 10, "budget is used up", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newListening(t, test.budget)
			l.answer = test.answer
			note := l.receiveVoiceNote(l.chat, listenAna, test.file)
			require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, true))
			m := l.message()
			require.Equal(t, policy.CodeTranscriptionFailed, m.Code)
			require.Equal(t, policy.ActionEscalate, m.Action, "a person has to listen")
			require.Contains(t, m.Reason, test.why)
			require.Equal(t, "[voice note]", m.Body)
			require.Equal(t, 1, l.jobs("turn"), "which escalates")
			require.Len(t, l.told, test.told)
		})
	}
}

func TestTranscribe_CapIsNamed(t *testing.T) {
	t.Parallel()
	for want, caps := range map[string][2]int64{
		"💶 Today's budget is used up, so I don't transcribe voice notes until midnight.":                                {10, 1_000_000},
		"💶 Today's budget of the chat **Ana · Demo** is used up, so I don't transcribe its voice notes until midnight.": {1_000_000, 10},
	} {
		l := newListening(t, 0)
		l.listen(caps[0], caps[1])
		note := l.receiveVoiceNote(l.chat, listenAna, "note")
		require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, true))
		require.Equal(t, []string{want}, l.told)
	}
}

func TestTranscribe_RetriesServerDown(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	l.answer = llmtest.Transcript{Status: 503}
	note := l.receiveVoiceNote(l.chat, listenAna, "note")
	require.Error(t, l.listener.Transcribe(t.Context(), note.ID, false))
	require.Equal(t, policy.ActionTranscribe, l.message().Action)
	l.answer = llmtest.Transcript{Text: "When do you open?"}
	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, true))
	require.Equal(t, "When do you open?", l.message().Body)
}

func TestTranscribe_OwnersNoteIsQuestion(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	note := l.receiveVoiceNote(l.admin, listenOwner, "note")
	require.Equal(t, policy.ActionTranscribe, note.Action)
	require.Zero(t, l.jobs("command"))
	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
	require.Equal(t, policy.ActionCommand, l.message().Action)
	require.Equal(t, policy.CodeTranscribed, l.message().Code)
	require.Equal(t, "What does delivery cost?", l.message().Body)
	require.Equal(t, 1, l.jobs("command"))
}

func TestTranscribe_OwnerFailureIsNoticed(t *testing.T) {
	t.Parallel()
	l := newListening(t, 1_000_000)
	note := l.receiveVoiceNote(l.admin, listenOwner, "gone")
	require.NoError(t, l.listener.Transcribe(t.Context(), note.ID, false))
	require.Equal(t, policy.ActionCommand, l.message().Action)
	require.Equal(t, policy.CodeTranscriptionFailed, l.message().Code)
	require.Equal(t, 1, l.jobs("command"))
}
