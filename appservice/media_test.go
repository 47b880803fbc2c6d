package appservice

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const mib = 1 << 20

// mediaServer serves one file as a homeserver does, to those who show the token. It counts the requests.
type mediaServer struct {
	file     []byte
	length   int // Content-Length, when it lies
	requests int
}

func (m *mediaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.requests++
	switch {
	case r.Header.Get("Authorization") != "Bearer as-token":
		http.Error(w, `{"errcode":"M_MISSING_TOKEN","error":"no"}`, http.StatusUnauthorized)
	case r.URL.Path != "/_matrix/client/v1/media/download/example.com/file":
		http.Error(w, `{"errcode":"M_NOT_FOUND","error":"no"}`, http.StatusNotFound)
	default:
		if m.length > 0 {
			w.Header().Set("Content-Length", strconv.Itoa(m.length))
		} else {
			w.Header().Set("Transfer-Encoding", "chunked") // nobody knows how long it is
		}
		_, _ = w.Write(m.file)
	}
}

func openMedia(t *testing.T, m *mediaServer) *Homeserver {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(nil, Access{URL: server.URL, Token: "as-token", Owner: owner, Bot: bot})
	require.NoError(t, err)
	return hs
}

// sealedCopy encrypts a file as a client does and returns it with what opens it.
func sealedCopy(plain []byte) ([]byte, *bridgebridge.FileKey) {
	key := attachment.NewEncryptedFile()
	sealed := bytes.Clone(plain)
	key.EncryptInPlace(sealed)
	return sealed, &bridgebridge.FileKey{
		Version:   key.Version,
		Algorithm: key.Key.Algorithm,
		Key:       key.Key.Key,
		IV:        key.InitVector,
		SHA256:    key.Hashes.SHA256,
	}
}

func randomBytes(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	_, err := io.ReadFull(rand.Reader, data)
	require.NoError(t, err)
	return data
}

func TestMedia_Fetch(t *testing.T) {
	t.Parallel()
	plain := randomBytes(t, 3*mib)
	sealed, key := sealedCopy(plain)
	for name, test := range map[string]struct {
		served []byte
		file   store.Attachment
	}{
		"plain":                            {plain, store.Attachment{Size: len(plain)}},
		"plain, of a size nobody told":     {plain, store.Attachment{}},
		"encrypted":                        {sealed, store.Attachment{Size: len(plain), Key: key}},
		"encrypted, with a size too small": {sealed, store.Attachment{Size: 1, Key: key}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.file.URL = "mxc://example.com/file"
			got, err := openMedia(t, &mediaServer{file: test.served}).Download(t.Context(), test.file, 3*mib)
			require.NoError(t, err)
			require.Equal(t, plain, got)
		})
	}
}

