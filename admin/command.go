package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// command is one thing that can be asked for by name.
type command struct {
	name    string
	args    string // as shown in the help
	summary string
	help    string // Markdown: what more there is to know
	group   string
	// operators says that it only shows, so that operators may give it as well.
	operators bool
	run       func(ctx context.Context, r request, args string) (answer, error)
}

// allows tells whether the one who wrote may give the command.
func (c command) allows(r request) bool { return c.operators || r.byOwner() }

// refusal names the rule that keeps an operator from a command.
func refusal(c command) answer {
	return answer{
		text: "`/" + c.name + "` is the owner's: operators look, only the owner changes chats, documents and settings. " +
			"`/help` shows what you can do here; who is owner and who operator stands in config.yaml.",
		why: "An operator may not give this command.",
	}
}

// The groups of the help, in its order.
const (
	groupAsk     = "Ask"
	groupMemory  = "Memory"
	groupChats   = "Chats"
	groupTime    = "Time"
	groupControl = "Control"
)

// table lists every command, in the order of the help.
func (a *Admin) table() []command {
	return slices.Concat(a.askCommands(), a.memoryCommands(), a.forgetCommands(), a.mergeCommands(), a.chatCommands(), a.timeCommands(), a.controlCommands())
}

// askCommands are those about documents.
func (a *Admin) askCommands() []command {
	return []command{
		{
			name: "ask", args: "question", group: groupAsk, run: a.ask,
			summary: "an answer from your documents, with its sources",
			help:    "Plain text without a command asks as well. What I say rests on your own documents and the public ones.",
		},
		{
			name: "search", args: "words", group: groupAsk, run: a.search, operators: true,
			summary: "the passages themselves, best first",
			help:    "You search your own documents and the public ones; operators search the public ones.",
		},
		{
			name: "docs", args: "[remove, watch or unwatch name]", group: groupAsk, run: a.docs, operators: true,
			summary: "which documents I know",
			help: "With sizes, and which are stale: the file in the documents folder was changed, or the page was fetched more than 30 days ago. " +
				"`/docs remove prices.pdf` takes one out, for good and at once. " +
				"`/docs watch prices public` keeps up with the files of a folder in the documents folder: new and changed ones are read, those that are gone are removed, and I tell you once. `/docs unwatch prices` ends it.",
		},
		{
			name: "index", args: "[path or address] [public or admin]", group: groupAsk, run: a.index,
			summary: "learn a document",
			help: a.Rules.nameOne() + " a file, a folder or a pattern such as `contracts/*.pdf` in the documents folder, or the address of a page. " +
				"**public**: customers get answers from it. **admin**: only you do. Sent again under the same name, it replaces what was there. " +
				"PDF, Word (.docx), HTML, Markdown, CSV and plain text, up to 10 MB and 2,000 pages.",
		},
		{
			name: "plan", args: "goal", group: groupAsk, run: a.planGoal,
			summary: "work on something in several steps",
			help: "I say which steps I would take, and begin when you agree: 👍 or `yes`. Reply to the plan with what should be otherwise, and I plan it anew. " +
				"The steps are done one after the other, each with what those before came to; what needs your word in between asks for it. A restart does not end it; `/cancel-task` or ❌ does.",
		},
		{
			name: "run", args: "[name]", group: groupAsk, run: a.runSaved,
			summary: "begin a task that is saved as a file",
			help: "`/run` lists them. Each is a YAML file in the tasks folder: `prompt`, and optionally `agent` (who does it), `tools` (no others may be used) and `target` (the chat that it is about). " +
				"The answer comes here; nothing goes to anybody else.",
		},
		{
			name: "cancel-task", args: "[number]", group: groupAsk, run: a.cancelTask,
			summary: "stop what I am working on",
			help:    "The number stands under each answer that is being made; without one, what runs is listed. A ❌ on your question or on my answer does the same.",
		},
		{
			name: "replay", args: "number [model]", group: groupAsk, run: a.replay,
			summary: "go through a task again, from what is stored of it",
			help: "Nothing is done and nobody is asked: what the model said and what the tools brought comes from the steps, and I say whether it comes to the same, to the byte. " +
				"`/replay 12 openai/gpt-5-mini` asks that model the same in each round and shows what it says beside it; this makes paid model calls.",
		},
		{
			name: "agents", group: groupAsk, run: a.agents,
			summary: "who answers you",
		},
		{
			name: "agent", args: "[name] [chat]", group: groupAsk, run: a.agent,
			summary: "who answers here, or in a chat",
			help:    "`/agent sales` has sales answer all you write here, `/agent sales Ana` what Ana writes; `/agent none` leaves it to the configuration. `@sales question` asks once.",
		},
		{
			name: "skills", group: groupAsk, run: a.listSkills,
			summary: "list my skills and their files",
		},
		{
			name: "tools", group: groupAsk, run: a.listTools,
			summary: "what I can do beside reading documents",
		},
	}
}

