package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// bridgeCommands lists the bridges, and asks the owner to confirm or refuse bots that bring or claim chats.
type bridgeCommands struct {
	base
}

// commands returns the commands about bridges.
func (br *bridgeCommands) commands() []command {
	return []command{
		{
			name: "bridges", args: "[accept or refuse BOT]", group: groupHealth, run: br.list,
			summary: "confirm your bridges",
			alone:   true,
			help: "A chat belongs to the bot that brought it. When another bot claims it, because you set the bridge up again or because somebody pretends, I ask you first. " +
				"`/bridges accept @bot:server` gives it the chats it claims, `/bridges refuse @bot:server` leaves them where they are.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (br *bridgeCommands) questions() []func() question {
	return []func() question{
		func() question { return &confirmBridge{bridges: br} },
		func() question { return &confirmClaim{bridges: br} },
	}
}

// list shows the bridges, and asks about a bot that waits for the owner's decision.
func (br *bridgeCommands) list(ctx context.Context, _ request, args string) (answer, error) {
	changes, err := store.UnacceptedBridgeChanges(ctx, br.store.DB())
	if err != nil {
		return answer{}, err
	}
	unconfirmed, err := store.UnconfirmedBots(ctx, br.store.DB())
	if err != nil {
		return answer{}, err
	}
	if fields := strings.Fields(args); len(fields) > 0 {
		return br.decide(changes, unconfirmed, strings.ToLower(fields[0]), strings.Join(fields[1:], " ")), nil
	}
	bridges, err := store.Bridges(ctx, br.store.DB())
	if err != nil {
		return answer{}, err
	}
	if len(bridges) == 0 {
		return answer{text: "No bridge has brought a chat yet."}, nil
	}
	lines := []string{"**Bridges**"}
	for _, b := range bridges {
		line := fmt.Sprintf("%s — %s, by %s", esc(bridgebridge.NetworkName(b.Protocol)), text.Count(b.Chats, "chat"), esc(b.Bot.String()))
		if slices.ContainsFunc(unconfirmed, func(u store.BridgeBot) bool { return u.Bot == b.Bot }) {
			line += " — **not confirmed**, its chats are silent"
		}
		lines = append(lines, line)
	}
	if len(unconfirmed) > 0 && unconfirmed[0].RefusedAt == nil {
		lines = append(lines, "", newBridgeQuestion(unconfirmed[0]))
		return answer{text: strings.Join(lines, "\n"), question: confirmBridge{bridges: br, Bot: unconfirmed[0].ID, Requested: true}}, nil
	}
	if len(changes) == 0 {
		return answer{text: strings.Join(lines, "\n")}, nil
	}
	lines = append(lines, "", claimQuestion(changes[0]))
	return answer{text: strings.Join(lines, "\n"), question: confirmClaim{bridges: br, Change: changes[0].ID}}, nil
}

// decide carries out "accept @bot" and "refuse @bot", for a new bot and for one that claims the chats of another.
func (br *bridgeCommands) decide(changes []store.BridgeChange, unconfirmed []store.BridgeBot, word, bot string) answer {
	if word == "confirm" {
		word = "accept"
	}
	if word != "accept" && word != "refuse" {
		return answer{text: "Try `/bridges`, `/bridges accept @bot:server`, `/bridges refuse @bot:server`."}
	}
	for _, b := range unconfirmed {
		if b.Bot.String() == bot || (bot == "" && len(unconfirmed) == 1 && len(changes) == 0) {
			return decideBridge(b, word == "accept")
		}
	}
	changes = slices.DeleteFunc(slices.Clone(changes), func(c store.BridgeChange) bool { return bot != "" && c.NewBot.String() != bot })
	switch {
	case len(changes) == 0:
		return answer{text: "No bot of that name waits for your decision. `/bridges` lists what there is."}
	case len(changes) > 1:
		return answer{text: "Which one? `/bridges " + word + "` and the bot's whole name."}
	default:
		return decideClaim(changes[0], word == "accept")
	}
}

// notifyClaim tells the owner that a bot claims the chats of another one.
func (br *bridgeCommands) notifyClaim(ctx context.Context, change int64) error {
	c, err := store.BridgeChangeByID(ctx, br.store.DB(), change)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if c.DecidedAt != nil {
		return nil
	}
	// The notice is no question: a typed number could be meant as the answer to another question.
	return br.room.completeWithNotice(ctx, outbox.Alert,
		claimText(c)+fmt.Sprintf("If it is your bridge, set up again: %s. If not, there is nothing to do.",
			code("/bridges accept "+c.NewBot.String())))
}

// claimText says which chats a bot claims, and what to check first.
func claimText(c store.BridgeChange) string {
	return fmt.Sprintf("⚠️ **Another bot claims %[1]s chats.** %[2]s says that chats of %[3]s (%[4]s) are its own now. "+
		"Any user of your server could say so: compare the name with the bot in your bridge's config. Until you accept it, nothing is read or sent in its rooms.\n",
		esc(bridgebridge.NetworkName(c.Protocol)), esc(c.NewBot.String()), esc(c.OldBot.String()), text.Count(c.Chats, "chat"))
}

// claimQuestion asks the owner about a claim.
func claimQuestion(c store.BridgeChange) string {
	return claimText(c) +
		"1 it is my bridge: it gets the chats it claims, with mode and memory\n2 it is not: everything stays as it is\nReply with a number."
}

// confirmClaim asks whether a bot may take over the chats of another one.
type confirmClaim struct {
	yesOrNo

	bridges *bridgeCommands

	Change int64
}

func (confirmClaim) traits() traits {
	return traits{kind: "bridge", command: "bridges"}
}

func (p confirmClaim) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	if r.message.Kind == string(bridgebridge.Reaction) {
		return answer{text: "Please type the number: who keeps your chats is not decided by a reaction, which travels in plain text."}, false, nil
	}
	change, err := store.BridgeChangeByID(ctx, p.bridges.store.DB(), p.Change)
	switch {
	case err != nil:
		return answer{}, false, err
	case c.word == wordYes, c.number == 1:
		return decideClaim(change, true), true, nil
	case c.word == wordNo, c.number == 2:
		return decideClaim(change, false), true, nil
	default:
		return answer{text: "1 or 2, please: yes or no."}, false, nil
	}
}

// decideClaim stores the owner's decision about a claim. If it is accepted, all undescribed rooms are read again.
func decideClaim(c store.BridgeChange, accepted bool) answer {
	bot := "**" + esc(c.NewBot.String()) + "**"
	if !accepted {
		return answer{
			text:   bot + " gets nothing: its rooms stay unread, and all chats stay where they are. `/bridges` if you change your mind.",
			reason: "The owner refused another bot.",
			change: func(ctx context.Context, tx store.Tx) error { return store.DecideBridgeChange(ctx, tx, c.ID, false) },
		}
	}
	return answer{
		text: bot + " is your " + esc(bridgebridge.NetworkName(c.Protocol)) +
			" bridge from now on. The chats it claims move to it and keep their mode and memory; " +
			"what was said there in the meantime is read, and nothing of it is answered.",
		change: func(ctx context.Context, tx store.Tx) error {
			if err := store.DecideBridgeChange(ctx, tx, c.ID, true); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{})
		},
	}
}

