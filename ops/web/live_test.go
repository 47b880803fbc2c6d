package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLive_NamesTheCardsThatWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "[]\n", r.get("/waiting"))
	r.fill("Ana")
	answer := r.get("/waiting")
	require.NotContains(t, answer, "Ana", "it has no text of anybody")
	var waiting []string
	require.NoError(t, json.Unmarshal([]byte(answer), &waiting))
	require.Len(t, waiting, 4)
	page := r.get("/")
	for _, id := range waiting {
		require.Contains(t, page, `<article class="card" id="`+id+`"`)
	}
	require.Contains(t, r.get("/chats"), `<span>4</span><span class="hide"> waiting for you</span>`, "every page says how many")
	require.Equal(t, http.StatusSeeOther, r.do(http.MethodGet, "/waiting", "").Code, "but nobody else is told")
}

func TestLive_AnOpenPageIsNoUseOfTheSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.session(owner)
	before := r.state()
	r.now = r.now.Add(5 * time.Minute)
	require.Equal(t, http.StatusOK, r.do(http.MethodGet, "/waiting", "", as(token)).Code)
	require.Equal(t, before, r.state())
	r.do(http.MethodGet, "/", "", as(token))
	require.NotEqual(t, before, r.state())
}

func TestLive_ScriptMayBeKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tag := scriptTag.FindString(r.get("/"))
	require.NotEmpty(t, tag)
	w := r.do(http.MethodGet, regexp.MustCompile(`/page\.js\?\w+`).FindString(tag), "")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
	require.Contains(t, w.Header().Get("Content-Type"), "text/javascript")
	require.Equal(t, "no-store", r.do(http.MethodGet, "/page.js?old", "").Header().Get("Cache-Control"))
	require.NotRegexp(t, scriptTag, r.do(http.MethodGet, "/sign-in", "").Body.String(), "where nobody is signed in there is none")
}

func TestJobs_ShowQueuesAndLastErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.get("/jobs"), "Nothing has run yet.")
	r.exec(`insert into river.river_job (kind, queue, state, args, attempt, max_attempts, priority, scheduled_at, finalized_at, errors) values
		('turn', 'turns', 'available', '{}', 0, 5, 1, $1::timestamptz - interval '1 h', null, null),
		('send', 'sends', 'retryable', '{}', 2, 5, 1, $1::timestamptz + interval '1 h', null, array[jsonb_build_object('at', $1::timestamptz, 'error', 'old'), jsonb_build_object('at', $1::timestamptz, 'error', 'no <b>answer')]),
		('send', 'sends', 'discarded', '{}', 5, 5, 1, $1, $1, array[jsonb_build_object('at', $1::timestamptz - interval '1 h', 'error', 'gone')])`, r.now)
	page := r.get("/jobs")
	for _, want := range []string{
		`<th scope="row">turns <span class="sub">waiting since 12:32</span></th><td class="r">0</td><td class="r">1</td>`,
		`<th scope="row">sends</th><td class="r">0</td><td class="r">0</td><td class="r">0</td><td class="r">1</td><td class="r">1</td>`,
		"no &lt;b&gt;answer", "try 2 of 5", "again 14:32", "given up", `Last errors <span class="num">2</span>`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "old")
	require.NotContains(t, page, "<form", "nothing can be changed here")
}
