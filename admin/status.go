package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"multis/internal/text"
	"multis/ops/health"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// statusCommands shows the state of multis, and its name.
type statusCommands struct {
	base

	bridges  *bridgeCommands
	stalls   *stallNotices
	restores *restoreCommands // says what a restored backup holds back
	safeMode *safeModeCommands
	doctors  *doctorCommands
	monitors *monitorCommands
	pins     *pinCommands
	health   Health
}

// Health checks the work of multis.
type Health interface {
	Report(ctx context.Context) health.Report
}

// commands returns the commands about multis itself.
func (st *statusCommands) commands() []command {
	return []command{
		{
			name: "name", args: "[new]", group: groupControl, run: st.name,
			summary: "my name",
			help:    "In personal chats and groups I answer when called by it, and my answers are marked with it.",
		},
		{
			name: "status", group: groupHealth, run: st.show, operators: true,
			summary: "what works, what needs you",
			aliases: []string{"health", "models", "model", "version"},
			hint:    "`/status` says how things are.",
			alone:   true,
		},
	}
}

// show describes the state of multis in a few lines.
func (st *statusCommands) show(ctx context.Context, r request, _ string) (answer, error) {
	name, err := store.AssistantName(ctx, st.store.DB(), st.settings.Name)
	if err != nil {
		return answer{}, err
	}
	lines := []string{fmt.Sprintf("**%s is up** · multis %s", esc(name), esc(st.settings.Version))}
	for _, part := range []func(context.Context, request) (string, error){
		st.safeMode.statusLine, st.healthLine, st.pauseLine, st.pins.statusLine, st.restores.statusLine, st.doctors.statusLine, st.stalls.lines,
		st.monitors.statusLine, st.bridges.downLines, st.chatsLine, st.unreadableLines, st.documentsLine, st.searchLine, st.modelLine,
		st.restores.backupLine,
		st.inventedLine, st.escalationLines, st.failedLine,
	} {
		text, err := part(ctx, r)
		if err != nil {
			return answer{}, err
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	open, err := store.WaitingEscalations(ctx, st.store.DB())
	var about []store.MessageID
	for _, e := range open {
		about = append(about, e.Sources...)
	}
	return answer{text: strings.Join(lines, "\n"), quotes: about}, err
}

// healthLine says which checks fail, or that none does.
func (st *statusCommands) healthLine(ctx context.Context, _ request) (string, error) {
	if st.health == nil {
		return "", nil
	}
	report := st.health.Report(ctx)
	if report.Status != health.OK {
		return "❌ Health: " + esc(report.Summary()), nil
	}
	return "Health: " + report.Summary(), nil
}

// allPausedLine says that everything is paused; empty if it is not.
func (st *statusCommands) allPausedLine(ctx context.Context, _ request) (string, error) {
	var pause store.Pause
	paused, err := store.GetSetting(ctx, st.store.DB(), store.SettingPause, &pause)
	if err != nil {
		return "", err
	}
	if !paused {
		return "", nil
	}
	return "**Everything is paused** since " + st.room.shortTime(pause.Since) + ": `/resume` ends it.", nil
}

func (st *statusCommands) pauseLine(ctx context.Context, r request) (string, error) {
	all, err := st.allPausedLine(ctx, r)
	if err != nil {
		return all, err
	}
	if all != "" {
		return all, nil
	}
	chats, err := st.states.pausedNames(ctx)
	if err != nil {
		return "", err
	}
	if len(chats) == 0 {
		return "", nil
	}
	return "Paused: " + text.List(chats) + ".", nil
}

func (st *statusCommands) chatsLine(ctx context.Context, _ request) (string, error) {
	networks, modes, locked, err := st.states.countChats(ctx)
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

func (st *statusCommands) documentsLine(ctx context.Context, r request) (string, error) {
	public, private, err := countDocuments(ctx, st.store.DB(), r.scope())
	if err != nil {
		return "", err
	}
	if public+private == 0 {
		return "Documents: none yet. " + st.settings.addDocumentHint() + ".", nil
	}
	text := fmt.Sprintf("Documents: %d public", public)
	if private > 0 {
		text += fmt.Sprintf(", %d only yours", private)
	}
	return text, nil
}

// searchLine says whether searches use embeddings, and if not, why. How many passages all chats have is shown to the owner only.
func (st *statusCommands) searchLine(ctx context.Context, r request) (string, error) {
	if st.settings.Embeddings == "" || st.settings.Embeddings == modelNone {
		return "Search: by words (no model for `embeddings` is configured).", nil
	}
	has, err := index.HasVectors(ctx, st.store.DB())
	if err != nil {
		return "", err
	}
	if !has {
		return "Search: by words only, because the database has no pgvector: `CREATE EXTENSION vector` there, as an administrator, then start me again.", nil
	}
	reply := "Search: by words and meaning (" + esc(st.settings.Embeddings)
	if r.isOwner() {
		n, err := index.CountVectors(ctx, st.store.DB())
		if err != nil {
			return "", err
		}
		if n.Embedded < n.Chunks {
			reply += fmt.Sprintf(", %d of %s so far", n.Embedded, text.Count(int(n.Chunks), "passage"))
		}
	}
	return reply + ").", nil
}

// inventedLine says how many citations models invented.
func (st *statusCommands) inventedLine(ctx context.Context, _ request) (string, error) {
	n, err := store.InventedCitations(ctx, st.store.DB())
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", nil
	}
	return text.Count(n, "citation") + " that the model made up so far, left out.", nil
}

func (st *statusCommands) modelLine(ctx context.Context, _ request) (string, error) {
	usage, err := store.UsageByPurpose(ctx, st.store.DB(), st.room.now().In(st.settings.Zone).Format(time.DateOnly))
	if err != nil {
		return "", err
	}
	var spent int64
	calls := 0
	for _, u := range usage {
		spent += u.Amount
		calls += u.Calls
	}
	reply := "Model: " + esc(st.settings.Model)
	if calls > 0 {
		reply += fmt.Sprintf(" · today %s of %s in %s", text.Money(spent, st.settings.Currency),
			text.Money(st.settings.DayBudget, st.settings.Currency), text.Count(calls, "call"))
	}
	exam, err := st.examOf(ctx)
	return reply + exam, err
}

// examOf returns the result of the exam of the first model that is asked, to be added to a line; empty if there is no model.
func (st *statusCommands) examOf(ctx context.Context) (string, error) {
	model, _, _ := strings.Cut(st.settings.Model, ", ") // the others are asked when it does not answer
	if !strings.Contains(model, "/") {
		return "", nil
	}
	e, err := store.ModelExamOf(ctx, st.store.DB(), model)
	if errors.Is(err, store.ErrNotFound) {
		return " · never examined: `multis models exam`", nil
	}
	return " · exam: " + esc(e.Summary), err
}

// escalationLines lists the open escalations.
func (st *statusCommands) escalationLines(ctx context.Context, _ request) (string, error) {
	open, err := store.WaitingEscalations(ctx, st.store.DB())
	if err != nil {
		return "", err
	}
	if len(open) == 0 {
		return "Nobody waits for you.", nil
	}
	lines := []string{"**" + text.Count(len(open), "chat") + " " + text.Plural(len(open), "waits", "wait") + " for you**"}
	for _, e := range open[:min(len(open), pageSize)] {
		chat, err := store.ChatByID(ctx, st.store.DB(), e.ChatID)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s — since %s: %s", esc(chat.Label()), st.room.shortTime(e.OpenedAt), esc(text.Clip(e.Reason, 100))))
	}
	if more := len(open) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

func (st *statusCommands) failedLine(ctx context.Context, _ request) (string, error) {
	failed, err := store.CountFailed(ctx, st.store.DB(), st.room.now().Add(-24*time.Hour))
	if err != nil {
		return "", err
	}
	if failed == 0 {
		return "", nil
	}
	return fmt.Sprintf("⚠️ %s did not arrive in the last 24 h: `/why` and the chat's name says why.", text.Count(failed, "message")), nil
}

// name shows or changes the assistant's name.
func (st *statusCommands) name(ctx context.Context, _ request, args string) (answer, error) {
	old, err := store.AssistantName(ctx, st.store.DB(), st.settings.Name)
	if err != nil {
		return answer{}, err
	}
	name := text.OneLine(args)
	switch {
	case name == "":
		return answer{text: "I am called **" + esc(old) + "**. `/name` and another word changes that."}, nil
	case !isValidName(name):
		return answer{text: "A name has 2 to 100 letters, with blanks, dashes, dots or digits between them: `/name Nora`."}, nil
	case name == old:
		return answer{text: "I am called **" + esc(old) + "** already."}, nil
	}
	return answer{
		text: fmt.Sprintf("I am **%s** from now on: I answer to it, and my answers are marked %s.", esc(name), esc("["+name+"]")),
		change: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingName, name)
		},
	}, nil
}

// isValidName reports whether a text can be the assistant's name: something that people can say, and that fits into "[Nora] ...".
func isValidName(name string) bool {
	n := utf8.RuneCountInString(name)
	first, _ := utf8.DecodeRuneInString(name)
	return n >= 2 && n <= 100 && unicode.IsLetter(first) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -.'’", r)
	})
}

// unreadableLines lists the chats that cannot be read or written, and why.
func (st *statusCommands) unreadableLines(ctx context.Context, _ request) (string, error) {
	why, err := st.states.unreadable(ctx)
	if err != nil {
		return "", err
	}
	chats, err := store.ListChats(ctx, st.store.DB(), "", maxChats, 0)
	if err != nil {
		return "", err
	}
	var lines []string
	more := 0
	for _, c := range chats {
		note := unreadableNote(c, why)
		switch {
		case note == "" || c.ClosedReason != "" || c.ModeIn(st.settings.Defaults) == policy.ModeOff:
		case len(lines) == pageSize:
			more++
		default:
			lines = append(lines, esc(c.Label())+" — "+note)
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}
