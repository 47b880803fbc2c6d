package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
)

const (
	demoPIN  = "804639"
	harmful  = "/exec touch made-by-multis.md"
	escape   = "/exec cat /proc/self/environ"
	execDone = "✅ touch made-by-multis.md · done"
)

// commandSteps are the steps of a command with a PIN, and of the audit log.
type commandSteps struct{ *demo }

// runCommand runs a command after the PIN, and then a command that tries to escape from the sandbox.
func (d commandSteps) runCommand(ctx context.Context) error {
	data, err := rig.ExecFolder()
	if err != nil {
		return err
	}
	d.settings.ExecIn = data
	model := d.settings.Model
	if err := d.restart(ctx, model); err != nil {
		return err
	}
	off, err := d.command(ctx, harmful, "")
	if err != nil {
		return err
	}
	if strings.Contains(off, "That is off") {
		d.out.check("the sandbox does not hold on this kernel (multis doctor says why), so that no command is run")
		return nil
	}
	if _, err := d.command(ctx, "/pin set", "The new PIN"); err != nil {
		return err
	}
	for _, want := range []string{"Once more", "The PIN is set"} {
		if err := d.enterPIN(ctx, want); err != nil {
			return err
		}
	}
	if _, err := d.command(ctx, harmful, "Your PIN, please"); err != nil {
		return err
	}
	if err := d.enterPIN(ctx, execDone); err != nil {
		return err
	}
	d.out.check("it ran after the PIN, in the sandbox; the messages with the PIN are gone from the room")
	if _, err := d.command(ctx, escape, "Not run"); err != nil {
		return err
	}
	steal := "/exec cat " + d.multis.Config
	d.out.says("you (admin room)", cyan, steal)
	sent, err := d.rig.Owner.SendText(ctx, d.admin, steal)
	if err != nil {
		return fmt.Errorf("write into the admin room: %w", err)
	}
	if err := d.awaitReplyWith(ctx, sent.EventID, "exit status 1"); err != nil {
		return err
	}
	d.out.check("one command is never run; the other ran, and the sandbox did not let it read multis' configuration")
	return d.awaitIdle(ctx)
}

// enterPIN sends the PIN, and waits for multis' reply to it and for the deletion of the message.
func (d commandSteps) enterPIN(ctx context.Context, want string) error {
	d.out.says("you (admin room)", cyan, "•••••• (the PIN)")
	sent, err := d.rig.Owner.SendText(ctx, d.admin, demoPIN)
	if err != nil {
		return fmt.Errorf("write into the admin room: %w", err)
	}
	if err := d.awaitReplyWith(ctx, sent.EventID, want); err != nil {
		return err
	}
	return d.await(ctx, "the message with the PIN to be deleted", func(ctx context.Context) (bool, error) {
		return d.isDeleted(ctx, sent.EventID)
	})
}

// awaitReplyWith waits until multis writes a message with the wanted words in the admin room, after an event.
func (d commandSteps) awaitReplyWith(ctx context.Context, after id.EventID, want string) error {
	var heard string
	err := d.await(ctx, "multis' answer in the admin room", func(ctx context.Context) (bool, error) {
		timeline, err := d.rig.Timeline(ctx, d.admin)
		if err != nil {
			return false, err
		}
		at := slices.IndexFunc(timeline, func(evt *event.Event) bool { return evt.ID == after })
		for _, evt := range timeline[max(at, 0):] {
			if evt.Type != event.EventMessage || evt.Sender != botID {
				continue
			}
			if body := evt.Content.AsMessage().Body; strings.Contains(body, want) {
				heard = strings.TrimPrefix(body, "* ")
			}
		}
		return at >= 0 && heard != "", nil
	})
	if err == nil {
		d.out.says("multis (admin room)", cyan, heard)
	}
	return err
}

func (d *demo) isDeleted(ctx context.Context, evt id.EventID) (bool, error) {
	got, err := d.rig.Owner.GetEvent(ctx, d.admin, evt)
	if err != nil {
		return false, err
	}
	return got.Unsigned.RedactedBecause != nil, nil
}

// audit verifies the audit log with the command line, while multis runs.
func (d commandSteps) audit(ctx context.Context) error {
	text, err := d.settings.yaml()
	if err != nil {
		return err
	}
	said, err := d.rig.RunMultis(ctx, text, "", "audit", "verify")
	if err != nil {
		return fmt.Errorf("multis audit verify: %w: %s", err, said)
	}
	if !strings.Contains(said, "entries") {
		return errors.New("multis audit verify says no number: " + said)
	}
	d.out.check("multis audit verify: %s", strings.TrimSpace(said))
	return nil
}
