package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

// The old message of Dora, and the owner's question about it.
const (
	fence         = "The new fence will be 480 euros, Ivo can build it before the first frost."
	fenceQuestion = "What did Dora say the fence will cost?"
)

// memorySteps are the steps of what is remembered and forgotten.
type memorySteps struct{ *demo }

// recall asks about a message that was sent three weeks ago in a silent chat, and then deletes that message with /forget.
func (d memorySteps) recall(ctx context.Context) error {
	evt, err := d.addOldMessage(ctx)
	if err != nil {
		return err
	}
	answer, err := d.command(ctx, fenceQuestion, "480 euros")
	if err != nil {
		return err
	}
	if !strings.Contains(answer, "Dora") || !strings.Contains(answer, evt.String()) {
		return errors.New("the answer does not name who said it, with a link to the message")
	}
	d.out.check("the link leads to Dora's message of three weeks ago; her chat is silent as before")
	if _, err := d.command(ctx, "/forget fence", "Forget what I hold about"); err != nil {
		return err
	}
	if _, err := d.command(ctx, "yes", "Forgetting"); err != nil {
		return err
	}
	if err := d.await(ctx, "the forgetting", func(ctx context.Context) (done bool, err error) {
		return done, d.queryRow(ctx, "select exists (select from forgettings where done_at is not null)", nil, &done)
	}); err != nil {
		return err
	}
	rows, tables, err := d.rowsWith(ctx, fence)
	if err != nil {
		return err
	}
	if rows > 0 {
		return fmt.Errorf("%d rows of the database still hold “%s”", rows, fence)
	}
	d.out.check("“%s”: 0 rows in %d tables", fence, tables)
	// Wait for the report of /forget first, so that it is not mistaken for the answer.
	if err := d.awaitIdle(ctx); err != nil {
		return err
	}
	again, err := d.command(ctx, fenceQuestion, "")
	if err != nil {
		return err
	}
	if strings.Contains(again, "480") {
		return errors.New("what was forgotten is still known")
	}
	return d.awaitIdle(ctx)
}

// addOldMessage makes the bridge backfill a chat from three weeks ago, as after a login, and returns the event of Dora's message.
func (d memorySteps) addOldMessage(ctx context.Context) (evt id.EventID, err error) {
	then := time.Now().AddDate(0, 0, -21)
	lines := []demonet.Line{
		{Text: "Hi, it's Dora. I asked about your garden.", Time: then},
		{Text: fence, Time: then.Add(time.Minute)},
		{Text: "Let me think about it.", Time: then.Add(time.Hour), OnPhone: true},
	}
	for _, line := range lines[:2] {
		d.out.says(nameOf(dora)+", three weeks ago", yellow, line.Text)
	}
	if err := d.rig.Network.Backfill(ctx, dora, lines); err != nil {
		return "", fmt.Errorf("bring Dora's chat: %w", err)
	}
	const foundSQL = "select coalesce((select event_id from messages where body = $1 and not unindexed), '')"
	err = d.await(ctx, "the history to be searchable", func(ctx context.Context) (bool, error) {
		err := d.queryRow(ctx, foundSQL, []any{fence}, &evt)
		return evt != "", err
	})
	return evt, err
}
