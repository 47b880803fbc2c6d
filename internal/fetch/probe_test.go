package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
)

func ExampleClient_Probe() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/status", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "We are back at 9.")
	}))
	defer server.Close()
	client := fetch.New(fetch.Options{AllowPrivate: true})
	answer, err := client.Probe(context.Background(), server.URL, func(status int) bool { return status == http.StatusOK })
	fmt.Println(answer.Status, string(answer.Body), err)
	answer, err = client.Probe(context.Background(), server.URL, func(status int) bool { return status == http.StatusFound })
	fmt.Println(answer.Status, err)
	// Output:
	// 503 We are back at 9. <nil>
	// 302 <nil>
}

func TestProbe_StaysOnPublicAddresses(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("inside")) }))
	t.Cleanup(inside.Close)
	success := func(status int) bool { return status == http.StatusOK }
	answer, err := fetch.New(fetch.Options{}).Probe(t.Context(), inside.URL, success)
	require.ErrorIs(t, err, fetch.ErrPrivate)
	require.Empty(t, answer.Body)
	for _, address := range []string{"ftp://example.com/", "example.com", "http://", "https:///x", "://"} {
		_, err := fetch.New(fetch.Options{}).Probe(t.Context(), address, success)
		require.ErrorIs(t, err, fetch.ErrAddress, address)
	}
}

func TestProbe_ReadsNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			_, _ = w.Write([]byte(strings.Repeat("x", 64<<10)))
		}
	}))
	t.Cleanup(endless.Close)
	answer, err := fetch.New(fetch.Options{AllowPrivate: true}).Probe(t.Context(), endless.URL, func(int) bool { return true })
	require.NoError(t, err)
	require.Len(t, answer.Body, 1<<20)
}
