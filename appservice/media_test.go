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

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/crypto/attachment"
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
		Version: key.Version, Algorithm: key.Key.Algorithm, Key: key.Key.Key, IV: key.InitVector, SHA256: key.Hashes.SHA256,
	}
}

func noise(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	_, err := io.ReadFull(rand.Reader, data)
	require.NoError(t, err)
	return data
}

func TestAFileIsFetched(t *testing.T) {
	t.Parallel()
	plain := noise(t, 3*mib)
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

func TestWhyAFileCannotBeHad(t *testing.T) {
	t.Parallel()
	plain := noise(t, 2*mib)
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
		"declared too large":                        {mediaServer{file: plain}, store.Attachment{Size: 2*mib + 1}, ErrTooLarge, "the file is too large: 2 MB at most", 0},
		"too large by its Content-Length":           {mediaServer{file: sealed, length: 2*mib + 1}, store.Attachment{Size: 1, Key: key}, ErrTooLarge, "2 MB at most", 1},
		"too large while it comes":                  {mediaServer{file: append(plain[:2*mib:2*mib], 'x')}, store.Attachment{}, ErrTooLarge, "2 MB at most", 1},
		"encrypted, too large while it comes":       {mediaServer{file: append(sealed[:2*mib:2*mib], 'x')}, store.Attachment{Key: key}, ErrTooLarge, "2 MB at most", 1},
		"truncated where it is kept":                {mediaServer{file: sealed[:mib]}, store.Attachment{Size: len(plain), Key: key}, ErrTruncated, "only a part of the file", 1},
		"truncated on the way":                      {mediaServer{file: plain[:mib], length: len(plain)}, store.Attachment{}, ErrTruncated, "only a part of the file", 1},
		"with a wrong hash":                         {mediaServer{file: altered}, store.Attachment{Size: len(plain), Key: key}, ErrAltered, "its hash is wrong", 1},
		"encrypted in a way nobody knows":           {mediaServer{file: sealed}, store.Attachment{Key: &unknown}, ErrSealed, "a way that I do not know", 0},
		"encrypted with what is no key":             {mediaServer{file: sealed}, store.Attachment{Key: &bridgebridge.FileKey{Version: "v2", Algorithm: "A256CTR"}}, ErrSealed, "a way that I do not know", 0},
		"gone":                                      {mediaServer{}, store.Attachment{URL: "mxc://example.com/other"}, ErrFileGone, "does not have the file any more", 1},
		"without an address that could be anything": {mediaServer{}, store.Attachment{URL: "https://evil.example/file"}, nil, "no address", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.file.URL == "" {
				test.file.URL = "mxc://example.com/file"
			}
			_, err := openMedia(t, &test.media).Download(t.Context(), test.file, 2*mib)
			require.ErrorContains(t, jobs.Plain(err), test.says)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
			}
			require.Equal(t, name != "truncated on the way", jobs.IsFinal(err), "a connection that broke is worth another try")
			require.Equal(t, test.requests, test.media.requests)
		})
	}
}

func TestABigEncryptedFileIsNeverHeldInMemory(t *testing.T) {
	sealed, key := sealedCopy(noise(t, 40*mib))
	hs := openMedia(t, &mediaServer{file: sealed})
	file := store.Attachment{URL: id.ContentURIString("mxc://example.com/file"), Size: 40 * mib, Key: key}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, hs.Fetch(context.Background(), policy.AsOwner, file, 40*mib, io.Discard))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*mib), "bytes allocated for 40 MB")
}
