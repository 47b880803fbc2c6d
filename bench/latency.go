package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

const (
	queriesFew   = 300 // number of queries with one client, and again with two
	queriesMany  = 600 // number of queries with eight clients
	askedOfFTS   = 60  // number of queries that SQLite's FTS5 answers as well
	queriesExact = 40  // number of queries compared with an exhaustive search
	tieMargin    = 1e-9
)

// report holds the results. Times are in milliseconds, rates in passages a second.
type report struct {
	Chunks           int     `json:"chunks"`
	OwnerP50         float64 `json:"owner_p50_ms"`
	OwnerP95         float64 `json:"owner_p95_ms"`
	OwnerP99         float64 `json:"owner_p99_ms"`
	ContactP50       float64 `json:"contact_p50_ms"`
	ContactP95       float64 `json:"contact_p95_ms"`
	ContactP99       float64 `json:"contact_p99_ms"`
	Owner2P95        float64 `json:"owner_2_clients_p95_ms"`
	Contact2P95      float64 `json:"contact_2_clients_p95_ms"`
	Owner8P95        float64 `json:"owner_8_clients_p95_ms"`
	Contact8P95      float64 `json:"contact_8_clients_p95_ms"`
	FTSOwnerP50      float64 `json:"fts5_owner_p50_ms"`
	FTSOwnerP95      float64 `json:"fts5_owner_p95_ms"`
	FTSContactP50    float64 `json:"fts5_contact_p50_ms"`
	FTSContactP95    float64 `json:"fts5_contact_p95_ms"`
	OwnerOverlap     float64 `json:"owner_overlap_at_10"`
	ContactOverlap   float64 `json:"contact_overlap_at_10"`
	Overlap          float64 `json:"overlap_at_10"` // the smaller of OwnerOverlap and ContactOverlap
	InsertPerS       float64 `json:"insert_per_s"`
	InsertBesidePerS float64 `json:"insert_beside_search_per_s"`
	FTSInsertPerS    float64 `json:"fts5_insert_per_s"`
	SizeMB           int64   `json:"size_mb"` // of the database, after loading
	TextMB           int64   `json:"text_mb"`
	IndexMB          int64   `json:"index_mb"`
	CountsMB         int64   `json:"counts_mb"`
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

func (r report) print(asJSON bool) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = fmt.Println(string(line))
	}
	return err
}

// asked is a query with the scope in which it is asked.
type asked struct {
	text  string
	scope policy.Scope
	roles []string // nil means all
	owner bool
}

func (co *corpus) measure(ctx context.Context, r *report) error {
	owner, err := co.questions(ctx, true)
	if err != nil {
		return err
	}
	contact, err := co.questions(ctx, false)
	if err != nil {
		return err
	}
	for _, who := range []struct {
		name                              string
		asked                             []asked
		p50, p95, p99, p95With2, p95With8 *float64
		ftsP50, ftsP95, overlap           *float64
	}{
		{"owner", owner, &r.OwnerP50, &r.OwnerP95, &r.OwnerP99, &r.Owner2P95, &r.Owner8P95, &r.FTSOwnerP50, &r.FTSOwnerP95, &r.OwnerOverlap},
		{
			"contact", contact, &r.ContactP50, &r.ContactP95, &r.ContactP99, &r.Contact2P95, &r.Contact8P95, &r.FTSContactP50, &r.FTSContactP95,
			&r.ContactOverlap,
		},
	} {
		// Other queries come first, to warm the caches as in a database that has run for a while.
		if _, err := co.latencies(ctx, who.asked[queriesFew:], 2); err != nil {
			return err
		}
		if _, err := co.ftsLatencies(ctx, who.asked[queriesFew:queriesFew+askedOfFTS/3]); err != nil {
			return err
		}
		for _, run := range []struct {
			clients, n    int
			p50, p95, p99 *float64
		}{{1, queriesFew, who.p50, who.p95, who.p99}, {2, queriesFew, nil, who.p95With2, nil}, {8, queriesMany, nil, who.p95With8, nil}} {
			took, err := co.latencies(ctx, who.asked[:run.n], run.clients)
			if err != nil {
				return err
			}
			for share, to := range map[float64]*float64{.5: run.p50, .95: run.p95, .99: run.p99} {
				if to != nil {
					*to = milliseconds(percentile(took, share))
				}
			}
			fmt.Printf("%-8s %d clients   %s\n", who.name, run.clients, summary(took))
		}
		took, err := co.ftsLatencies(ctx, who.asked[:askedOfFTS])
		if err != nil {
			return err
		}
		*who.ftsP50, *who.ftsP95 = milliseconds(percentile(took, .5)), milliseconds(percentile(took, .95))
		if *who.overlap, err = co.overlap(ctx, who.asked[:queriesExact]); err != nil {
			return err
		}
		fmt.Printf("%-8s SQLite FTS5 %s   p50 %.0f and p95 %.0f times multis'   overlap@10 with a search that skips nothing %.3f\n",
			who.name, summary(took), *who.ftsP50 / *who.p50, *who.ftsP95 / *who.p95, *who.overlap)
	}
	r.Overlap = min(r.OwnerOverlap, r.ContactOverlap)
	if r.InsertPerS, err = co.ingest(ctx); err != nil {
		return err
	}
	if r.InsertBesidePerS, err = co.besideSearch(ctx, contact); err != nil {
		return err
	}
	fmt.Printf("ingestion: %.0f passages/s alone, %.0f beside one searching client; SQLite FTS5 %.0f\n", r.InsertPerS, r.InsertBesidePerS,
		r.FTSInsertPerS)
	fmt.Printf("database: %d MB, of it texts %d, index %d, word counts %d\n", r.SizeMB, r.TextMB, r.IndexMB, r.CountsMB)
	fmt.Printf("load of the machine: %s\n", load())
	return nil
}

