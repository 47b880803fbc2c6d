package fetch_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"multis/internal/fetch"
)

func ExampleClient_Get() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Type", "text/plain")
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "Open from 9 to 17.")
	}))
	defer server.Close()
	ctx := context.Background()

	_, err := fetch.New(fetch.Options{}).Get(ctx, server.URL, "")
	fmt.Println(err)

	client := fetch.New(fetch.Options{AllowPrivate: true})
	page, err := client.Get(ctx, server.URL, "")
	fmt.Println(string(page.Data), page.Type, page.Validator, err)
	_, err = client.Get(ctx, server.URL, page.Validator)
	fmt.Println(err)
	// Output:
	// it leads to this machine or into a private network, where I read nothing
	// Open from 9 to 17. text/plain "v1" <nil>
	// it has not changed
}

func ExampleClient_Post() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer server.Close()
	client := fetch.New(fetch.Options{AllowPrivate: true})
	status, err := client.Post(context.Background(), server.URL, http.Header{"Content-Type": {"application/json"}}, []byte(`{}`))
	fmt.Println(status, err)
	// Output: 429 the server says 429 Too Many Requests
}

// A dialer with Control checks each address after name resolution.
func ExampleControl() {
	dialer := net.Dialer{Timeout: time.Second, Control: fetch.Control(fetch.Public)}
	_, err := dialer.Dial("tcp", "127.0.0.1:80")
	fmt.Println(err)
	// Output: dial tcp 127.0.0.1:80: it leads to this machine or into a private network, where I read nothing
}

func ExampleIsLoopback() {
	fmt.Println(fetch.IsLoopback("localhost"), fetch.IsLoopback("127.0.0.1"), fetch.IsLoopback("example.com"))
	// Output: true true false
}