// chatCommands are those about chats.
func (a *Admin) chatCommands() []command {
	return []command{
		{
			name: "chats", args: "[name]", group: groupChats, run: a.chats, operators: true,
			summary: "find chats",
		},
		{
			name: "mode", args: "[mode] [name]", group: groupChats, run: a.mode,
			summary: "what I do in a chat",
			help: "**business**: I answer from the public documents. **personal**: I answer when somebody calls me by my name. " +
				"**silent**: I remember and never write. **off**: nothing is stored, nothing is sent. " +
				"`/mode` lists the chats, `/mode business Ana` sets one, `/mode Ana` asks.",
		},
		{
			name: "delivery", args: "[auto or draft] [name]", group: groupChats, run: a.delivery,
			summary: "whether I ask you before something goes to a chat",
			help: "**auto**: what I say there goes out at once. **draft**: I show it here first. 👍 sends it as it stands, a reply changes its words, 👎 drops it; " +
				"after 4 hours without a word it is dropped. What you set with `/remind ... --to` is shown first as well. `/delivery draft Ana` sets it, `/delivery Ana` tells it.",
		},
		{
			name: "drafts", group: groupChats, run: a.drafts,
			summary: "what waits for your yes",
		},
		{
			name: "why", args: "[name or event]", group: groupChats, run: a.why, operators: true,
			summary: "why I answered, or kept silent",
			help:    "`/why` explains the newest message, `/why Ana` the last five of that chat; a link to a message explains that one.",
		},
		{
			name: "import", args: "name [since day]", group: groupChats, run: a.history,
			summary: "read what was said before I was here",
			help:    "`/import Ana` reads the whole chat, `/import Ana since 2026-05-01` from that day on. It is remembered like any message, and nothing of it is answered.",
		},
	}
}

// timeCommands are those about what is to come.
func (a *Admin) timeCommands() []command {
	return []command{
		{
			name: "remind", args: "when what", group: groupTime, run: a.remind, operators: true,
			summary: "say something at a time",
			help: "`2h`, `in 45 min`, `tomorrow 9am`, `fri 14:30`, `24.12. 18:00`, `2026-12-24 18:00`, and what it is about behind it. When it comes, react with ✅, ➕, 🕐 or 🌅. " +
				"`--agent`: I work on it at that time, with the tools I have now, and tell you what came of it (`--session main`: knowing what was said here). " +
				"`--to Ana`: your words go to that chat, as you (`--tell` shows it here, `--best-effort`: it need not arrive). " +
				"`--late skip`: not when I am late with it (`once`, within a day, is usual). `--keep`: it stays in `/jobs` when it is over.",
		},
		{
			name: "cron", args: "rhythm what", group: groupTime, run: a.cron, operators: true,
			summary: "the same again and again",
			help: "`0 9 * * 1-5` (minute, hour, day, month, day of the week), `@daily`, `every 2h`, `every monday 9am`. The options are those of `/remind`; `--late all` makes up for every time that was missed. " +
				"A time that the clock skips in spring comes right after; one that it shows twice in autumn comes once.",
		},
		{
			name: "jobs", args: "[number] [change]", group: groupTime, run: a.jobs, operators: true,
			summary: "what is to come",
			help:    "`/jobs 14` shows one, `/jobs 14 edit tomorrow 9am` gives it another time, `/jobs 14 text ...` other words; `pause`, `resume`, `run`, `history` and `cancel` go there as well. `/jobs upkeep` shows what I do for myself, `/jobs upkeep run history` does it now.",
		},
		{
			name: "cancel", args: "number", group: groupTime, run: a.cancel, operators: true,
			summary: "end a job",
		},
		{
			name: "snooze", args: "[number] [when]", group: groupTime, run: a.snooze, operators: true,
			summary: "put a reminder off",
			help:    "The last one, the one you reply to, or the one you name; by 10 minutes unless you say otherwise: `/snooze 1h`, `/snooze tomorrow 9am`.",
		},
	}
}