// load returns the system's load average; empty if unknown.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return string(data[:min(len(data), 14)])
}

// questions cuts queries out of passages in the scope.
func (co *corpus) questions(ctx context.Context, owner bool) ([]asked, error) {
	list := make([]asked, queriesMany)
	for i := range list {
		chat := 1 + policy.ChatID(co.writer.random.IntN(co.chats))
		q := asked{scope: policy.ContactScope(chat), roles: policy.ContactScope(chat).Roles()}
		if owner {
			q = asked{scope: co.allChats(), owner: true}
		}
		passage, err := co.anyPassage(ctx, q)
		if err != nil {
			return nil, err
		}
		q.text = co.writer.question(passage)
		list[i] = q
	}
	return list, nil
}

const (
	anyPassageSQL = "select content from chunks where id >= $1 and (role = 'public' or $2) order by id limit 1"
	ownPassageSQL = "select content from chunks where role = $1 order by indexed_at offset $2 limit 1"
)

// anyPassage picks a random passage in the scope. For a contact, it is one of the contact's own in half of the cases.
func (co *corpus) anyPassage(ctx context.Context, q asked) (text string, err error) {
	err = co.db.AsOwner(ctx, q.scope, func(tx store.Tx) error {
		if !q.owner && co.writer.random.IntN(2) == 0 {
			err := tx.QueryRow(ctx, ownPassageSQL, q.roles[len(q.roles)-1], co.writer.random.IntN(documentSize)).Scan(&text)
			if !errors.Is(err, pgx.ErrNoRows) { // a chat may have none
				return err
			}
		}
		return tx.QueryRow(ctx, anyPassageSQL, co.writer.random.IntN(co.size/2), q.owner).Scan(&text)
	})
	if err != nil {
		return "", fmt.Errorf("pick a passage: %w", err)
	}
	return text, nil
}

func (co *corpus) ask(ctx context.Context, s *search.Searcher, q asked, exhaustive bool) (search.Result, error) {
	query := search.Query{Text: q.text, Exhaustive: exhaustive}
	if q.owner {
		return s.AsOwner(ctx, q.scope, query)
	}
	return s.AsContact(ctx, q.scope, query)
}

func (co *corpus) latencies(ctx context.Context, list []asked, clients int) ([]time.Duration, error) {
	s := search.New(co.db.Store)
	took := make([]time.Duration, len(list))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(list) {
					return nil
				}
				start := time.Now()
				if _, err := co.ask(ctx, s, list[i], false); err != nil {
					return err
				}
				took[i] = time.Since(start)
			}
		})
	}
	return took, group.Wait()
}

func (co *corpus) ftsLatencies(ctx context.Context, list []asked) ([]time.Duration, error) {
	took := make([]time.Duration, len(list))
	for i, q := range list {
		words, err := contentWords(ctx, co.db, q.text)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if _, err := co.lite.find(ctx, words, q.roles); err != nil {
			return nil, err
		}
		took[i] = time.Since(start)
	}
	return took, nil
}

// overlap returns the share of a search's ten best passages that are among the ten best of an exhaustive search. Passages of
// equal scores are interchangeable.
func (co *corpus) overlap(ctx context.Context, list []asked) (float64, error) {
	s := search.New(co.db.Store)
	var sum float64
	for _, q := range list {
		fast, err := co.ask(ctx, s, q, false)
		if err != nil {
			return 0, err
		}
		exact, err := co.ask(ctx, s, q, true)
		if err != nil {
			return 0, err
		}
		if len(exact.Hits) == 0 {
			sum++
			continue
		}
		least := exact.Hits[len(exact.Hits)-1].Score - tieMargin
		good := 0
		for _, h := range fast.Hits {
			if h.Score >= least {
				good++
			}
		}
		sum += float64(good) / float64(len(exact.Hits))
	}
	return round(sum / float64(len(list))), nil
}

// besideSearch returns the rate of ingesting while one client searches continuously.
func (co *corpus) besideSearch(ctx context.Context, list []asked) (float64, error) {
	searching, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error {
		for searching.Err() == nil {
			if _, err := co.latencies(searching, list, 1); err != nil && searching.Err() == nil {
				return err
			}
		}
		return nil
	})
	rate, err := co.ingest(ctx)
	stop()
	if waited := group.Wait(); err == nil {
		err = waited
	}
	return rate, err
}
