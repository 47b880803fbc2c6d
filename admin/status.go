package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// status says in a few lines how things are.
func (a *Admin) status(ctx context.Context, r request, _ string) (answer, error) {
	name, err := store.AssistantName(ctx, a.Store.DB(), a.Rules.Name)
	if err != nil {
		return answer{}, err
	}
	lines := []string{fmt.Sprintf("**%s is up** · multis %s", esc(name), esc(a.Rules.Version))}
	for _, part := range []func(context.Context, request) (string, error){
		a.pauseStatus, a.stallStatus, a.downStatus, a.chatStatus, a.lockedStatus, a.documentStatus, a.searchStatus, a.modelStatus, a.inventedStatus, a.waitingStatus, a.failedStatus,
	} {
		text, err := part(ctx, r)
		if err != nil {
			return answer{}, err
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	open, err := store.OpenEscalations(ctx, a.Store.DB())
	var about []int64
	for _, e := range open {
		about = append(about, e.RestsOn...)
	}
	return answer{text: strings.Join(lines, "\n"), about: about}, err
}

func (a *Admin) pauseStatus(ctx context.Context, _ request) (string, error) {
	var pause store.Pause
	paused, err := store.GetSetting(ctx, a.Store.DB(), store.SettingPause, &pause)
	if err != nil {
		return "", err
	}
	if paused {
		return "**Everything is paused** since " + a.moment(pause.Since) + ": `/resume` ends it.", nil
	}
	chats, err := a.pausedChats(ctx)
	if err != nil || len(chats) == 0 {
		return "", err
	}
	return "Paused: " + list(chats) + ".", nil
}

func (a *Admin) chatStatus(ctx context.Context, _ request) (string, error) {
	networks, modes, locked, err := a.census(ctx)
	if err != nil {
		return "", err
	}
	if networks == "" {
		return "No chats yet.", nil
	}
	text := networks + " · " + modes
	if locked > 0 {
		text += fmt.Sprintf(" · 🔒 %d cannot be read yet", locked)
	}
	return text, nil
}

// census counts the chats by network and by mode, and those that cannot be read or written.
func (a *Admin) census(ctx context.Context) (networks, modes string, locked int, err error) {
	counts, err := store.CountChats(ctx, a.Store.DB())
	if err != nil {
		return "", "", 0, err
	}
	var byNetwork []string
	for i, n := range counts {
		number := strconv.Itoa(n.Chats)
		if i == 0 {
			number = count(n.Chats, "chat")
		}
		byNetwork = append(byNetwork, number+" on "+esc(bridgebridge.NetworkName(n.Protocol)))
	}
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return "", "", 0, err
	}
	inMode := map[policy.Mode]int{}
	for _, c := range chats {
		if c.ClosedWhy != "" {
			continue
		}
		mode := c.ModeIn(a.Rules.Defaults)
		inMode[mode]++
		if mode != policy.ModeOff && (c.Unreadable > 0 || c.Encrypted == policy.EncryptionUnknown) {
			locked++
		}
	}
	var byMode []string
	for _, mode := range []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeOff} {
		if n := inMode[mode]; n > 0 {
			byMode = append(byMode, fmt.Sprintf("%d %s", n, mode))
		}
	}
	return list(byNetwork), strings.Join(byMode, ", "), locked, nil
}

func (a *Admin) documentStatus(ctx context.Context, r request) (string, error) {
	public, private, err := countDocuments(ctx, a.Store.DB(), r.scope())
	if err != nil {
		return "", err
	}
	if public+private == 0 {
		return "Documents: none yet. " + a.Rules.giveOne() + ".", nil
	}
	text := fmt.Sprintf("Documents: %d public", public)
	if private > 0 {
		text += fmt.Sprintf(", %d only yours", private)
	}
	return text, nil
}