// controlCommands are those about multis itself.
func (a *Admin) controlCommands() []command {
	return []command{
		{
			name: "pause", args: "[all or name]", group: groupControl, run: a.pause,
			summary: "write to nobody, or not in one chat",
			help:    "`/pause` and `/pause all` stop everything at once, what waits to be sent included. `/pause Ana` stops my answers there. Both last until `/resume`.",
		},
		{
			name: "resume", args: "[all or name]", group: groupControl, run: a.resume,
			summary: "go on",
			help: "`/resume` ends `/pause all`; chats that were paused one by one stay paused. " +
				"`/resume Ana` lets me answer there at once, even if you wrote there a moment ago.",
		},
		{
			name: "name", args: "[new]", group: groupControl, run: a.name,
			summary: "what I am called",
			help:    "In personal chats and groups I answer when called by it, and my answers are marked with it.",
		},
		{
			name: "status", group: groupControl, run: a.status, operators: true,
			summary: "how things are",
		},
		{
			name: "watch", args: "[address or inbox name]", group: groupControl, run: a.watch,
			summary: "tell you when a page changes, or when another program calls",
			help: "`/watch https://example.com/jobs every 6h` tells what is new on a page (a look every 6 hours unless you say otherwise, 15 minutes at least). " +
				"`/watch inbox ci` makes an address that another program posts to; what it says is shown here. `/watch` lists, `/watch remove ci` ends one.",
		},
		{
			name: "hooks", args: "[test] [name]", group: groupControl, run: a.hooks,
			summary: "which programs are told what happens",
			help:    "`/hooks` lists them with their last result, `/hooks desk` shows the last ten, `/hooks test desk` sends a test. They stand in config.yaml under `hooks:`.",
		},
		{
			name: "bridges", args: "[accept or refuse] [bot]", group: groupControl, run: a.bridges,
			summary: "the bridges, and bots that claim the chats of another",
			help: "A chat belongs to the bot that brought it. When another bot claims it, because you set the bridge up anew or because somebody pretends, I ask you first. " +
				"`/bridges accept @bot:server` gives it the chats it claims, `/bridges refuse @bot:server` leaves them where they are.",
		},
		{
			name: "budget", group: groupControl, run: a.budget, operators: true,
			summary: "what I spent, on what",
			help:    "Today against its cap, by purpose and by chat, and the last 7 days. Calls that are under way count at their worst.",
		},
		{
			name: "help", args: "[command]", group: groupControl, run: a.help, operators: true,
			summary: "this list, or more about one command",
		},
	}
}

