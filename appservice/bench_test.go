package appservice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// BenchmarkIngest measures events taken in through the handler, in transactions of 1 to 20 events, with their jobs.
func BenchmarkIngest(b *testing.B) {
	for _, size := range []int{1, 5, 20} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) { benchIngest(b, size) })
	}
}

// benchIngest reports events per second and the 95th percentile of the time until the homeserver has its answer.
func benchIngest(b *testing.B, size int) {
	bundle := setup(b)
	bundle.inbox.settings.StoreCap = policy.Rate{Minute: 1 << 30, Day: 1 << 30} // every event is to be stored
	var chats []store.Chat
	for i := range 10 {
		chats = append(chats, bundle.chat(idRoom(i), policy.ModeBusiness))
	}
	benchReceive(b, bundle, chats, size)
}

// BenchmarkIngestBesideManyMessages is BenchmarkIngest, one event each, where there are 100,000 messages in 500 chats.
func BenchmarkIngestBesideManyMessages(b *testing.B) {
	bundle := setup(b)
	bundle.store = storetest.NewWithMessages(b, 500, 200, time.Now().AddDate(0, 0, -1))
	bundle.inbox = NewInbox(bundle.store, bundle.inbox.settings)
	bundle.inbox.settings.StoreCap = policy.Rate{Minute: 1 << 30, Day: 1 << 30}
	chats, err := store.ListChats(b.Context(), bundle.store.DB(), "", 500, 0)
	if err != nil || len(chats) != 500 {
		b.Fatal(len(chats), err)
	}
	benchReceive(b, bundle, chats, 1)
}

func benchReceive(b *testing.B, bundle *fixture, chats []store.Chat, size int) {
	h := NewServer(bundle.inbox, "right").Handler()
	before := bundle.count("messages")
	var took []time.Duration
	n := 0
	for b.Loop() {
		var events []string
		for range size {
			n++
			events = append(events,
				fmt.Sprintf(`{"type":"m.room.message","room_id":%q,"sender":%q,"event_id":"$b%d","origin_server_ts":%d,"content":{"msgtype":"m.text","body":"What does delivery %d cost?"}}`,
					*chats[n%len(chats)].RoomID, chats[n%len(chats)].Contact, n, time.Now().UnixMilli(), n))
		}
		start := time.Now()
		if rec := putTransaction(b, h, "right", `{"events":[`+strings.Join(events, ",")+`]}`); rec.Code != 200 {
			b.Fatal(rec.Body.String())
		}
		took = append(took, time.Since(start))
	}
	if stored := bundle.count("messages") - before; stored != n {
		b.Fatalf("stored %d of %d", stored, n)
	}
	slices.Sort(took)
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

func idRoom(i int) id.RoomID { return id.RoomID(fmt.Sprintf("!bench%d:x", i)) }