// searchStatus says whether searches go by meaning, and if not, why. How much there is in all chats is the owner's to know.
func (a *Admin) searchStatus(ctx context.Context, r request) (string, error) {
	if a.Rules.Embeddings == "" || a.Rules.Embeddings == noModel {
		return "Search: by words (no model for `embeddings` is configured).", nil
	}
	has, err := store.HasVectors(ctx, a.Store.DB())
	if err != nil {
		return "", err
	}
	if !has {
		return "Search: by words only, because the database has no pgvector: `CREATE EXTENSION vector` there, as an administrator, then start me again.", nil
	}
	text := "Search: by words and meaning (" + esc(a.Rules.Embeddings)
	if r.byOwner() {
		n, err := store.CountVectors(ctx, a.Store.DB())
		if err != nil {
			return "", err
		}
		if n.With < n.All {
			text += fmt.Sprintf(", %d of %s so far", n.With, count(int(n.All), "passage"))
		}
	}
	return text + ").", nil
}

// inventedStatus says how often a model cited what stands nowhere.
func (a *Admin) inventedStatus(ctx context.Context, _ request) (string, error) {
	n, err := store.Invented(ctx, a.Store.DB())
	if err != nil || n == 0 {
		return "", err
	}
	return count(n, "citation") + " that the model made up so far, left out.", nil
}

func (a *Admin) modelStatus(ctx context.Context, _ request) (string, error) {
	usage, err := store.UsageOn(ctx, a.Store.DB(), a.Now().In(a.Rules.Zone).Format(time.DateOnly))
	if err != nil {
		return "", err
	}
	var spent int64
	calls := 0
	for _, u := range usage {
		spent += u.Amount
		calls += u.Calls
	}
	text := "Model: " + esc(a.Rules.Model)
	if calls > 0 {
		text += fmt.Sprintf(" · today %s of %s in %s", money(spent, a.Rules.Currency), money(a.Rules.DayBudget, a.Rules.Currency), count(calls, "call"))
	}
	return text, nil
}

// waitingStatus names the chats that need a person.
func (a *Admin) waitingStatus(ctx context.Context, _ request) (string, error) {
	open, err := store.OpenEscalations(ctx, a.Store.DB())
	if err != nil {
		return "", err
	}
	if len(open) == 0 {
		return "Nobody waits for you.", nil
	}
	lines := []string{"**" + count(len(open), "chat") + " " + plural(len(open), "waits", "wait") + " for you**"}
	for _, e := range open[:min(len(open), pageSize)] {
		chat, err := store.ChatByID(ctx, a.Store.DB(), e.ChatID)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s — since %s: %s", esc(label(chat)), a.moment(e.OpenedAt), esc(clip(e.Why, 100))))
	}
	if more := len(open) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

func (a *Admin) failedStatus(ctx context.Context, _ request) (string, error) {
	failed, err := store.CountFailed(ctx, a.Store.DB(), a.Now().Add(-24*time.Hour))
	if err != nil || failed == 0 {
		return "", err
	}
	return fmt.Sprintf("⚠️ %s did not arrive in the last 24 h: `/why` and the chat's name says why.", count(failed, "message")), nil
}

// name shows or changes what the assistant is called.
func (a *Admin) name(ctx context.Context, _ request, args string) (answer, error) {
	old, err := store.AssistantName(ctx, a.Store.DB(), a.Rules.Name)
	if err != nil {
		return answer{}, err
	}
	name := line(args)
	switch {
	case name == "":
		return answer{text: "I am called **" + esc(old) + "**. `/name` and another word changes that."}, nil
	case !isName(name):
		return answer{text: "A name has 2 to 100 letters, with blanks, dashes, dots or digits between them: `/name Nora`."}, nil
	case name == old:
		return answer{text: "I am called **" + esc(old) + "** already."}, nil
	}
	return answer{
		text: fmt.Sprintf("I am **%s** from now on: I answer to it, and my answers are marked %s.", esc(name), esc("["+name+"]")),
		do: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingName, name)
		},
	}, nil
}

// isName tells whether people can call the assistant so, and whether it can stand in "[Nora] ...".
func isName(name string) bool {
	n := utf8.RuneCountInString(name)
	first, _ := utf8.DecodeRuneInString(name)
	return n >= 2 && n <= 100 && unicode.IsLetter(first) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -.'’", r)
	})
}
