package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// labelCommands adds labels to chats and removes them. Chats with the same label share settings.
type labelCommands struct {
	base
}

// commands returns the commands about labels.
func (lb *labelCommands) commands() []command {
	return []command{{
		name: "label", args: "[remove] [chat] [label]", group: groupChats, run: lb.run,
		onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
			return lb.set(pick.Label, chat)
		},
		chatHint: func(pick chatPick) string {
			if word, isRemoval := strings.CutPrefix(pick.Label, removePrefix); isRemoval {
				return " to take **" + esc(word) + "** from it"
			}
			return " to give it **" + esc(pick.Label) + "**"
		},
		summary: "shared settings for several chats",
		help: "`/label Ana wholesale` gives a label, `/label remove Ana wholesale` takes it, `/label Ana` shows what Ana has, and `/label` lists all of them. " +
			"The configuration says which settings a label stands for (chats.labels): mode, delivery, opening hours. What you set for one chat counts before its labels. " +
			"Rules there give labels automatically; what you take from a chat, they do not give again.",
	}}
}

// removePrefix before the Label of a chatPick means that the label is removed from the chat. No label's name begins with it.
const removePrefix = "-"

// run lists the labels, shows those of a chat, or adds or removes one.
func (lb *labelCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	words := strings.Fields(args)
	prefix := ""
	if len(words) > 1 && slices.Contains([]string{"remove", "delete"}, strings.ToLower(words[0])) {
		prefix, words = removePrefix, words[1:]
	}
	if len(words) == 0 {
		return lb.list(ctx)
	}
	name := strings.Join(words, " ")
	chats, err := store.ListChats(ctx, lb.store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	if found, sure := matchChats(chats, name); prefix == "" && (len(words) == 1 || (sure && len(found) == 1)) {
		return lb.chats.withChat(ctx, name, "label", chatPick{})
	}
	label, rest := strings.ToLower(words[len(words)-1]), words[:len(words)-1]
	switch {
	case hasMoreThanName(chats, rest):
		return answer{text: "I know no chat called " + quote(strings.Join(rest, " "), 60) + ". A label is one word, such as " +
			code("two-words") + "."}, nil
	case len(words) == 1:
		return answer{text: "Which label? Write " + code("/label remove "+name+" wholesale") + "."}, nil
	case !policy.IsLabelName(label):
		return answer{text: quote(label, 60) + " is no name of a label. It is one word of up to 40 letters, digits, hyphens and underscores."},
			nil
	}
	return lb.chats.withChat(ctx, strings.Join(rest, " "), "label", chatPick{Label: prefix + label})
}

// maxNameWords is how many words the name of a chat is assumed to have at most, so that a long text is not compared word by word.
const maxNameWords = 50

// hasMoreThanName reports whether the first words name a chat and all of them name none. Then the owner probably typed a
// label of several words.
func hasMoreThanName(chats []store.Chat, words []string) bool {
	for n := min(len(words), maxNameWords); n > 0; n-- {
		if found, _ := matchChats(chats, strings.Join(words[:n], " ")); len(found) > 0 {
			return n < len(words)
		}
	}
	return false
}

// list shows all labels, with their settings and how many chats have them.
func (lb *labelCommands) list(ctx context.Context) (answer, error) {
	chats, err := store.ListChats(ctx, lb.store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	var names []string
	for _, l := range lb.settings.Defaults.Labels {
		names = append(names, l.Name)
	}
	count := map[string]int{}
	for _, c := range chats {
		for _, name := range c.LabelNames(lb.settings.Defaults) {
			if count[name]++; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return answer{text: "There are no labels yet. `/label Ana wholesale` gives one; `chats.labels` in the configuration says what it stands for."}, nil
	}
	lines := []string{"**" + text.Count(len(names), "label") + "**, the first counts where several of a chat differ."}
	for _, name := range names[:min(len(names), maxListedLabels)] {
		lines = append(lines, fmt.Sprintf("%s: %s · %s", code(name), text.Count(count[name], "chat"), lb.settingsText(name)))
	}
	if more := len(names) - maxListedLabels; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// maxListedLabels is how many labels are listed.
const maxListedLabels = 2 * policy.MaxLabels

// settingsText lists the settings that a label has.
func (lb *labelCommands) settingsText(name string) string {
	i := slices.IndexFunc(lb.settings.Defaults.Labels, func(l policy.Label) bool { return l.Name == name })
	if i < 0 {
		return "no settings"
	}
	l := lb.settings.Defaults.Labels[i]
	var parts []string
	if l.Mode != "" {
		parts = append(parts, "mode "+string(l.Mode))
	}
	if l.Delivery != "" {
		parts = append(parts, "delivery "+string(l.Delivery))
	}
	switch days := l.FollowUpDays; {
	case days != nil && *days > 0:
		parts = append(parts, "follow-up after "+text.Count(*days, "day"))
	case days != nil:
		parts = append(parts, "no follow-ups")
	}
	switch ask := l.AskRating; {
	case ask != nil && *ask:
		parts = append(parts, "asks for a rating")
	case ask != nil:
		parts = append(parts, "asks for no rating")
	}
	if lb.settings.LabelHours[name] {
		parts = append(parts, "opening hours of its own")
	}
	if len(parts) == 0 {
		parts = append(parts, "no settings")
	}
	if l.HasRule() {
		parts = append(parts, "also given by a rule")
	}
	return strings.Join(parts, ", ")
}

// set adds a label to a chat or removes it. The empty label shows the chat's labels.
func (lb *labelCommands) set(label string, chat store.Chat) (answer, error) {
	name := "**" + esc(chat.Label()) + "**"
	has := chat.LabelNames(lb.settings.Defaults)
	word, isRemoval := strings.CutPrefix(label, removePrefix)
	switch {
	case label == "" && len(has) == 0:
		return answer{text: name + " has no label. " + code("/label "+chat.TypedName()+" wholesale") + " gives one."}, nil
	case label == "":
		return answer{text: name + " has " + text.List(codeSpans(has)) + lb.effect(chat)}, nil
	case isRemoval && !slices.Contains(has, word):
		return answer{text: name + " does not have " + code(word) + "."}, nil
	case !isRemoval && slices.Contains(has, word):
		return answer{text: name + " has " + code(word) + " already" + lb.effect(chat)}, nil
	case !isRemoval && len(chat.Labels) >= policy.MaxLabels, isRemoval && len(chat.Unlabelled) >= policy.MaxLabels:
		return answer{text: fmt.Sprintf("%s has %d labels, which is the most.", name, policy.MaxLabels)}, nil
	}
	after, change := chat, func(ctx context.Context, tx store.Tx) error { return store.AddLabels(ctx, tx, chat.ID, word) }
	reply := name + " has " + code(word) + " now"
	if isRemoval {
		forGood := lb.isRule(word)
		after.Labels = slices.DeleteFunc(slices.Clone(chat.Labels), func(l string) bool { return l == word })
		after.Unlabelled = append(slices.Clone(chat.Unlabelled), word)
		change = func(ctx context.Context, tx store.Tx) error {
			return store.RemoveLabel(ctx, tx, chat.ID, word, forGood)
		}
		reply = name + " has " + code(word) + " no longer"
	} else {
		after.Labels = append(slices.Clone(chat.Labels), word)
		after.Unlabelled = slices.DeleteFunc(slices.Clone(chat.Unlabelled), func(l string) bool { return l == word })
	}
	ans := answer{text: reply + lb.effect(after), change: func(ctx context.Context, tx store.Tx) error {
		if err := change(ctx, tx); err != nil {
			return err
		}
		return jobs.EnqueueForChanges(ctx, tx, chat.ID)
	}}
	if after.IsOff(lb.settings.Defaults) && !chat.IsOff(lb.settings.Defaults) {
		ans.pin = &pinNeed{pin.ActionModeOff, fmt.Sprintf("mode off for %s (%d)", chat.Label(), chat.ID)}
	}
	return ans, nil
}

// isRule reports whether a label is given by rules.
func (lb *labelCommands) isRule(name string) bool {
	return slices.ContainsFunc(lb.settings.Defaults.Labels, func(l policy.Label) bool { return l.Name == name && l.HasRule() })
}

// effect says which mode and delivery are in force in a chat, as the end of a sentence.
func (lb *labelCommands) effect(chat store.Chat) string {
	d := lb.settings.Defaults
	mode := chat.ModeIn(d)
	if !mode.Answers() {
		return fmt.Sprintf(". The chat is `%s`.", mode)
	}
	return fmt.Sprintf(". The chat is `%s`, on `%s`.", mode, chat.DeliveryIn(d))
}

// codeSpans formats texts as code.
func codeSpans(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = code(s)
	}
	return out
}
