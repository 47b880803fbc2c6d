package memory_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// The environment variables of the process that runs one capture and is killed during it.
const (
	killDatabase = "MULTIS_TEST_KILL_DATABASE"
	killModel    = "MULTIS_TEST_KILL_MODEL"
)

func TestMain(m *testing.M) {
	if os.Getenv(killDatabase) == "" {
		storetest.Main(m)
		return
	}
	if err := captureOnce(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// captureOnce is the main function of the process that is killed: it runs one capture.
func captureOnce(ctx context.Context) error {
	st, err := store.Open(ctx, os.Getenv(killDatabase))
	if err != nil {
		return err
	}
	defer st.Close()
	model, err := modelWithTimeout(os.Getenv(killModel), time.Minute)
	if err != nil {
		return err
	}
	mem := memory.New(memory.Options{
		Store:    st,
		Search:   search.New(st),
		Model:    model,
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	due, err := mem.DueCaptures(ctx)
	if err != nil {
		return err
	}
	for _, chat := range due {
		if err := mem.Capture(ctx, chat, false); err != nil {
			return err
		}
	}
	return nil
}

// modelWithTimeout returns a model at an address, with a timeout.
func modelWithTimeout(url string, silence time.Duration) (llm.Model, error) {
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: url, Local: true}}, Timeout: silence,
		Budget: llm.Budget{Ledger: unlimitedLedger{}, DayCap: 1, ChatCap: 1, Today: func() string { return "2026-11-20" }},
	})
	if err != nil {
		return nil, err
	}
	return models.Open([]string{"openai/demo"}, "")
}

// captureAndKill runs a capture in a process that is killed at the given step, and has another process continue. It returns the name of the
// step; empty if the first process ended before that step.
func captureAndKill(t *testing.T, at int) string {
	t.Helper()
	r := newRig(t)
	// An older note, which one of the new notes replaces and another one repeats.
	r.talk(r.ana, 6)
	r.notes(note{
		Kind:    "fact",
		Subject: "day",
		Text:    "Ana wants delivery on Monday.",
		From:    []int{1},
	}, note{Kind: "fact", Subject: "dog", Text: "Ana has a dog.", From: []int{2}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, false))
	r.now = r.now.Add(time.Hour)
	said := r.talk(r.ana, 20)
	v := storetest.NewFaultInjector(at)
	r.notes(
		note{Kind: "fact", Subject: "day", Text: "Ana wants delivery on Thursday.", From: []int{20}},
		note{Kind: "fact", Subject: "dog", Text: "Ana has a dog!", From: []int{19}},
		note{
			Kind:    "action",
			Subject: "fence",
			Text:    "Ana pays the fence.",
			Who:     "Ana",
			From:    []int{18},
		},
	)
	answers := r.script
	r.script = func(ctx context.Context, req llmtest.Request) llmtest.Reply {
		v.Reach("while the model thinks")
		return answers(ctx, req)
	}
	moment := v.Run(t, r.st, killDatabase, killModel+"="+r.server.URL)

	// The next two times that the queue looks for due captures.
	for range 2 {
		for _, chat := range r.dueCaptures() {
			require.Eventually(t, func() bool {
				return r.mem.Capture(r.ctx, chat, false) == nil
			}, time.Minute, 20*time.Millisecond, "the dead process' connection may hold a row for a moment")
		}
	}
	var day, dog store.Note
	notes := r.notesOfAna()
	require.Len(t, notes, 3, moment)
	for _, n := range notes {
		switch {
		case strings.Contains(n.Body, "delivery"):
			day = n
		case strings.Contains(n.Body, "dog"):
			dog = n
		}
	}
	require.Equal(t, "Ana wants delivery on Monday.", day.Was, moment)
	require.Len(t, dog.Sources, 2, moment)
	require.Equal(t, 4, r.count("select count(*) from notes"), "%s: and the one that was replaced", moment)
	require.Equal(t, 2, r.count("select count(*) from note_sections"), moment)
	require.Equal(t, 2, r.count("select count(*) from documents where kind = 'conv'"), moment)
	require.Equal(t, 1, r.count("select count(*) from commitments"), moment)
	require.Zero(t,
		r.count("select count(*) from term_stats s where s.role <> '*' and s.ndoc <> (select count(*) from chunk_index i where i.role = s.role and s.word = any (tsvector_to_array(i.tsv)))"), moment)
	kept, err := store.CaptureStateOf(r.ctx, r.st.DB(), r.ana.ID)
	require.NoError(t, err)
	require.Equal(t, said[19].ID, kept.CapturedTo, moment)
	require.Zero(t, kept.NewMessages, moment)
	require.WithinDuration(t, said[15].At, *kept.WindowFrom, time.Millisecond, moment)
	return moment
}

func TestCapture_KillWritesOnce(t *testing.T) {
	t.Parallel()
	const most = 200
	var moments []string
	for at := 1; at <= most; at++ {
		moment := captureAndKill(t, at)
		if moment == "" {
			break
		}
		moments = append(moments, moment)
	}
	t.Logf("killed at %d moments:\n%s", len(moments), strings.Join(moments, "\n"))
	all := strings.Join(moments, "\n")
	for _, want := range []string{
		"while the model thinks", "after insert into notes", "after insert into documents",
		"before insert into commitments", "before update chat_memory", "before commit", "after commit",
	} {
		require.Contains(t, all, want)
	}
	require.Less(t, len(moments), most)
}
