package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/agent"
	"multis/agent/persona"
	"multis/appservice"
	"multis/business/catalog"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// draftRace drives one chat on drafts at a time through random events and jobs, with the real inbox, turns, outbox and admin room.
type draftRace struct {
	*rig

	inbox *appservice.Inbox
	turns *agent.Turns
	rand  *rand.Rand
	chat  store.Chat
	price int // in the document
	// moment counts what ends the moment of a draft. moments has the moment of which each draft is.
	moment int
	// counts changes of the document, which the owner's own words, and the text that a person will answer, do not cite
	indexed int
	own     map[uuid.UUID]bool // drafts that cite no document
	talk    int                // counts what is said, changed and deleted in the chat
	asked   int                // counts questions, so that none is like another
	moments map[uuid.UUID]int
	// ended counts what ends even a draft that only says that a person will answer. ends has what it was when such a draft was made.
	ended int
	ends  map[uuid.UUID]int
	// told counts the yeses that sent a text of the card of an escalation, which says so on the card.
	told    int
	said    []*event.Event // what the contact said
	written []string       // the texts that the owner gave to drafts
	sent    map[uuid.UUID]bool
	fault   string // of the homeserver: "", "refuses", or "silent": it takes the event, and its answer is lost
	trace   []string
	depth   int // of things that happen in the middle of others
}

var priceInPrompt = regexp.MustCompile(`costs (\d+) euro`)

// Name and Stream make the test a model: it answers with the price in its prompt, and anything may happen meanwhile.
func (d *draftRace) Name() string { return "test/model" }

func (d *draftRace) Stream(_ context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		d.sometimesChange()
		prompt, _ := json.Marshal(r.Messages)
		price := priceInPrompt.FindStringSubmatch(r.System + string(prompt))
		if price == nil {
			yield(llm.Delta{Text: `{"sentences":[]}`, Stop: llm.StopEnd}, nil)
			return
		}
		line := fmt.Sprintf("Delivery costs %s euro within the city.", price[1])
		answer, _ := json.Marshal(map[string]any{"sentences": []map[string]any{{"text": line, "source": 1, "quote": line}}})
		yield(llm.Delta{Text: string(answer), Stop: llm.StopEnd}, nil)
	}
}

// Send accepts an event of the outbox. It checks that a draft to the contact is not older than the newest message of the chat.
func (d *draftRace) Send(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	toContact := room == *d.chat.RoomID
	if toContact && o.Purpose == policy.PurposeDraft {
		made, known := d.moments[o.ID]
		require.True(d.t, known, "a draft that nobody saw made")
		now := d.moment
		if d.own[o.ID] {
			now -= d.indexed
		}
		require.Equal(d.t, now, made, "%s: a stale draft is sent: %s", strings.Join(d.trace, "\n"), outbox.TextOf(o))
	}
	if toContact && d.fault == "refuses" {
		return "", fmt.Errorf("the homeserver refuses")
	}
	if !d.sent[o.ID] {
		d.sent[o.ID] = true
		if _, err := d.homeserver.Send(ctx, o, room); err != nil {
			return "", err
		}
	}
	d.sometimesChange()
	if toContact && d.fault == "silent" {
		return "", fmt.Errorf("the answer of the homeserver is lost")
	}
	return id.EventID("$out-" + o.ID.String()), nil
}

func (d *draftRace) Retract(context.Context, store.OutboxMessage) error { return nil }

// sometimesChange makes a random change during a call, in some of the calls.
func (d *draftRace) sometimesChange() {
	if d.depth == 0 && d.rand.IntN(4) == 0 {
		d.depth++
		d.changeSomething()
		d.depth--
	}
}

