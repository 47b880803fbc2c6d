package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// followUpCommands says after how many days of silence a follow-up is drafted.
type followUpCommands struct {
	base
}

// commands returns the command about follow-ups.
func (fu *followUpCommands) commands() []command {
	return []command{{
		name: "followup", args: "[days, off or default] [chat]", group: groupCustomers, run: fu.run,
		onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
			return fu.set(pick.FollowUp, chat), nil
		},
		chatHint: func(pick chatPick) string {
			if pick.FollowUp == "" {
				return ""
			}
			return " to set it to **" + esc(pick.FollowUp) + "**"
		},
		summary: "draft one when a customer goes quiet",
		help: "`/followup 3 Ana`: when Ana does not answer for three days what I or a person said last, I draft a follow-up in Ana's language. It is a draft in every chat and is never sent without your 👍. " +
			"I draft it in opening hours, once in a silence, and only in business chats. `off` ends it, `default` leaves it to the labels and `business.follow_up_days`, and `/followup Ana` shows it.",
	}}
}

// defaultFollowUp is the argument of /followup by which the chat's labels and the configuration decide again.
const defaultFollowUp = "default"

// run shows or sets the follow-ups of a chat.
func (fu *followUpCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	first, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	pick := chatPick{FollowUp: strings.ToLower(first)}
	if days, err := strconv.Atoi(first); err == nil && (days < 1 || days > policy.MaxFollowUpDays) {
		return answer{text: fmt.Sprintf("Write a number of days from 1 to %d, or `off`: `/followup 3 Ana`.", policy.MaxFollowUpDays)}, nil
	} else if err != nil && pick.FollowUp != "off" && pick.FollowUp != defaultFollowUp {
		pick.FollowUp, name = "", args
	}
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "days "))
	if name == "" {
		return fu.chats.list(ctx, "", "followup", pick)
	}
	return fu.chats.withChat(ctx, name, "followup", pick)
}

// set sets the follow-ups of a chat, as the command says it. An empty text shows them.
func (fu *followUpCommands) set(how string, chat store.Chat) answer {
	var ans answer
	if how != "" {
		var days *int
		if how != defaultFollowUp {
			n, _ := strconv.Atoi(how) // "off" is zero
			days = &n
		}
		chat.FollowUpDays = days
		ans.change = func(ctx context.Context, tx store.Tx) error { return store.SetFollowUpDays(ctx, tx, chat.ID, days) }
	}
	name := "**" + esc(chat.Label()) + "**"
	days := chat.FollowUpAfter(fu.settings.Defaults)
	d := fu.settings.Defaults
	if days == 0 {
		ans.text = name + ": I draft no follow-up there."
		return ans
	}
	ans.text = fmt.Sprintf("%s: after %s without an answer I draft a follow-up, which waits for your 👍.", name, text.Count(days, "day"))
	switch {
	case chat.ModeIn(d) != policy.ModeBusiness:
		ans.text += fmt.Sprintf(" Only in business chats; this one is `%s`.", chat.ModeIn(d))
	case chat.DeliveryIn(d) == policy.DeliveryShadow:
		ans.text += " Not while it is on `shadow`."
	}
	return ans
}
