package tools_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy/rules"
	"multis/store"
	"multis/store/storetest"
)

func newScheduleTools(t *testing.T) (*tools.Registry, *store.Store) {
	t.Helper()
	st := storetest.New(t)
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	r := tools.NewRegistry(tools.TierPolicy{}, tools.Escalate{}, tools.GrepFiles{})
	r.Add(tools.Schedule{
		Store:    st,
		Registry: r,
		Owner:    "@you:example.com",
		Zone:     zone,
		Now:      func() time.Time { return time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC) },
	})
	return r, st
}

// allowAll is a policy that allows everything.
type allowAll struct{}

func (allowAll) Judge(context.Context, tools.Spec, tools.Call) (tools.Verdict, error) {
	return tools.Verdict{Allow: true}, nil
}

func count(t *testing.T, st *store.Store, sql string) (n int) {
	t.Helper()
	require.NoError(t, st.DB().QueryRow(t.Context(), sql).Scan(&n))
	return n
}

func owner(name, args string) tools.Call {
	return tools.Call{Name: name, Args: json.RawMessage(args), Caller: tools.Caller{Owner: true, Workspace: "."}}
}

func TestSchedule_SetListCancelAfterApproval(t *testing.T) {
	t.Parallel()
	r, st := newScheduleTools(t)
	set := owner("schedule", `{"do": "set", "at": "2026-11-21T09:00:00+01:00", "what": "call the plumber"}`)
	asked, err := r.Do(t.Context(), set, false)
	require.NoError(t, err)
	require.Equal(t, tools.CodeApproval, asked.Code, "it changes something")
	done, err := r.Do(t.Context(), set, true)
	require.NoError(t, err)
	require.Equal(t, "Set as job 1; next on Sat 21 Nov, 09:00.", done.ForLLM)
	s, err := store.ScheduleByID(t.Context(), st.DB(), 1)
	require.NoError(t, err)
	require.Equal(t, "call the plumber", s.Body)
	require.Equal(t, store.ActionSay, s.Action)
	require.EqualValues(t, "@you:example.com", s.CreatedBy)
	require.Equal(t, 1, count(t, st, "select count(*) from river.river_job where kind = 'tick' and (args->>'schedule')::int = 1"),
		"with its job, in one transaction")

	work, err := r.Do(t.Context(), owner("schedule", `{"do": "set", "cron": "0 9 * * 1-5", "what": "sum up the mail", "work": true}`), true)
	require.NoError(t, err)
	require.Equal(t, "Set as job 2; next on Mon 23 Nov, 09:00.", work.ForLLM)
	s, err = store.ScheduleByID(t.Context(), st.DB(), 2)
	require.NoError(t, err)
	require.Equal(t, store.ActionAsk, s.Action)
	require.Equal(t, []string{"grep_files", "schedule"}, s.Tools, "the tools that are there now, and no others")

	mine := owner("schedule", `{"do": "set", "at": "2026-11-21T09:00:00Z", "what": "look at the till", "work": true}`)
	mine.Agent = "shop"
	_, err = r.Do(t.Context(), mine, true)
	require.NoError(t, err)
	s, err = store.ScheduleByID(t.Context(), st.DB(), 3)
	require.NoError(t, err)
	require.Equal(t, "@shop look at the till", s.Body, "who promised it does it")

	list, err := r.Do(t.Context(), owner("schedule", `{"do": "list"}`), false)
	require.NoError(t, err)
	require.Contains(t, list.ForLLM, "It is Fri 20 Nov 2026, 18:00 +01:00 now.\njob 1, 2026-11-21T09:00:00+01:00, at : call the plumber\n")
	require.Contains(t, list.ForLLM, "job 2, 2026-11-23T09:00:00+01:00, cron 0 9 * * 1-5: sum up the mail")
	gone, err := r.Do(t.Context(), owner("schedule", `{"do": "cancel", "job": 1}`), true)
	require.NoError(t, err)
	require.Equal(t, "Job 1 is cancelled.", gone.ForLLM)
	_, err = store.ScheduleByID(t.Context(), st.DB(), 1)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestSchedule_RefusalHasReason(t *testing.T) {
	t.Parallel()
	r, st := newScheduleTools(t)
	for args, want := range map[string]string{
		`{"do": "set", "at": "tomorrow 9am", "what": "x"}`: "RFC 3339",
		// without an offset nobody knows when that is
		`{"do": "set", "at": "2026-11-21T09:00:00", "what": "x"}`:                       "RFC 3339",
		`{"do": "set", "at": "2026-11-20T17:00:00Z", "what": "x"}`:                      "is not ahead",
		`{"do": "set", "at": "2099-11-20T17:00:00Z", "what": "x"}`:                      "too far",
		`{"do": "set", "cron": "every day", "what": "x"}`:                               "cron cannot be read",
		`{"do": "set", "cron": "0 9 30 2 *", "what": "x"}`:                              "never happens",
		`{"do": "set", "cron": "* * * * *", "at": "2026-11-21T09:00:00Z", "what": "x"}`: "either at or cron",
		`{"do": "set", "at": "2026-11-21T09:00:00Z"}`:                                   "what is missing",
		`{"do": "dance"}`:            "do is set, list or cancel",
		`{"do": "cancel", "job": 7}`: "There is no job 7.",
		`{"do": "set", "at": "2026-11-21T09:00:00Z", "what": "x", "chat": "Ana · WhatsApp"}`: "unknown field \"chat\"; they are: do, at, cron, what, work, job",
	} {
		result, err := r.Do(t.Context(), owner("schedule", args), true)
		require.NoError(t, err)
		require.True(t, result.IsError, args)
		require.Contains(t, result.ForLLM, want, args)
	}
	require.Zero(t, count(t, st, "select count(*) from schedules"))

	_, err := st.Pool().Exec(t.Context(),
		"insert into schedules (id, kind, zone, action, body, catch_up, created_by) values (70, 'cron', 'UTC', 'upkeep', 'history', 'once', '')")
	require.NoError(t, err)
	result, err := r.Do(t.Context(), owner("schedule", `{"do": "cancel", "job": 70}`), true)
	require.NoError(t, err)
	require.Equal(t, tools.CodeNotFound, result.Code, "upkeep is not for a model to end")
}

// The owner is not asked to approve what cannot be done.
func TestSchedule_RefusedBeforeApproval(t *testing.T) {
	t.Parallel()
	r, _ := newScheduleTools(t)
	for args, want := range map[string]string{
		`{"do": "remove", "job": 3}`:                               "do is set, list or cancel",
		`{"do": "set", "at": "tomorrow 9am", "what": "x"}`:         "RFC 3339",
		`{"do": "set", "at": "2026-11-21T09:00:00Z", "what": "x"}`: "",
	} {
		result, err := r.Do(t.Context(), owner("schedule", args), false)
		require.NoError(t, err)
		if want == "" {
			require.Equal(t, tools.CodeApproval, result.Code, args)
			continue
		}
		require.Equal(t, tools.CodeRefused, result.Code, args)
		require.Contains(t, result.ForLLM, want, args)
	}
}

func TestSchedule_OwnerOnly(t *testing.T) {
	t.Parallel()
	r, st := newScheduleTools(t)
	call := owner("schedule", `{"do": "set", "at": "2026-11-21T09:00:00Z", "what": "x"}`)
	call.Owner = false
	result, err := r.Do(t.Context(), call, true)
	require.NoError(t, err)
	require.Equal(t, tools.CodeNotAllowed, result.Code)
	require.Zero(t, count(t, st, "select count(*) from schedules"))
}

func TestSchedule_UnattendedHasNoPINTools(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(allowAll{}, named("safe", tools.Read), named("new", tools.Read), named("vault", tools.Pin))
	caller := tools.Caller{Owner: true, GrantedTools: []string{"safe", "vault"}}
	offered, err := r.Offered(t.Context(), caller)
	require.NoError(t, err)
	require.Equal(t, []string{"safe"}, names(offered))
	for name, code := range map[string]tools.Code{"safe": "", "new": tools.CodeNotAllowed, "vault": tools.CodeRefused} {
		result, err := r.Do(t.Context(), tools.Call{Name: name, Caller: caller}, true)
		require.NoError(t, err)
		require.Equal(t, code, result.Code, name)
	}
	caller.GrantedTools = []string{}
	offered, err = r.Offered(t.Context(), caller)
	require.NoError(t, err)
	require.Empty(t, offered)
}

func TestSchedule_ListNeedsNoApprovalInTaintedTurn(t *testing.T) {
	t.Parallel()
	set, err := rules.New(nil, rules.Vocabulary{})
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), tools.Schedule{Zone: time.UTC})
	cases := map[string]bool{
		`{"do": "list"}`: true,
		`{"do": "set", "cron": "0 9 * * *", "what": "x"}`: false,
		`{"do": "cancel", "job": 1}`:                      false,
		`{"do": "list", "q": "x"}`:                        false,
	}
	for args, allowed := range cases {
		t.Run(args, func(t *testing.T) {
			call := owner("schedule", args)
			call.Surface, call.Tainted = rules.SurfaceOwner, true
			_, v, err := r.Judge(t.Context(), call)
			require.NoError(t, err)
			require.Equal(t, allowed, v.Allow)
		})
	}
}

func TestSchedule_CardSaysResolvedTime(t *testing.T) {
	t.Parallel()
	r, _ := newScheduleTools(t)
	for args, want := range map[string]string{
		`{"do": "set", "at": "2026-12-04T02:00:00+01:00", "what": "call the bank"}`: "⏰ Fri 4 Dec, 02:00 at night: call the bank",
		`{"do": "set", "at": "2026-12-04T14:00:00+01:00", "what": "call the bank"}`: "⏰ Fri 4 Dec, 14:00: call the bank",
		`{"do": "set", "cron": "0 9 * * 1-5", "what": "sum up"}`:                    "⏰ first on Mon 23 Nov, 09:00: sum up",
		`{"do": "list"}`: "",
		`{"do": "set", "at": "soon", "what": "x"}`: "",
	} {
		require.Equal(t, want, r.Describe(owner("schedule", args)), args)
	}
}