func newDraftRace(t *testing.T, seed uint64) *draftRace {
	r := newRig(t)
	r.ctx = zerolog.Nop().WithContext(r.ctx)
	d := &draftRace{
		rig:     r,
		rand:    rand.New(rand.NewPCG(seed, 1)),
		moments: map[uuid.UUID]int{},
		own:     map[uuid.UUID]bool{},
		ends:    map[uuid.UUID]int{},
		sent:    map[uuid.UUID]bool{},
		price:   5,
	}
	r.time = time.Now
	lots := policy.Rate{Minute: 1_000_000, Day: 1_000_000}
	r.box = outbox.New(r.st, outbox.Settings{
		Defaults:   r.settings.Defaults,
		OwnerPause: time.Hour,
		SendCap:    lots,
		Owner:      owner,
		Name:       "Nora",
		Disclose:   func(string) bool { return true },
	}, d)
	r.restart()
	d.inbox = appservice.NewInbox(r.st, appservice.Settings{
		Owner:       owner,
		Bot:         "@bot:x",
		Name:        "Nora",
		Defaults:    r.settings.Defaults,
		ReplyMaxAge: time.Hour,
		OwnerPause:  time.Hour,
		StoreCap:    lots,
		SendCap:     lots,
	})
	d.turns = agent.New(agent.Options{
		Store:    r.st,
		Box:      r.box,
		Search:   search.New(r.st),
		Personas: persona.Set{Model: d},
		Name:     "Nora",
		Texts:    catalog.Texts{},
		Language: catalog.English,
		Zone:     time.UTC,
	}).Turns
	return d
}

// begin gives the race a chat that is on drafts.
func (d *draftRace) begin() {
	d.chat = d.rig.chat("Ana", "whatsapp")
	d.said = nil
	d.written = nil
	d.fault = ""
	d.trace = nil
	d.tx(func(tx store.Tx) error {
		if err := store.SetMode(d.ctx, tx, d.chat.ID, policy.ModeBusiness); err != nil {
			return err
		}
		return store.SetDelivery(d.ctx, tx, d.chat.ID, policy.DeliveryDraft)
	})
	d.index()
}

// index indexes the price list with the present price.
func (d *draftRace) index() {
	_, err := knowledge.New(d.st).Index(d.ctx, knowledge.File{
		Name: "prices.md",
		Data: fmt.Appendf(nil, "# Delivery\n\nDelivery costs %d euro within the city.\n", d.price),
		Role: policy.RolePublic,
	})
	require.NoError(d.t, err)
}

// receive has the inbox take an event in.
func (d *draftRace) receive(kind event.Type, sender id.UserID, content any, more map[string]any) *event.Event {
	raw := map[string]any{
		"type": kind.Type, "room_id": *d.chat.RoomID, "sender": sender, "event_id": d.event(),
		"origin_server_ts": time.Now().UnixMilli(), "content": content,
	}
	maps.Copy(raw, more)
	data, err := json.Marshal(raw)
	require.NoError(d.t, err)
	var evt event.Event
	require.NoError(d.t, json.Unmarshal(data, &evt))
	require.NoError(d.t, d.inbox.Receive(d.ctx, []*event.Event{&evt}, ""))
	return &evt
}

const raceContact = id.UserID("@whatsapp_ana:example.com")

// changeSomething makes one random change from outside: a message, an edit, a deletion or a setting.
func (d *draftRace) changeSomething() {
	text := func(body string) map[string]any { return map[string]any{"msgtype": "m.text", "body": body} }
	d.asked++
	question := fmt.Sprintf("What does delivery within the city cost, number %d?", d.asked)
	what := d.rand.IntN(18)
	d.trace = append(d.trace, fmt.Sprintf("%d happens in the middle of %d", what, d.depth))
	switch what {
	case 0, 1, 2:
		d.moment, d.talk = d.moment+1, d.talk+1
		d.said = append(d.said, d.receive(event.EventMessage, raceContact, text(question), nil))
	case 3:
		if evt := d.randomMessage(); evt != nil {
			d.moment, d.talk = d.moment+1, d.talk+1
			edit := text("* " + question)
			edit["m.new_content"], edit["m.relates_to"] = text(question), map[string]any{"rel_type": "m.replace", "event_id": evt.ID}
			d.receive(event.EventMessage, raceContact, edit, nil)
		}
	case 4:
		if evt := d.randomMessage(); evt != nil {
			d.moment, d.talk = d.moment+1, d.talk+1
			d.said = slices.DeleteFunc(d.said, func(s *event.Event) bool { return s == evt })
			d.receive(event.EventRedaction, raceContact, map[string]any{"redacts": evt.ID}, map[string]any{"redacts": evt.ID})
		}
	case 5:
		d.moment = d.moment + 1
		d.talk = d.talk + 1
		d.ended = d.ended + 1
		d.receive(event.EventMessage, owner, text("I am here, Ana."), nil)
	case 6:
		d.moment, d.ended = d.moment+1, d.ended+1
		for _, how := range []policy.Delivery{policy.DeliveryShadow, policy.DeliveryDraft} {
			d.tx(func(tx store.Tx) error { return store.SetDelivery(d.ctx, tx, d.chat.ID, how) })
		}
	case 7:
		d.moment = d.moment + 1
		d.indexed = d.indexed + 1
		d.price = d.price + 1
		d.index()
	case 8:
		d.tx(func(tx store.Tx) error { return store.ResumeChat(d.ctx, tx, d.chat.ID) })
	case 9:
		d.fault = []string{"", "refuses", "silent"}[d.rand.IntN(3)]
	default:
		d.answerCard()
	}
}