// notifyNew asks the owner once whether a bot that brings rooms is one of the owner's bridges.
func (br *bridgeCommands) notifyNew(ctx context.Context, bot int64) error {
	b, err := store.BridgeBotByID(ctx, br.store.DB(), bot)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if b.ConfirmedAt != nil || b.RefusedAt != nil {
		return nil
	}
	return br.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		_, err := br.room.notify(ctx, tx, room, outbox.Alert, newBridgeQuestion(b), confirmBridge{bridges: br, Bot: b.ID})
		return err
	})
}

// newBridgeQuestion asks the owner about a new bot.
func newBridgeQuestion(b store.BridgeBot) string {
	return fmt.Sprintf("🌉 **Is %s your %s bridge?** It has brought me chats. Any user of your server could claim to be one: compare the name with the bot in your bridge's config. "+
		"Until you say so, its chats are silent: I remember them, and send nothing.\n1 it is my bridge (or 👍)\n2 it is not: its chats are closed (or 👎)\nReply with a number; later: %s.",
		esc(b.Bot.String()), esc(bridgebridge.NetworkName(b.Protocol)), code("/bridges accept "+b.Bot.String()))
}

// confirmBridge asks whether a bot is one of the owner's bridges.
type confirmBridge struct {
	yesOrNo

	bridges *bridgeCommands

	Bot       int64
	Requested bool // by /bridges
}

func (p confirmBridge) traits() traits {
	return traits{
		kind:        "new_bridge",
		command:     "bridges",
		unrequested: !p.Requested,
	}
}

func (p confirmBridge) answer(ctx context.Context, _ request, c choice) (_ answer, done bool, err error) {
	b, err := store.BridgeBotByID(ctx, p.bridges.store.DB(), p.Bot)
	switch {
	case err != nil:
		return answer{}, false, err
	case c.word == wordYes, c.number == 1:
		return decideBridge(b, true), true, nil
	case c.word == wordNo, c.number == 2:
		return decideBridge(b, false), true, nil
	default:
		return answer{text: "1 or 2, please: yes or no."}, false, nil
	}
}

// decideBridge stores whether a bot is one of the owner's bridges. If it is, all undescribed rooms are read again.
func decideBridge(b store.BridgeBot, confirmed bool) answer {
	bot := "**" + esc(b.Bot.String()) + "**"
	text := bot + " is your " + esc(bridgebridge.NetworkName(b.Protocol)) + " bridge. Its chats are as `/mode` says from now on."
	if !confirmed {
		text = bot + " is none of yours: its chats are closed, and nothing more of them is stored. " + code("/bridges accept "+b.Bot.String()) +
			" if you change your mind."
	}
	return answer{text: text, change: func(ctx context.Context, tx store.Tx) error {
		err := store.DecideBridgeBot(ctx, tx, b.ID, confirmed)
		if err != nil {
			return err
		}
		if !confirmed {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{})
	}}
}
