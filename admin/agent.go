package admin

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// agentCommands lists the agents, their skills and tools, and sets which agent answers in a chat.
type agentCommands struct {
	base

	tools    Toolbox
	skills   Skills
	maxTools int
}

// commands returns the commands about agents, their skills and tools.
func (ag *agentCommands) commands() []command {
	return []command{
		{
			name: "agents", group: groupAsk, run: ag.list,
			summary: "who answers you",
			alone:   true,
		},
		{
			name: "agent", args: "[name] [chat]", group: groupAsk, run: ag.choose,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return ag.set(chat, pick.Agent), nil
			},
			chatHint: func(chatPick) string { return " to set the agent there" },
			summary:  "who answers here, or in a chat",
			help:     "`/agent sales` has sales answer all you write here, `/agent sales Ana` what Ana writes; `/agent none` leaves it to the configuration. `@sales question` asks once.",
		},
		{
			name: "skills", group: groupAsk, run: ag.listSkills,
			summary: "list my skills and their files",
			alone:   true,
		},
		{
			name: "tools", group: groupAsk, run: ag.listTools,
			summary: "what I can do beside reading documents",
		},
	}
}

// toolNames returns the names of the tools that a model may call for the owner now. A schedule may later use these and no others.
func (ag *agentCommands) toolNames(ctx context.Context, room store.Chat) ([]string, error) {
	if ag.tools == nil {
		return nil, nil
	}
	all, err := ag.tools.Tools(ctx, room)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return names, nil
}

// list shows the agents.
func (ag *agentCommands) list(_ context.Context, r request, _ string) (answer, error) {
	if len(ag.settings.Agents) == 0 {
		return answer{text: "Only I answer. More agents stand in config.yaml under `agents`, each with its own manner, files and tools."}, nil
	}
	lines := []string{"**" + text.Count(len(ag.settings.Agents), "agent") + "**"}
	for _, g := range ag.settings.Agents {
		entry := strings.Join(strings.Fields(g.Emoji+" "+code("@"+g.ID)+" "+esc(g.Name)), " ") + agentMarks(g, r.room.Agent)
		if g.Theme != "" {
			entry += " — " + esc(g.Theme)
		}
		if len(g.Capabilities) > 0 {
			entry += " · for " + esc(strings.Join(g.Capabilities, ", "))
		}
		if g.Model != "" {
			entry += " · " + code(g.Model)
		}
		lines = append(lines, entry)
	}
	return answer{text: strings.Join(lines, "\n") + "\n\nCall one with `@name question`, or `/agent name` for all you write here."}, nil
}

// agentMarks marks the agent that answers in the room, and the default agent.
func agentMarks(g Agent, chosen string) string {
	switch {
	case g.ID == chosen:
		return " (answers here)"
	case g.Default && chosen == "":
		return " (default)"
	default:
		return ""
	}
}

// choose sets the agent that answers in the room or in a chat, or shows the agents.
func (ag *agentCommands) choose(ctx context.Context, r request, args string) (answer, error) {
	name, chatName, _ := strings.Cut(strings.TrimSpace(args), " ")
	if name == "" {
		return ag.list(ctx, r, "")
	}
	i := slices.IndexFunc(ag.settings.Agents, func(g Agent) bool { return strings.EqualFold(g.ID, name) || strings.EqualFold(g.Name, name) })
	if i < 0 && !strings.EqualFold(name, "none") {
		return answer{text: "I know no agent " + code(name) + ". `/agents` lists them."}, nil
	}
	chosen := ""
	if i >= 0 {
		chosen = ag.settings.Agents[i].ID
	}
	if chatName = strings.TrimSpace(chatName); chatName != "" {
		return ag.chats.withChat(ctx, chatName, "agent", chatPick{Agent: chosen})
	}
	return ag.set(r.room, chosen), nil
}

// set sets the agent that answers in a chat. Empty means the agent of the configuration.
func (ag *agentCommands) set(chat store.Chat, agent string) answer {
	where := "here"
	if chat.Kind != policy.KindAdmin {
		where = "in " + esc(chat.Label())
	}
	text := "The agent from config.yaml answers " + where + " again."
	if agent != "" {
		text = "From now on **" + esc(agent) + "** answers " + where + "."
	}
	return answer{text: text, change: func(ctx context.Context, tx store.Tx) error { return store.SetAgent(ctx, tx, chat.ID, agent) }}
}

