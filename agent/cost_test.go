package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// databaseLedger keeps a model's budget where the program does.
type databaseLedger struct{ st *store.Store }

func (b databaseLedger) Reserve(ctx context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	var res policy.Reservation
	err := b.st.InTx(ctx, func(tx store.Tx) (err error) {
		res, err = store.ReserveCost(ctx, tx, s)
		return err
	})
	return res, err
}

func (b databaseLedger) Settle(ctx context.Context, id int64, s policy.Settlement) error {
	_, _, err := store.SettleCost(ctx, b.st.AsyncCommit(), id, s)
	return err
}

func TestAnswer_StatesCost(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.currency = "EUR"
	first, second := calls("search_docs", map[string]string{"query": "grand piano"}), llmtest.Reply{Text: answerJSON("Done.", 0, "")}
	first.In = 3000
	first.Out = 500
	second.In = 4000
	second.Out = 500
	b.agent.personas.Model = b.openPaidModel(t, inTurn(first, second))
	b.setTools()
	said := b.ask("what does a grand piano cost?")
	require.Contains(t, said, "1 tool · 0.0080 EUR")
	task, _ := b.task()
	require.EqualValues(t, 8000, task.Cost)
}

// diskWork is what a database has done so far.
type diskWork struct{ transactions, syncs int }

func diskWorkOf(b *testing.B, st *store.Store) (d diskWork) {
	b.Helper()
	syncs := "select wal_sync from pg_stat_wal"
	var version int
	require.NoError(b, st.DB().QueryRow(b.Context(), "select current_setting('server_version_num')::int").Scan(&version))
	if version >= 18_0000 {
		syncs = "select sum(fsyncs)::bigint from pg_stat_io where object = 'wal'"
	}
	sql := "select xact_commit + xact_rollback, (" + syncs + ") from pg_stat_database where datname = current_database()"
	require.NoError(b, st.DB().QueryRow(b.Context(), sql).Scan(&d.transactions, &d.syncs))
	return d
}

// syncTime returns how long the disk takes at the median to keep 8 kB.
func syncTime(b *testing.B) time.Duration {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "synced"))
	require.NoError(b, err)
	defer file.Close()
	took := make([]time.Duration, 21)
	for i := range took {
		begin := time.Now()
		_, err := file.WriteAt(make([]byte, 8192), 0)
		require.NoError(b, err)
		require.NoError(b, file.Sync())
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// turns returns a turn of a contact and one of the owner, at ten thousand passages, with a model that answers at once, in
// a database that keeps what it commits. Each returns how long it took.
func turns(b *testing.B) (*fixture, map[string]func() time.Duration) {
	b.Helper()
	w := setupIn(b, storetest.NewDurable(b), llm.None{})
	question := indexRandomPassages(b, w.store, 10_000)
	model := w.openPaidModel(b, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if !strings.Contains(r.Last(), "passage 1: ") {
			return llmtest.Reply{Text: "It was about words."} // a summary
		}
		return llmtest.Reply{Text: answerJSON("Nobody knows.", 1, firstPassageQuote(r.Last()))}
	})
	w.agent.personas.Model = model
	w.agent.box = outbox.New(w.store, outbox.Settings{
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal}, SendCap: policy.Rate{Minute: 1e6, Day: 1e6}, Name: "Nora",
		Disclose: func(string) bool {
			return true
		},
	}, nil)
	w.agent.tools = tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{Search: w.agent.search}, tools.Escalate{})
	rng := rand.New(rand.NewPCG(1, 2))
	summarised := func(chat store.Chat, took time.Duration) time.Duration {
		require.NoError(b, w.agent.Summaries.Summarise(context.Background(), chat.ID, "")) // by a job of its own, after the turn
		return took
	}
	return w, map[string]func() time.Duration{
		"contact": func() time.Duration {
			w.storeContactMessage(question(rng), policy.ActionAnswer)
			begin := time.Now()
			w.runTurn()
			return summarised(w.chat, time.Since(begin))
		},
		"owner": func() time.Duration {
			m := w.storeQuestion(question(rng))
			begin := time.Now()
			require.NoError(b, w.agent.Questions.Ask(context.Background(), w.admin, m, m.Body))
			return summarised(w.admin, time.Since(begin))
		},
	}
}

// fillCaches takes some turns, so that the caches of the database fill, and analyzes it, as autovacuum does within a minute.
func fillCaches(b *testing.B, w *fixture, turn func() time.Duration) {
	b.Helper()
	for range 20 {
		turn()
	}
	_, err := w.store.Pool().Exec(context.Background(), "analyze")
	require.NoError(b, err)
}

