package main

import (
	"context"
	"fmt"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
)

// The contacts, by their ids on the network.
const (
	ana  = "ana"
	ben  = "ben"
	cleo = "cleo" // her chat is encrypted
	dora = "dora" // she wrote three weeks ago
	emil = "emil" // his chat has shadow answers
	finn = "finn" // he asks the question that Ana asked before
)

// botID is the bot of multis in the admin room.
const botID id.UserID = "@multis:" + devstack.Domain

func capitalized(contact string) string { return strings.ToUpper(contact[:1]) + contact[1:] }

func nameOf(contact string) string { return capitalized(contact) + " (network)" }

// contactSays sends a message as a contact.
func (d *demo) contactSays(ctx context.Context, contact, text string) (demonet.Said, error) {
	d.out.says(nameOf(contact), yellow, text)
	said, err := d.rig.Say(ctx, contact, text)
	if err != nil {
		return said, fmt.Errorf("%s cannot write: %w", nameOf(contact), err)
	}
	return said, nil
}

// awaitDelivery waits until exactly n messages were delivered to a contact, and shows the last one.
func (d *demo) awaitDelivery(ctx context.Context, contact string, n int) (demonet.Delivery, error) {
	var delivered []demonet.Delivery
	err := d.await(ctx, "an answer on the side of "+nameOf(contact), func(ctx context.Context) (_ bool, err error) {
		delivered, err = d.rig.Delivered(ctx, contact)
		return len(delivered) >= n, err
	})
	if err != nil {
		return demonet.Delivery{}, err
	}
	last := delivered[len(delivered)-1]
	d.out.says("to "+nameOf(contact), green, last.Text)
	if len(delivered) > n {
		return last, fmt.Errorf("%s got %d messages instead of %d", nameOf(contact), len(delivered), n)
	}
	return last, nil
}

// command sends a command in the admin room as the owner and waits for an answer that contains the wanted words.
func (d *demo) command(ctx context.Context, text, wanted string) (string, error) {
	d.out.says("you (admin room)", cyan, text)
	sent, err := d.rig.Owner.SendText(ctx, d.admin, text)
	if err != nil {
		return "", fmt.Errorf("write into the admin room: %w", err)
	}
	return d.awaitReply(ctx, sent.EventID, wanted)
}

// sendFile sends a Markdown file into the admin room and waits for the answer.
func (d *demo) sendFile(ctx context.Context, name string, data []byte, wanted string) (string, error) {
	d.out.says("you (admin room)", cyan, "📎 "+name)
	uploaded, err := d.rig.Owner.UploadBytesWithName(ctx, data, "text/markdown", name)
	if err != nil {
		return "", fmt.Errorf("upload %s: %w", name, err)
	}
	sent, err := d.rig.Owner.SendMessageEvent(ctx, d.admin, event.EventMessage, &event.MessageEventContent{
		MsgType: event.MsgFile, Body: name, FileName: name, URL: uploaded.ContentURI.CUString(),
		Info: &event.FileInfo{MimeType: "text/markdown", Size: len(data)},
	})
	if err != nil {
		return "", fmt.Errorf("send %s: %w", name, err)
	}
	return d.awaitReply(ctx, sent.EventID, wanted)
}

// isReply reports whether a message answers; see awaitReply.
func isReply(message *event.MessageEventContent, wanted string) bool {
	isEnd := message.RelatesTo.GetReplaceID() != "" && !strings.Contains(message.Body, wanted)
	isDeleted := message.Body == ""
	return !isEnd && !isDeleted && !strings.Contains(message.Body, learnQuestion)
}

// awaitReply waits for the first message of multis in the admin room after an event (empty: from the start), checks that
// it contains the wanted words, and shows it. It skips the question whether to learn an answer, because that may come at
// any time, deleted messages, and edits by which cards end. It returns the plain text and the formatted one, which has the
// links.
func (d *demo) awaitReply(ctx context.Context, after id.EventID, wanted string) (string, error) {
	var body, formatted string
	err := d.await(ctx, "multis' answer in the admin room", func(ctx context.Context) (bool, error) {
		timeline, err := d.rig.Timeline(ctx, d.admin)
		passed := after == ""
		for _, evt := range timeline {
			if passed && evt.Type == event.EventMessage && evt.Sender == botID && isReply(evt.Content.AsMessage(), wanted) {
				body = evt.Content.AsMessage().Body
				formatted = evt.Content.AsMessage().FormattedBody
				return true, nil
			}
			passed = passed || evt.ID == after
		}
		return false, err
	})
	if err != nil {
		return "", err
	}
	d.out.says("multis (admin room)", cyan, body)
	if !strings.Contains(body, wanted) {
		return body, fmt.Errorf("multis' answer does not say %q", wanted)
	}
	return body + "\n" + formatted, nil
}