func (d *draftRace) randomMessage() *event.Event {
	if len(d.said) == 0 {
		return nil
	}
	return d.said[d.rand.IntN(len(d.said))]
}

// answerCard has the owner answer a card that he sees, old ones included: yes once or twice, no, or other words.
func (d *draftRace) answerCard() {
	var cards []id.EventID
	for _, s := range d.homeserver.sent {
		var c struct {
			RelatesTo struct {
				Event id.EventID `json:"event_id"`
			} `json:"m.relates_to"`
		}
		if s.Room == *d.room.RoomID && json.Unmarshal(s.Content, &c) == nil && c.RelatesTo.Event == "" && s.React == "" {
			cards = append(cards, s.Event)
		}
	}
	if len(cards) == 0 {
		return
	}
	card := cards[len(cards)-1-d.rand.IntN(min(len(cards), 1+d.rand.IntN(3)))]
	d.now = time.Now().Add(time.Duration(d.rand.IntN(8)+1) * time.Second) // a yes after less than two seconds is too early
	say := func(m store.Message) {
		d.trace = append(d.trace, fmt.Sprintf("the owner says %q to %s", m.Body, card))
		d.command(d.storeCommand(m))
	}
	switch d.rand.IntN(4) {
	case 0:
		say(store.Message{Body: "👎", Kind: "reaction", RelatesTo: card})
	case 1:
		words := fmt.Sprintf("My own words, number %d.", d.rand.IntN(1_000_000))
		d.written = append(d.written, words)
		before := d.openDrafts()
		say(store.Message{Body: words, RelatesTo: card})
		for out := range d.openDrafts() {
			if !before[out] { // it is of the moment of the one that it replaces, which was of the present moment or it would have been withdrawn
				d.moments[out], d.own[out] = d.moment-d.indexed, true
			}
		}
	default:
		waiting := d.openTexts()
		for range 1 + d.rand.IntN(2) {
			say(store.Message{Body: "👍", Kind: "reaction", RelatesTo: card})
		}
		for out := range waiting {
			if d.count("select count(*) from outbox where id = $1 and state in ('queued', 'sent')", out) > 0 { // it is of the moment of the yes
				require.Equal(d.t, d.ended, d.ends[out], "%s: that a person will answer is approved after one did", strings.Join(d.trace, "\n"))
				d.moments[out], d.own[out] = d.moment-d.indexed, true
				d.told++
			}
		}
	}
}

// command runs the jobs of a message in the admin room, again after the cards for which they wait are sent.
func (d *draftRace) command(message store.MessageID) {
	for range 10 {
		err := d.runJobs(message, false)
		if !jobs.IsSnooze(err) {
			require.NoError(d.t, err)
			return
		}
		for _, out := range d.queued() {
			o, err := store.OutboxMessageByID(d.ctx, d.st.DB(), out)
			require.NoError(d.t, err)
			if o.ChatID == d.room.ID {
				d.depth++
				_ = d.box.Send(d.ctx, out, false) // it may wait for another
				d.depth--
			}
		}
	}
	d.t.Fatal("a card is never sent")
}

// openTexts are the drafts that only say that a person will answer. They stay when the contact writes more.
func (d *draftRace) openTexts() map[uuid.UUID]bool {
	texts := map[uuid.UUID]bool{}
	for out := range d.openDrafts() {
		if d.count("select count(*) from outbox where id = $1 and state = 'draft' and purpose = 'escalation'", out) > 0 {
			texts[out] = true
		}
	}
	return texts
}

