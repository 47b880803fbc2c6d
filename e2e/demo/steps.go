package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/internal/text"
)

// priceList is the document that the answers quote.
//
//go:embed prices.md
var priceList []byte

const (
	priceListName  = "prices.md"
	priceListTitle = "Lindenhof bicycle workshop" // customers read it
)

// The messages of the contacts.
const (
	smallTalk      = "Hello! I hope you are well."
	lunch          = "Can we move our lunch to Friday?"
	secret         = "The spare key is under the blue flowerpot."
	firstQuestion  = "How much is an inspection with brakes and gears?"
	secondQuestion = "And when are you open on Saturday?"
)

// step is one scene of the demo. run returns an error if what name announces did not happen.
type step struct {
	name string
	run  func(ctx context.Context) error
}

func (d *demo) steps() []step {
	return []step{
		{"A homeserver, a bridge and multis come up", d.start},
		{"New chats are silent: remembered, without a word", d.remember},
		{"You hand over a price list", d.index},
		{"You switch one chat to business", d.enableBusiness},
		{"A question is answered on the contact's side, with its source", d.answer},
		{"/why explains a reply and a silence", d.why},
		{"On drafts, nothing reaches a customer before your 👍", deskSteps{d}.draft},
		{"What no document answers is escalated, and your words in its thread go to the contact", deskSteps{d}.thread},
		{"A shadow answer is compared with yours, and cannot be sent", deskSteps{d}.shadow},
		{"A chat that is off leaves nothing", d.off},
		{"Killed in the middle of an answer, multis answers exactly once", d.kill},
		{"A reminder comes on time, though multis is killed before it is due", d.remind},
		{"What was said weeks ago in a silent chat is found, with a link, and forgotten", memorySteps{d}.recall},
		{"An encrypted chat is read and answered, and stays encrypted", d.encrypted},
		{"What you answered in the thread answers the next contact, with its source", deskSteps{d}.learn},
		{"A question with two answers is asked back once, and the reply picks one", deskSteps{d}.clarify},
		{"With a model, your question takes two tools, and its answer says what it cost", modelSteps{d}.askModel},
		{"A command runs after the PIN, in the sandbox, and a way out of it is refused", commandSteps{d}.runCommand},
		{"A draft waits on the web page, which opens by a link from your room and not without it", d.page},
		{"The audit log is as it was written", commandSteps{d}.audit},
		{"Nothing else went out, and the off chat is still nowhere", d.nothingElse},
	}
}

func (d *demo) remember(ctx context.Context) error {
	for _, line := range []struct{ contact, text string }{{ana, smallTalk}, {ben, lunch}} {
		said, err := d.contactSays(ctx, line.contact, line.text)
		if err != nil {
			return err
		}
		if err := d.awaitStored(ctx, said.Event, line.text); err != nil {
			return err
		}
	}
	if err := d.awaitIdle(ctx); err != nil {
		return err
	}
	delivered, err := d.rig.Delivered(ctx, "")
	if err != nil {
		return err
	}
	written, err := d.countStored(ctx)
	if err != nil {
		return err
	}
	if len(delivered)+written > 0 {
		return fmt.Errorf("%d messages written to contacts and %d delivered instead of none", written, len(delivered))
	}
	d.out.check("both messages are stored, nothing was written to anybody")
	return nil
}

func (d *demo) index(ctx context.Context) error {
	if _, err := d.sendFile(ctx, priceListName, priceList, "who may see it?"); err != nil {
		return err
	}
	if _, err := d.command(ctx, "1", "done"); err != nil {
		return err
	}
	var passages int
	if err := d.queryRow(ctx, "select chunks from documents where name = $1 and role = 'public'", []any{priceListName},
		&passages); err != nil {
		return err
	}
	d.out.check("%d public passages are stored", passages)
	return nil
}

