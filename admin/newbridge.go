package admin

import (
	"context"
	"errors"
	"fmt"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// notifyNew asks the owner once whether a bot that claims rooms is a bridge of theirs.
func (br *bridges) notifyNew(ctx context.Context, bot int64) error {
	b, err := store.BridgeBotByID(ctx, br.store.DB(), bot)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || b.ConfirmedAt != nil || b.RefusedAt != nil {
		return err
	}
	return br.room.tellOwner(ctx, func(tx store.Tx, room store.Chat) error {
		_, err := br.room.say(ctx, tx, room, outbox.Ring, askNewBridge(b), confirmBridge{bridges: br, Bot: b.ID})
		return err
	})
}

func askNewBridge(b store.BridgeBot) string {
	return fmt.Sprintf("🌉 **Is %s your %s bridge?** It has brought me chats. Any user of your server could claim to be one: compare the name with the bot in your bridge's config. "+
		"Until you say so, its chats are silent: I remember them, and send nothing.\n1 it is my bridge (or 👍)\n2 it is not: its chats are closed (or 👎)\nReply with a number; later: %s.",
		esc(b.Bot.String()), esc(bridgebridge.NetworkName(b.Protocol)), code("/bridges accept "+b.Bot.String()))
}

// confirmBridge asks whether a bot is a bridge of the owner's.
type confirmBridge struct {
	bridges *bridges

	Bot int64
}

func (confirmBridge) kind() string    { return "new_bridge" }
func (confirmBridge) command() string { return "bridges" }

func (confirmBridge) takes(word string) bool { return word == wordYes || word == wordNo }

func (p confirmBridge) answer(ctx context.Context, _ request, c choice) (answer, bool, error) {
	b, err := store.BridgeBotByID(ctx, p.bridges.store.DB(), p.Bot)
	switch {
	case err != nil:
		return answer{}, false, err
	case c.word == wordYes, c.number == 1:
		return newBridgeDecided(b, true), true, nil
	case c.word == wordNo, c.number == 2:
		return newBridgeDecided(b, false), true, nil
	default:
		return answer{text: "1 or 2, please: yes or no."}, false, nil
	}
}

// newBridgeDecided stores the owner's word. With a yes, all rooms that nobody has described are looked at again.
func newBridgeDecided(b store.BridgeBot, confirmed bool) answer {
	bot := "**" + esc(b.Bot.String()) + "**"
	text := bot + " is your " + esc(bridgebridge.NetworkName(b.Protocol)) + " bridge. Its chats are as `/mode` says from now on."
	if !confirmed {
		text = bot + " is none of yours: its chats are closed, and nothing more of them is stored. " + code("/bridges accept "+b.Bot.String()) + " if you change your mind."
	}
	return answer{text: text, do: func(ctx context.Context, tx store.Tx) error {
		if err := store.DecideBridgeBot(ctx, tx, b.ID, confirmed); err != nil || !confirmed {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{})
	}}
}