// The overhead of a turn. Beside it stand the transactions of a turn and of its summary, how often they wait for the
// disk, and how long the disk takes.
func BenchmarkTurn(b *testing.B) {
	w, all := turns(b)
	for name, turn := range all {
		b.Run(name, func(b *testing.B) {
			var took []float64
			fillCaches(b, w, turn)
			before := diskWorkOf(b, w.store)
			for range b.N {
				took = append(took, turn().Seconds()*1000)
			}
			after := diskWorkOf(b, w.store)
			b.ReportMetric(float64(after.transactions-before.transactions)/float64(b.N), "tx/op")
			b.ReportMetric(float64(after.syncs-before.syncs)/float64(b.N), "syncs/op")
			b.ReportMetric(syncTime(b).Seconds()*1000, "disk-ms")
			slices.Sort(took)
			b.ReportMetric(took[len(took)*50/100], "p50-ms")
			b.ReportMetric(took[len(took)*95/100], "p95-ms")
		})
	}
}

// auditTime returns how long the database takes for the entry of the audit log that a change of a row of the outbox
// writes, in ms, with its link of the chain. The change is rolled back.
func auditTime(b *testing.B, w *fixture) (ms float64) {
	b.Helper()
	ctx := context.Background()
	tx, err := w.store.Pool().Begin(ctx)
	require.NoError(b, err)
	defer func() { require.NoError(b, tx.Rollback(ctx)) }()
	_, err = tx.Exec(ctx, "set constraints all immediate") // the link is added at the commit otherwise
	require.NoError(b, err)
	var plans []struct {
		Triggers []struct {
			Name string  `json:"Trigger Name"`
			Time float64 `json:"Time"`
		} `json:"Triggers"`
	}
	require.NoError(b, tx.QueryRow(ctx, `explain (analyze, format json) update outbox set state = 'failed'
		where id = (select id from outbox where state = 'queued' order by created_at desc limit 1)`).Scan(&plans))
	for _, trigger := range plans[0].Triggers {
		if strings.HasPrefix(trigger.Name, "audit_") {
			ms += trigger.Time
		}
	}
	require.NotZero(b, ms)
	return ms
}

// What the audit log costs a whole turn: the entries that it writes, times what one takes at the median. Beside it stand
// the medians of turns with the log's triggers and without them, which alternate; on a busy machine their difference is
// mostly noise.
func BenchmarkAuditOfATurn(b *testing.B) {
	w, all := turns(b)
	triggers := func(b *testing.B, action string) {
		b.Helper()
		_, err := w.store.Pool().Exec(context.Background(), `do $$ declare t record; begin
			for t in select tgrelid::regclass as of, tgname from pg_trigger where tgname like 'audit\_%' and tgrelid::regclass::text !~ '^audit_' loop
				execute format('alter table %s `+action+` trigger %I', t.of, t.tgname);
			end loop;
		end $$`)
		require.NoError(b, err)
	}
	entries := func(b *testing.B) (n int) {
		b.Helper()
		require.NoError(b, w.store.DB().QueryRow(context.Background(), "select count(*) from audit_entries").Scan(&n))
		return n
	}
	median := func(all []float64) float64 {
		slices.Sort(all)
		return all[len(all)/2]
	}
	const block = 10 // turns between two changes of the triggers; the first one after a change makes its plans anew, and is not measured
	for name, turn := range all {
		b.Run(name, func(b *testing.B) {
			fillCaches(b, w, turn)
			first := entries(b)
			took := map[string][]float64{}
			entry := []float64(nil)
			for range b.N {
				for _, action := range []string{"disable", "enable"} {
					triggers(b, action)
					turn()
					for range block {
						took[action] = append(took[action], turn().Seconds()*1000)
					}
				}
				for range block {
					entry = append(entry, auditTime(b, w))
				}
			}
			perTurn := float64(entries(b)-first) / float64((block+1)*b.N)
			b.ReportMetric(perTurn, "entries/turn")
			b.ReportMetric(perTurn*median(entry), "ms-added/turn")
			b.ReportMetric(median(took["disable"]), "ms-without/turn")
			b.ReportMetric(median(took["enable"]), "ms-with/turn")
		})
	}
}

// firstPassageQuote is a quote that stands in the first passage of a prompt.
func firstPassageQuote(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "passage 1: ")
	_, rest, _ = strings.Cut(rest, "\n")
	return strings.Join(strings.Fields(rest)[:6], " ")
}

// indexRandomPassages indexes a number of passages of made-up words, common and rare ones. It returns a function that
// makes questions about them.
func indexRandomPassages(tb testing.TB, st *store.Store, passages int) func(*rand.Rand) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	word := func(r *rand.Rand) string {
		return fmt.Sprintf("wort%d", int(float64(20_000)*r.Float64()*r.Float64()*r.Float64()))
	}
	library := knowledge.New(st)
	const perFile = 200
	for file := range passages / perFile {
		var text strings.Builder
		for text.Len() < perFile*1800 {
			for range 12 {
				text.WriteString(word(rng))
				text.WriteByte(' ')
			}
			text.WriteString("ende. ")
		}
		_, err := library.Index(context.Background(), knowledge.File{
			Name: fmt.Sprintf("file%d.txt", file),
			Data: []byte(text.String()),
			Role: policy.RolePublic,
		})
		require.NoError(tb, err)
	}
	return func(r *rand.Rand) string { return "what about " + word(r) + " and " + word(r) + " " + word(r) + "?" }
}
