package appservice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func putTransaction(t testing.TB, h http.Handler, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodPut, "/_matrix/app/v1/transactions/1", strings.NewReader(body))
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func TestServer_ChecksToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := NewServer(b.inbox, "right").Handler()
	require.Equal(t, http.StatusUnauthorized, putTransaction(t, h, "", `{"events":[]}`).Code)
	require.Equal(t, http.StatusForbidden, putTransaction(t, h, "wrong", `{"events":[]}`).Code)
	require.Equal(t, http.StatusForbidden, putTransaction(t, h, "right ", `{"events":[]}`).Code)
	require.Equal(t, http.StatusOK, putTransaction(t, h, "right", `{"events":[]}`).Code)
}

func TestServer_SkipsMalformedEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	h := NewServer(b.inbox, "right").Handler()
	good := `{"type":"m.room.message","room_id":"!a:x","sender":"@demo_ana:example.com","event_id":"$good","origin_server_ts":1,"content":{"msgtype":"m.text","body":"hi"}}`
	require.Equal(t, http.StatusOK, putTransaction(t, h, "right", `{"events":[7,null,{"type":5},{"content":[]},`+good+`]}`).Code)
	require.Equal(t, 1, b.count("messages"))
}

func TestServer_RefusesInvalidTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := NewServer(b.inbox, "right").Handler()
	for _, body := range []string{"", "null garbage", `{"events":`, `[]`, "\xff\xfe"} {
		rec := putTransaction(t, h, "right", body)
		require.Equal(t, http.StatusBadRequest, rec.Code, body)
		require.Contains(t, rec.Body.String(), "M_NOT_JSON")
	}
	require.Equal(t, http.StatusRequestEntityTooLarge,
		putTransaction(t, h, "right", `{"events":"`+strings.Repeat("x", maxTransaction)+`"}`).Code)
}

func TestServer_DatabaseDownReturns500(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	h := NewServer(b.inbox, "right").Handler()
	b.store.Close()
	rec := putTransaction(t, h, "right",
		`{"events":[{"type":"m.room.message","room_id":"!a:x","sender":"@a:x","event_id":"$1","origin_server_ts":1,"content":{"body":"hi"}}]}`)
	require.Equal(t, http.StatusInternalServerError, rec.Code)
}

func TestServer_QueriesReturnNotFound(t *testing.T) {
	t.Parallel()
	h := NewServer(setup(t).inbox, "right").Handler()
	for _, path := range []string{"/_matrix/app/v1/users/@x:example.com", "/_matrix/app/v1/rooms/%23x:example.com"} {
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Header.Set("Authorization", "Bearer right")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		require.Equal(t, http.StatusNotFound, rec.Code)
		require.Contains(t, rec.Body.String(), "M_NOT_FOUND")
	}
}

func FuzzTransaction(f *testing.F) {
	f.Add([]byte(`{"events":[{"type":"m.room.message","room_id":"!a:x","sender":"@a:x","event_id":"$1","content":{}}]}`))
	f.Add([]byte(`{"events":[{"type":"m.room.member","state_key":"@a:x","room_id":"!a:x","sender":"@a:x","event_id":"$1","content":{"membership":5}}]}`))
	f.Add([]byte(`{"events":null}`))
	f.Add([]byte(`{"ephemeral":[{"type":"m.typing","room_id":"!a:x","content":{"user_ids":["@a:x"]}},{"type":"m.receipt","room_id":"!a:x","content":{"$1":{"m.read":{"@a:x":{"ts":1}}}}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, signs, err := parseTransaction(context.Background(), body)
		if err != nil {
			return
		}
		for _, evt := range events {
			require.NotEmpty(t, evt.ID)
			require.NotEmpty(t, evt.RoomID)
			_ = changesRoom(evt, Settings{Owner: owner, Bot: bot})
		}
		NewInbox(nil, Settings{Owner: owner, Bot: bot}).ephemeralRooms(signs)
	})
}

func TestEphemeral_NotedInAnsweredChats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	business, silent := b.chat("!a:x", policy.ModeBusiness), b.chat("!b:x", policy.ModeSilent)
	h := NewServer(b.inbox, "right").Handler()
	sign := func(room, typing, reader string) string {
		return fmt.Sprintf(`{"type":"m.typing","room_id":%[1]q,"content":{"user_ids":[%[2]q]}},{"type":"m.receipt","room_id":%[1]q,"content":{"$1":{"m.read.private":{%[3]q:{"ts":1}}}}}`, room, typing, reader)
	}
	at := func(chat store.Chat) (typing, held bool) {
		c, err := store.ChatByID(context.Background(), b.store.DB(), chat.ID)
		require.NoError(t, err)
		return c.TypingUntil != nil, c.OwnerActiveUntil != nil
	}
	post := func(signs string) {
		require.Equal(t, http.StatusOK, putTransaction(t, h, "right", `{"events":[],"ephemeral":[`+signs+`,{"type":"m.presence"},7]}`).Code)
	}
	post(sign("!a:x", string(bot), string(ana)) + "," + sign("!b:x", string(ana), string(owner)) + "," +
		sign("!new:x", string(ana), string(owner)))
	for _, chat := range []store.Chat{business, silent} {
		typing, held := at(chat)
		require.False(t, typing || held)
	}
	post(sign("!a:x", string(ana), string(owner)))
	typing, held := at(business)
	require.True(t, typing)
	require.True(t, held)
	require.Zero(t, b.count("messages"))
}