func (d *demo) enableBusiness(ctx context.Context) error {
	_, err := d.command(ctx, "/mode business Ana", "is now business")
	return err
}

func (d *demo) answer(ctx context.Context) error {
	if _, err := d.contactSays(ctx, ana, firstQuestion); err != nil {
		return err
	}
	got, err := d.awaitDelivery(ctx, ana, 1)
	if err != nil {
		return err
	}
	return d.requireSource(ctx, got.EventID, got.Text, "45 €")
}

// requireSource checks that an answer contains a text, names its document, and cites only text from that document.
func (d *demo) requireSource(ctx context.Context, evt, body, wanted string) error {
	if !strings.Contains(body, wanted) || !strings.Contains(body, priceListTitle) {
		return fmt.Errorf("the answer does not hold both %q and its source %q", wanted, priceListTitle)
	}
	sources, err := d.sources(ctx, evt)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if !strings.Contains(text.CollapseSpaces(string(priceList)), text.CollapseSpaces(s.Quote)) {
			return fmt.Errorf("the source %q does not stand in %s", s.Quote, priceListName)
		}
		d.out.check("delivered, and it stands word for word in %s: “%s”", s.Name, text.CollapseSpaces(s.Quote))
	}
	return nil
}

func (d *demo) why(ctx context.Context) error {
	replied, err := d.command(ctx, "/why", "Why I answered")
	if err != nil {
		return err
	}
	if !strings.Contains(replied, firstQuestion) || !strings.Contains(replied, priceListName) {
		return errors.New("the explanation does not name the question and the source")
	}
	silent, err := d.command(ctx, "/why Ben", "Why I was silent")
	if err != nil {
		return err
	}
	if !strings.Contains(silent, lunch) || !strings.Contains(silent, "Nothing was sent") {
		return errors.New("the explanation does not name the message and that nothing was sent")
	}
	return nil
}

func (d *demo) off(ctx context.Context) error {
	if _, err := d.command(ctx, "/mode off Ben", "is now off"); err != nil {
		return err
	}
	said, err := d.contactSays(ctx, ben, secret)
	if err != nil {
		return err
	}
	// The answer to a later command shows that the message before it was processed.
	if _, err := d.command(ctx, "/status", "is up"); err != nil {
		return err
	}
	remembered, _, err := d.rowsWith(ctx, lunch)
	if err != nil {
		return err
	}
	if remembered == 0 {
		return errors.New("counting finds not even what was said before")
	}
	return d.requireNothingStored(ctx, said.Event, remembered)
}

// requireNothingStored checks that no table and no log has the text or the event id of a message in the chat that is off.
func (d *demo) requireNothingStored(ctx context.Context, evt id.EventID, before int) error {
	tables := 0
	for _, text := range []string{secret, string(evt)} {
		rows, all, err := d.rowsWith(ctx, text)
		if err != nil {
			return err
		}
		if rows > 0 {
			return fmt.Errorf("%d rows of the database hold %q", rows, text)
		}
		tables = all
	}
	logs, err := filepath.Glob(filepath.Join(d.dir, "multis-*.log"))
	if err != nil {
		return err
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		if strings.Contains(string(text), secret) {
			return fmt.Errorf("the log %s holds %q", log, secret)
		}
	}
	d.out.check("“%s”: 0 rows in %d tables, nothing in the logs (what Ben said before: %d)", secret, tables, before)
	return nil
}

