package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/policy"
	"multis/store"
)

func TestWhy_NamesWhoAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now, r.answerers = time.Now(), []id.UserID{operator}
	r.restart()
	ana := r.chat("Ana", "whatsapp")
	var asked store.Message
	r.tx(func(tx store.Tx) error {
		row, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID:  ana.ID,
			EventID: r.event(),
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    "It is broken",
			At:      r.now,
			Action:  policy.ActionEscalate,
			Code:    policy.CodeWantsHuman,
		})
		if err != nil {
			return err
		}
		asked, err = store.MessageByID(r.ctx, tx, row)
		return err
	})
	people := desk.New(desk.Options{Store: r.st, Box: r.box, Owner: owner, Operators: []id.UserID{operator}})
	r.tx(func(tx store.Tx) error {
		_, err := people.Open(r.ctx, tx, desk.Case{Chat: ana, Messages: []store.Message{asked}, Reason: "It asks for a person."})
		return err
	})
	card := r.sendQueued()[0].Event
	require.Contains(t, r.asOperator("/escalations"), "Ana · WhatsApp — **waits**")
	until := r.now.Add(time.Hour)
	r.tx(func(tx store.Tx) error { return store.PauseChat(r.ctx, tx, ana.ID, &until) })
	require.Contains(t, r.asOperator("/escalations"), "unclaimed · ⏸ paused")
	r.tx(func(tx store.Tx) error { return store.PauseChat(r.ctx, tx, ana.ID, nil) })
	sent := r.handle(store.Message{Body: "Sorry, send a photo", Thread: card, Author: policy.AuthorOperator, Sender: operator})
	require.Contains(t, bodies(sent), "Sorry, send a photo")
	why := r.asOwner("/why Ana")
	require.Contains(t, why, "taken by eva")
	require.Contains(t, why, "Sorry, send a photo")
	require.Contains(t, why, "eva, ")
}