func (a *Admin) lookup(name string) (command, bool) {
	i := slices.IndexFunc(a.commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return a.commands[i], true
}

// handle decides what a message leads to. It changes nothing itself.
func (a *Admin) handle(ctx context.Context, r request) (answer, error) {
	if r.message.Code == policy.CodeUntrusted {
		return answer{text: untrusted, why: policy.CodeUntrusted.Sentence()}, nil
	}
	if r.message.Kind == string(bridgebridge.Reaction) {
		return a.reacted(ctx, r)
	}
	switch r.message.Code {
	case policy.CodeHeard: // what is said aloud is a question, whatever it sounds like
		if !r.byOwner() {
			return answer{why: "Operators talk in this room; only their commands are for me."}, nil
		}
		return a.ask(ctx, r, r.message.Body)
	case policy.CodeUnheard:
		return answer{text: "⚠️ " + esc(r.message.Reason), why: r.message.Reason}, nil
	default: // it was typed
	}
	text := words(r.message)
	name, rest := parse(text)
	if name != "" {
		return a.run(ctx, r, name, rest)
	}
	if ans, done, err := a.answeredDraft(ctx, r, text); err != nil || done {
		return ans, err
	}
	if about, err := store.IsAbout(ctx, a.Store.DB(), r.room.ID, r.message.RelatesTo); err != nil || (about && r.byOwner()) {
		return answer{text: "I don't pass answers on yet: write in that chat.", why: "It replies to what I told of a chat."}, err
	}
	if ans, done, err := a.replanned(ctx, r, text); err != nil || done {
		return ans, err
	}
	if c, ok := parseChoice(text); ok && r.message.Attachment == nil {
		if ans, done, err := a.chosen(ctx, r, c); err != nil || done {
			return ans, err
		}
	}
	switch {
	case !r.byOwner():
		return answer{why: "Operators talk in this room; only their commands are for me."}, nil
	case r.message.Attachment != nil:
		return a.offered(r, text), nil
	case r.message.Kind != string(bridgebridge.Text):
		return answer{text: unreadable(r.message.Kind)}, nil
	default:
		if ans := a.meant(r, rest); ans.text != "" {
			return ans, nil
		}
		return a.ask(ctx, r, rest)
	}
}

func (a *Admin) reacted(ctx context.Context, r request) (answer, error) {
	silent := answer{why: "A reaction that answers no question."}
	if ans, done, err := a.nudged(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.settled(ctx, r); err != nil || done {
		return ans, err
	}
	if ans, done, err := a.stopped(ctx, r); err != nil || done {
		return ans, err
	}
	c, ok := parseReaction(r.message.Body)
	if !ok {
		return silent, nil
	}
	ans, done, err := a.chosen(ctx, r, c)
	if err != nil || done {
		return ans, err
	}
	return silent, nil
}

func (a *Admin) run(ctx context.Context, r request, name, args string) (answer, error) {
	cmd, known := a.lookup(name)
	switch {
	case !known:
		return answer{text: a.unknown(r, name)}, nil
	case !cmd.allows(r):
		return refusal(cmd), nil
	default:
		return cmd.run(ctx, r, args)
	}
}

// untrusted answers a command from a device that could be anybody's.
const untrusted = "⚠️ I did not do that: it did not come encrypted from a verified session, so I cannot tell that it is yours. " +
	"Verify that session in your Matrix client (Settings, Sessions), then write it again. If you reset your encryption, run `multis verify` as well."

// unreadable says what cannot be taken in yet.
func unreadable(kind string) string {
	switch bridgebridge.MessageKind(kind) {
	case bridgebridge.Voice, bridgebridge.Audio:
		return "I cannot listen: no speech-to-text is set up (`speech.model` in config.yaml). Please type it."
	default:
		return "I can read text and documents so far."
	}
}

func (a *Admin) help(_ context.Context, r request, args string) (answer, error) {
	if args != "" {
		return a.helpOn(r, strings.ToLower(strings.TrimLeft(args, "/!"))), nil
	}
	var b strings.Builder
	b.WriteString("Write `/` or `!` before a command.")
	if r.byOwner() {
		b.WriteString(" Anything else is a question to me.")
	} else {
		b.WriteString(" You are an operator here: you see what I do, the owner decides.")
	}
	group := ""
	for _, c := range a.commands {
		if !c.allows(r) {
			continue
		}
		if c.group != group {
			group = c.group
			b.WriteString("\n\n**" + group + "**")
		}
		b.WriteString("\n" + c.usage() + " — " + c.summary)
	}
	b.WriteString("\n\n`/help mode` says more about one of them.")
	return answer{text: b.String()}, nil
}

func (a *Admin) helpOn(r request, name string) answer {
	cmd, known := a.lookup(name)
	switch {
	case !known:
		return answer{text: a.unknown(r, name)}
	case !cmd.allows(r):
		return refusal(cmd)
	case cmd.help == "":
		return answer{text: fmt.Sprintf("%s — %s.", cmd.usage(), cmd.summary)}
	default:
		return answer{text: fmt.Sprintf("%s — %s.\n%s", cmd.usage(), cmd.summary, cmd.help)}
	}
}

func (c command) usage() string { return "`" + strings.TrimSpace("/"+c.name+" "+c.args) + "`" }