// openDrafts are the drafts and approved drafts of the chat that are not sent.
func (d *draftRace) openDrafts() map[uuid.UUID]bool {
	rows, err := d.st.DB().Query(d.ctx, "select id from outbox where chat_id = $1 and state in ('draft', 'queued')", d.chat.ID)
	require.NoError(d.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(d.t, err)
	open := map[uuid.UUID]bool{}
	for _, out := range ids {
		open[out] = true
	}
	return open
}

// runRandomJob runs one job, picked at random; sometimes it is killed when its work is done, and runs again. It returns
// false if there is none.
func (d *draftRace) runRandomJob() bool {
	rows, err := d.st.DB().Query(d.ctx,
		`select id, kind, args::text from river.river_job where kind in ('turn', 'present_draft', 'send', 'undelivered') and (args->>'at' is null) order by id`)
	require.NoError(d.t, err)
	type job struct {
		ID   int64
		Kind string
		Args string
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[job])
	require.NoError(d.t, err)
	if len(open) == 0 {
		return false
	}
	j := open[d.rand.IntN(len(open))]
	err = d.runJob(j.Kind, j.Args)
	d.trace = append(d.trace, fmt.Sprintf("%s %s: %v", j.Kind, j.Args, err))
	if j.Kind == "present_draft" && jobs.IsSnooze(err) && d.isShown(j.Args) {
		err = nil // it waits for hours until the draft expires
	}
	if jobs.IsSnooze(err) || (err != nil && strings.Contains(err.Error(), "homeserver")) || d.rand.IntN(20) == 0 {
		return true
	}
	require.NoError(d.t, err, "%s %s", j.Kind, j.Args)
	d.exec("delete from river.river_job where id = $1", j.ID)
	return true
}

// isShown reports whether the draft of a job is on its card.
func (d *draftRace) isShown(args string) bool {
	return d.count(`select count(*) from outbox o where o.id = ($1::jsonb->>'outbox')::uuid and o.state = 'draft'
		and exists (select from dialogs where draft_id = o.id and kind = 'draft')`, args) == 1
}

func (d *draftRace) runJob(kind, args string) error {
	var of struct {
		Out  uuid.UUID    `json:"outbox"`
		Chat store.ChatID `json:"chat"`
	}
	require.NoError(d.t, json.Unmarshal([]byte(args), &of))
	switch kind {
	case "turn":
		before := d.openDrafts()
		at := d.moment
		indexed := d.indexed
		ended := d.ended
		talk := d.talk
		err := d.turns.Turn(d.ctx, of.Chat, strconv.FormatUint(d.rand.Uint64(), 36), false)
		if talk == d.talk { // another mode or document is read again at the end of a turn
			at = d.moment
			indexed = d.indexed
			ended = d.ended
		}
		for out := range d.openDrafts() {
			if before[out] {
				continue
			}
			d.moments[out], d.ends[out] = at, ended
			if d.count("select count(*) from outbox where id = $1 and jsonb_array_length(coalesce(citations, '[]')) = 0", out) > 0 {
				d.moments[out], d.own[out] = at-indexed, true
			}
		}
		return err
	case "present_draft":
		return d.admin.Drafts.PresentDraft(d.ctx, of.Out)
	case "send":
		return d.box.Send(d.ctx, of.Out, d.rand.IntN(3) == 0)
	default:
		return d.admin.Notices.NotifyUndelivered(d.ctx, of.Out)
	}
}

// runAllJobs runs jobs until none is left.
func (d *draftRace) runAllJobs() {
	d.fault, d.depth = "", 1
	for range 500 {
		if !d.runRandomJob() {
			if d.sweep() == 0 {
				return
			}
		}
	}
	d.t.Fatal("the jobs come to no end")
}

// sweep does what the periodic sweep does, without its minute of patience, and returns how much it found.
func (d *draftRace) sweep() int {
	var found int
	d.tx(func(tx store.Tx) error {
		left, err := store.PendingWorkOf(d.ctx, tx, []store.ChatID{d.chat.ID})
		found = len(left)
		if err != nil {
			return err
		}
		return jobs.EnqueueForChanges(d.ctx, tx, d.chat.ID)
	})
	return found
}

// check checks what is left when all is done.
func (d *draftRace) check() {
	require.Zero(d.t, d.count("select count(*) from messages where chat_id = $1 and answered_at is null and action in ('answer', 'escalate')",
		d.chat.ID), "a question waits for ever")
	require.Zero(d.t,
		d.count(`select count(*) from messages m join outbox o on o.id = m.outbox_id where m.chat_id = $1 and m.redacted_at is null
		and o.state = 'dropped' and o.code in ('draft_outdated', 'draft_source')`, d.chat.ID), "a question whose draft was withdrawn is lost")
	if d.count("select count(*) from outbox where chat_id = $1 and state = 'draft' and purpose <> 'escalation'", d.chat.ID) > 1 {
		rows, _ := d.st.DB().Query(d.ctx,
			"select seq::text || ' ' || purpose || ' ' || state || ' ' || code || ' ' || seen_id || ' ' || coalesce(content->>'body', '') || ' ' || reason from outbox where chat_id = $1 order by seq", d.chat.ID)
		lines, _ := pgx.CollectRows(rows, pgx.RowTo[string])
		d.t.Log(strings.Join(append(lines, d.trace...), "\n"))
	}
	require.LessOrEqual(d.t, d.count("select count(*) from outbox where chat_id = $1 and state = 'draft' and purpose <> 'escalation'",
		d.chat.ID), 1, "two answers for one chat")
	require.Equal(d.t, d.count(`select count(*) from outbox o where o.chat_id = $1 and o.state = 'draft' and (o.purpose <> 'escalation'
			or exists (select from dialogs d where d.draft_id = o.id)
			or not exists (select from escalations e where e.chat_id = o.chat_id and e.closed_at is null and e.answered_at is null))`, d.chat.ID),
		d.count("select count(*) from dialogs d join outbox o on o.id = d.draft_id where o.chat_id = $1 and d.kind = 'draft' and d.done_at is null and o.state = 'draft'", d.chat.ID), "each open draft has one card, or is on that of an escalation")
	require.Zero(d.t,
		d.count(`select count(*) from dialogs d join outbox o on o.id = d.draft_id where o.chat_id = $1 and d.kind = 'draft' and d.done_at is null
		and o.state = 'dropped' and o.code in ('draft_outdated', 'draft_answered', 'draft_mode', 'draft_source', 'draft_late')`, d.chat.ID),
		"a card of a withdrawn draft looks open")
	seen := map[string]int{}
	var all strings.Builder
	for _, s := range d.homeserver.sent {
		all.WriteString(s.Body + "\n")
		if s.Room == *d.chat.RoomID {
			seen[string(s.Event)]++
			require.Equal(d.t, 1, seen[string(s.Event)])
		}
	}
	require.LessOrEqual(d.t, len(seen), d.told+strings.Count(all.String(), "Sending to **")+
		strings.Count(all.String(), "I'll try again to send it to **"), "more was sent than was approved")
	for _, words := range d.written {
		if d.count("select count(*) from messages where body = $1 and code <> 'command'", words) == 0 &&
			d.count("select count(*) from outbox where content->>'body' = $1", words) > 0 {
			require.Contains(d.t, all.String(), words, "the owner's words are lost")
		}
	}
}

// racesPerDatabase is how many interleavings share a database. The rows of the ones before make each slower.
const racesPerDatabase = 25

// TestDraft_NeverSentAfterChange has MULTIS_TEST_INTERLEAVINGS random interleavings, from MULTIS_TEST_SEED on, of
// messages, edits, deletions, own replies, changes of the delivery and of the document, answers of the owner, failing
// sends and killed jobs, also in the middle of a model call and of a send. The seed of a part that failed repeats that
// part.
func TestDraft_NeverSentAfterChange(t *testing.T) {
	t.Parallel()
	count := 150
	if n, err := strconv.Atoi(os.Getenv("MULTIS_TEST_INTERLEAVINGS")); err == nil {
		count = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("MULTIS_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	for first := 0; first < count; first += racesPerDatabase {
		t.Run(fmt.Sprintf("seed %d", seed+uint64(first)), func(t *testing.T) {
			t.Parallel()
			d := newDraftRace(t, seed+uint64(first))
			for range min(racesPerDatabase, count-first) {
				d.race()
			}
			t.Logf("%d drafts, %d sent, %d withdrawn", len(d.moments),
				storetest.Count(t, d.st, "select count(*) from outbox where purpose = 'draft' and state = 'sent'"),
				storetest.Count(t, d.st, "select count(*) from outbox where state = 'dropped' and seen_id > 0 and code like 'draft%'"))
		})
	}
}

// race is one interleaving, in a chat of its own.
func (d *draftRace) race() {
	d.begin()
	d.depth = 0
	d.told = 0
	for range 4 + d.rand.IntN(8) {
		d.changeSomething()
		for range d.rand.IntN(10) {
			d.runRandomJob()
		}
	}
	d.runAllJobs()
	d.check()
	d.homeserver.sent = nil
	d.exec("delete from river.river_job")
}