// listSkills lists the skill files, and for whose questions they are used.
func (ag *agentCommands) listSkills(_ context.Context, _ request, _ string) (answer, error) {
	var all []Skill
	if ag.skills != nil {
		all = ag.skills.Skills()
	}
	if len(all) == 0 {
		return answer{text: "There are no skills."}, nil
	}
	lines := []string{"**" + text.Count(len(all), "skill") + "**"}
	for _, s := range all {
		entry := code(s.Name)
		if s.Agent != "" {
			entry += " of " + code("@"+s.Agent)
		}
		if s.Summary != "" {
			entry += " — " + esc(s.Summary)
		}
		from := s.From
		if s.Agent != "" {
			from = "its own folder"
		}
		entry += " (" + audience(s) + ", " + from + ")"
		if s.Problem != "" {
			entry += " ⚠️ " + esc(s.Problem)
		}
		lines = append(lines, entry)
	}
	return answer{text: strings.Join(lines, "\n") + "\n\nA Markdown file of that name in the skills folder comes before a built-in one, and one in the `skills` folder of an agent before both. A change holds from the next answer on."}, nil
}

// audience says whose questions a skill is used for.
func audience(s Skill) string {
	switch {
	case s.ForOwner && s.ForContact:
		return "for everybody"
	case s.ForOwner:
		return "for you"
	case s.ForContact:
		return "for contacts"
	default:
		return "for its own purpose"
	}
}

// listTools shows the tools that a model may call for the owner.
func (ag *agentCommands) listTools(ctx context.Context, r request, _ string) (answer, error) {
	if ag.tools == nil || ag.settings.Model == modelNone {
		return answer{text: "Without a model nothing calls tools. `llm.model` in config.yaml names one."}, nil
	}
	all, err := ag.tools.Tools(ctx, r.room)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + text.Count(len(all), "tool") + "** that I can use for you"}
	for _, t := range all {
		first, _, _ := strings.Cut(text.OneLine(t.Summary), ". ")
		entry := code(t.Name) + " — " + esc(strings.TrimSuffix(first, "."))
		if t.NeedsApproval {
			entry += " (I ask you first)"
		}
		lines = append(lines, entry)
	}
	if len(all) == ag.maxTools {
		lines = append(lines, fmt.Sprintf("⚠️ A model takes %d tools, and what is above that is left out. Name those that you need: `allow` below `mcp` and `agents` in config.yaml.", ag.maxTools))
	}
	for _, s := range ag.tools.Sources() {
		switch {
		case s.Problem != "":
			lines = append(lines, "⚠️ "+code(s.Name)+" is not there: "+esc(s.Problem)+". I try again.")
		case len(s.Skipped) > 0:
			lines = append(lines, "⚠️ of "+code(s.Name)+" not taken: "+esc(strings.Join(s.Skipped, "; ")))
		}
	}
	return answer{text: strings.Join(lines, "\n") + "\n\nFor contacts: searching what they may see, and escalating to you. Nothing else."}, nil
}

// mentionPattern matches a mention at the beginning of a text: "@sales".
var mentionPattern = regexp.MustCompile(`^@([\p{L}\d][\p{L}\d_-]{0,40})[:,]?(?:\s|$)`)

// unknownAgent returns the reply to a mention of an agent that does not exist. It returns the zero answer if the agent exists, or if none is mentioned.
func (ag *agentCommands) unknownAgent(reply string) answer {
	m := mentionPattern.FindStringSubmatch(reply)
	if m == nil || slices.ContainsFunc(ag.settings.Agents, func(g Agent) bool { return g.isCalled(m[1]) }) {
		return answer{}
	}
	if len(ag.settings.Agents) == 0 {
		return answer{text: "There is no agent " + code("@"+m[1]) + ": only I answer. Agents stand in config.yaml under `agents:`."}
	}
	names := make([]string, len(ag.settings.Agents))
	for i, g := range ag.settings.Agents {
		names[i] = code("@" + g.ID)
	}
	return answer{text: "There is no agent " + code("@"+m[1]) + ", only " + text.List(names) + ". `/agents` says what each is for."}
}