func (d *demo) kill(ctx context.Context) error {
	said, err := d.contactSays(ctx, ana, secondQuestion)
	if err != nil {
		return err
	}
	stored := func(ctx context.Context) (ok bool, err error) {
		return ok, d.queryRow(ctx, "select exists (select from messages where event_id = $1 and answered_at is null)", []any{said.Event}, &ok)
	}
	if err := d.await(ctx, "the question to be stored", stored); err != nil {
		return err
	}
	if err := d.duringTurn(ctx, d.multis.Kill); err != nil {
		return err
	}
	const deliveredBefore = 3
	delivered, err := d.rig.Delivered(ctx, ana)
	if err != nil {
		return err
	}
	if open, err := stored(ctx); err != nil || !open || len(delivered) != deliveredBefore {
		return errors.Join(err, errors.New("the answer was out before multis was killed"))
	}
	d.out.check("multis was killed (SIGKILL) with the answer thought out and not yet written down; Ana has got nothing of it")
	if err := d.startMultis(ctx); err != nil {
		return err
	}
	d.out.check("multis is up again")
	got, err := d.awaitDelivery(ctx, ana, deliveredBefore+1)
	if err != nil {
		return err
	}
	if err := d.requireSource(ctx, got.EventID, got.Text, "10:00 to 14:00"); err != nil {
		return err
	}
	return d.awaitIdle(ctx)
}

// reminder is the text of the reminder that the owner sets.
const reminder = "call the plumber"

func (d *demo) remind(ctx context.Context) error {
	if _, err := d.command(ctx, "/remind 8s "+reminder, "Set."); err != nil {
		return err
	}
	if err := d.multis.Kill(); err != nil {
		return err
	}
	d.out.check("multis was killed (SIGKILL)")
	if err := d.startMultis(ctx); err != nil {
		return err
	}
	d.out.check("multis is up again")
	const cameSQL = "select count(*) from outbox o join schedule_executions r on r.outbox_id = o.id where o.event_id is not null and r.state = 'done'"
	came := 0
	err := d.await(ctx, "the reminder", func(ctx context.Context) (bool, error) {
		err := d.queryRow(ctx, cameSQL, nil, &came)
		return came > 0, err
	})
	if err != nil {
		return err
	}
	var heard []string
	err = d.await(ctx, "the reminder in the admin room", func(ctx context.Context) (bool, error) {
		timeline, err := d.rig.Timeline(ctx, d.admin)
		heard = nil
		for _, evt := range timeline {
			if evt.Type == event.EventMessage && evt.Sender == botID && strings.HasPrefix(evt.Content.AsMessage().Body, "⏰ "+reminder) {
				heard = append(heard, evt.Content.AsMessage().Body)
			}
		}
		return len(heard) > 0, err
	})
	if err != nil {
		return err
	}
	d.out.says("multis (admin room)", cyan, heard[0])
	if len(heard) != 1 {
		return fmt.Errorf("the reminder came %d times instead of once", len(heard))
	}
	d.out.check("it came once")
	return d.awaitIdle(ctx)
}

func (d *demo) nothingElse(ctx context.Context) error {
	delivered, err := d.rig.Delivered(ctx, "")
	if err != nil {
		return err
	}
	got, want := map[string]int{}, map[string]int{ana: 4, cleo: 1, finn: 4}
	if d.model != config.NoModel {
		want[finn] = 2 // with a model, clarify does nothing
	}
	for _, one := range delivered {
		got[one.Chat]++
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("messages were delivered as in %v instead of %v", got, want)
	}
	room, err := d.rig.PortalRoom(ctx, ben)
	if err != nil {
		return err
	}
	timeline, err := d.rig.Timeline(ctx, room)
	if err != nil {
		return err
	}
	var last id.EventID
	for _, evt := range timeline {
		if evt.Type != event.EventMessage {
			continue
		}
		if text := evt.Content.AsMessage().Body; text != lunch && text != secret {
			return fmt.Errorf("%s wrote “%s” into Ben's room", evt.Sender, text)
		}
		last = evt.ID
	}
	d.out.check("Ana got two answers, one word that a person answers, and that answer; Cleo one answer; Finn a draft that you approved, two answers, and a question back, and not the draft that waits; Ben and Emil nothing")
	remembered, _, err := d.rowsWith(ctx, lunch)
	if err != nil {
		return err
	}
	return d.requireNothingStored(ctx, last, remembered)
}