func TestMedia_Errors(t *testing.T) {
	t.Parallel()
	plain := randomBytes(t, 2*mib)
	sealed, key := sealedCopy(plain)
	altered := bytes.Clone(sealed)
	altered[mib]++
	unknown := *key
	unknown.Algorithm = "ROT13"
	for name, test := range map[string]struct {
		media    mediaServer
		file     store.Attachment
		want     error
		says     string
		requests int
	}{
		"declared too large": {
			mediaServer{file: plain},
			store.Attachment{Size: 2*mib + 1},
			ErrTooLarge,
			"the file is too large: at most 2 MB", 0,
		},
		"too large by its Content-Length": {
			mediaServer{file: sealed, length: 2*mib + 1},
			store.Attachment{Size: 1, Key: key},
			ErrTooLarge, "at most 2 MB", 1,
		},
		"too large while it comes": {
			mediaServer{file: append(plain[:2*mib:2*mib], 'x')},
			store.Attachment{},
			ErrTooLarge,
			"at most 2 MB", 1,
		},
		"encrypted, too large while it comes": {
			mediaServer{file: append(sealed[:2*mib:2*mib], 'x')},
			store.Attachment{Key: key},
			ErrTooLarge, "at most 2 MB", 1,
		},
		"truncated where it is kept": {
			mediaServer{file: sealed[:mib]},
			store.Attachment{Size: len(plain), Key: key},
			ErrTruncated,
			"only a part of the file", 1,
		},
		"truncated on the way": {
			mediaServer{file: plain[:mib], length: len(plain)},
			store.Attachment{},
			ErrTruncated,
			"only a part of the file", 1,
		},
		"with a wrong hash": {
			mediaServer{file: altered},
			store.Attachment{Size: len(plain), Key: key},
			ErrAltered,
			"its hash is wrong", 1,
		},
		"encrypted in a way nobody knows": {
			mediaServer{file: sealed},
			store.Attachment{Key: &unknown},
			ErrUnknownEncryption,
			"a way that I do not know", 0,
		},
		"encrypted with what is no key": {
			mediaServer{file: sealed},
			store.Attachment{Key: &bridgebridge.FileKey{Version: "v2", Algorithm: "A256CTR"}},
			ErrUnknownEncryption, "a way that I do not know", 0,
		},
		"gone": {
			mediaServer{},
			store.Attachment{URL: "mxc://example.com/other"},
			ErrFileGone,
			"does not have the file any more", 1,
		},
		"without an address that could be anything": {mediaServer{}, store.Attachment{URL: "https://evil.example/file"}, nil, "no address", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.file.URL == "" {
				test.file.URL = "mxc://example.com/file"
			}
			_, err := openMedia(t, &test.media).Download(t.Context(), test.file, 2*mib)
			require.ErrorContains(t, jobs.Cause(err), test.says)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
			}
			require.Equal(t, name != "truncated on the way", jobs.IsPermanent(err), "a connection that broke is worth another try")
			require.Equal(t, test.requests, test.media.requests)
		})
	}
}

//nolint:paralleltest // it counts what this process allocates
func TestMedia_StreamsEncryptedFile(t *testing.T) {
	sealed, key := sealedCopy(randomBytes(t, 40*mib))
	hs := openMedia(t, &mediaServer{file: sealed})
	file := store.Attachment{URL: id.ContentURIString("mxc://example.com/file"), Size: 40 * mib, Key: key}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, hs.Fetch(context.Background(), policy.AsOwner, file, 40*mib, io.Discard))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*mib), "bytes allocated for 40 MB")
}

// uploads is a homeserver that takes files, and events into a room that is encrypted or not.
type uploads struct {
	t        *testing.T
	uploaded []byte
	mime     string
	fail     int
}

func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer as-token":
		http.Error(w, `{"errcode":"M_MISSING_TOKEN"}`, http.StatusUnauthorized)
	case u.fail != 0:
		http.Error(w, `{"errcode":"M_TOO_LARGE","error":"too large"}`, u.fail)
	case r.Method == http.MethodPost && r.URL.Path == "/_matrix/media/v3/upload":
		var err error
		u.uploaded, err = io.ReadAll(r.Body)
		if err != nil {
			u.t.Error(err)
		}
		u.mime = r.Header.Get("Content-Type")
		_, _ = io.WriteString(w, `{"content_uri":"mxc://example.com/file"}`)
	default:
		http.NotFound(w, r)
	}
}

func TestMedia_UploadFollowsEncryption(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			chat := b.chat("!a:x", policy.ModeBusiness)
			media := &uploads{t: t}
			server := httptest.NewServer(media)
			t.Cleanup(server.Close)
			hs, err := NewHomeserver(b.store, Access{URL: server.URL, Token: "as-token", Owner: owner, Bot: bot})
			require.NoError(t, err)
			o := b.queueFile(chat,
				`{"msgtype":"m.file","body":"as agreed","filename":"prices.txt","info":{"mimetype":"text/plain","size":9},"ai.multis.out":"x"}`,
				[]byte("5 euro..."))

			content, err := hs.uploadFile(t.Context(), o, hs.owner.session(), encrypted)
			require.NoError(t, err)
			evt := b.event("m.room.message", "!a:x", owner, string(content))
			file := parseEvent(t, evt).Message.File
			require.Equal(t, id.ContentURIString("mxc://example.com/file"), file.URL)
			require.Equal(t, "prices.txt", file.Name)
			require.Equal(t, "as agreed", parseEvent(t, evt).Message.Words(), "the caption")
			if !encrypted {
				require.Nil(t, file.Key)
				require.Equal(t, "5 euro...", string(media.uploaded))
				require.Equal(t, "text/plain", media.mime)
				return
			}
			require.NotContains(t, string(content), `"url":"mxc://example.com/file","msgtype"`)
			require.NotContains(t, string(media.uploaded), "euro")
			require.Equal(t, "application/octet-stream", media.mime)
			got, err := openMedia(t, &mediaServer{file: media.uploaded}).Download(t.Context(), store.Attachment(*file), mib)
			require.NoError(t, err)
			require.Equal(t, "5 euro...", string(got), "whoever has the event can open it")

			media.fail = http.StatusRequestEntityTooLarge
			_, err = hs.uploadFile(t.Context(), o, hs.owner.session(), encrypted)
			require.True(t, jobs.IsPermanent(err), "it stays too large")
			media.fail = http.StatusBadGateway
			_, err = hs.uploadFile(t.Context(), o, hs.owner.session(), encrypted)
			require.Error(t, err)
			require.False(t, jobs.IsPermanent(err))
		})
	}
}

// queueFile puts an event with a file into the outbox.
func (b *fixture) queueFile(chat store.Chat, content string, data []byte) store.OutboxMessage {
	b.t.Helper()
	o := store.OutboxMessage{
		ID:        uuid.New(),
		ChatID:    chat.ID,
		SendAs:    policy.AsOwner,
		Purpose:   policy.PurposeReply,
		EventType: "m.room.message",
		Content:   []byte(content),
		State:     store.OutboxQueued,
	}
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		if err := store.InsertOutboxMessage(context.Background(), tx, o); err != nil {
			return err
		}
		return store.AddOutboxFile(context.Background(), tx, o.ID, data)
	}))
	return o
}

func TestChat_StoresNetworkLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	chat.Features = policy.Features{Known: true, MaxText: 4096, NoEdits: true}
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := store.UpsertChat(t.Context(), tx, chat)
		return err
	}))
	kept, err := store.ChatByID(t.Context(), b.store.DB(), chat.ID)
	require.NoError(t, err)
	require.Equal(t, chat.Features, kept.Features)
	changed := b.event("com.beeper.room_features", "!a:x", bridgeBot, `{"max_text_length":100}`)
	changed.StateKey = new(string)
	b.receive(changed)
	require.Equal(t, 1, b.jobs("describe"), "a change is looked at")
}

func TestMedia_PictureEscalatesWithCaption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!ana:x", policy.ModeBusiness)
	for caption, content := range map[string]string{
		"[photo]":                          `{"msgtype":"m.image","body":"IMG_1.jpg","url":"mxc://x/1"}`,
		"[photo] What does this one cost?": `{"msgtype":"m.image","body":"What does this one cost?","filename":"IMG_2.jpg","url":"mxc://x/2"}`,
		"[voice note]":                     `{"msgtype":"m.audio","body":"note.ogg","url":"mxc://x/3","org.matrix.msc3245.voice":{}}`,
	} {
		m := b.message(b.receiveFromAna("m.room.message", content))
		require.Equal(t, caption, m.Body)
		require.Equal(t, policy.ActionEscalate, m.Action, caption)
		require.Equal(t, policy.CodeAttached, m.Code, caption)
	}
	require.NotZero(t, b.jobs("turn"))
}

// receiveFromAna has the inbox store an event of Ana's, and returns the event.
func (b *fixture) receiveFromAna(kind, content string) *event.Event {
	b.t.Helper()
	evt := b.event(kind, "!ana:x", ana, content)
	b.receive(evt)
	return evt
}
