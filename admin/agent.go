package admin

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// agentCommands lists the agents, their skills and tools, and sets which agent answers in a chat.
type agentCommands struct {
	base

	tools   Toolbox
	servers ToolServers
	skills  Skills
}

// commands returns the commands about agents, their skills and tools.
func (ag *agentCommands) commands() []command {
	return []command{
		{
			name: "agents", group: groupAgents, run: ag.list,
			summary: "list agents",
			alone:   true,
		},
		{
			name: "agent", args: "[name] [chat]", group: groupAgents, run: ag.choose,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return ag.set(chat, pick.Agent), nil
			},
			chatHint: func(chatPick) string { return " to set the agent there" },
			summary:  "choose who answers",
			help:     "`/agent sales` has sales answer all you write here, `/agent sales Ana` what Ana writes; `/agent none` leaves it to the configuration. `@sales question` asks once.",
		},
		{
			name: "skills", group: groupAgents, run: ag.listSkills,
			summary: "list skills and their files",
			alone:   true,
		},
		{
			name: "tools", group: groupAgents, run: ag.listTools,
			summary: "list tools",
		},
	}
}

// toolNames returns the names of the tools that a model may call for the owner now. A schedule may later use these and no others.
func (ag *agentCommands) toolNames(ctx context.Context, room store.Chat) ([]string, error) {
	if ag.tools == nil {
		return nil, nil
	}
	all, err := ag.tools.OfferedTools(ctx, room)
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
		return answer{text: "I'm the only agent. Add more in config.yaml under `agents`, each with its own manner, files and tools."}, nil
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
		if g.Model != nil {
			entry += " · " + code(g.Model.Name())
		}
		lines = append(lines, entry)
	}
	return answer{text: strings.Join(lines, "\n") + "\n\nCall one with `@name question`, or `/agent name` for all you write here."}, nil
}

// agentMarks marks the agent that answers in the room, and the default agent.
func agentMarks(g persona.Persona, chosen string) string {
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
	i := slices.IndexFunc(ag.settings.Agents, func(g persona.Persona) bool {
		return strings.EqualFold(g.ID, name) || strings.EqualFold(g.Name, name)
	})
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
	entries := ag.skillEntries()
	if len(entries) == 0 {
		return answer{text: "There are no skills."}, nil
	}
	lines := append([]string{"**" + text.Count(len(entries), "skill") + "**"}, entries...)
	return answer{text: strings.Join(lines, "\n") +
		"\n\nA Markdown file of that name in the skills folder comes before a built-in one, and one in the `skills` folder of an agent before both. A change holds from the next answer on."}, nil
}

// skillEntries lists the built-in and the shared skills, then those of each agent.
func (ag *agentCommands) skillEntries() (entries []string) {
	if ag.skills == nil {
		return nil
	}
	for _, s := range ag.skills.All("") {
		entries = append(entries, skillEntry(s, ""))
	}
	for _, g := range ag.settings.Agents {
		for _, s := range ag.skills.All(g.Workspace) {
			if s.From == skills.FromAgent {
				entries = append(entries, skillEntry(s, g.ID))
			}
		}
	}
	return entries
}

// skillEntry describes a skill, of an agent or of all.
func skillEntry(s skills.Skill, agent string) string {
	entry := code(s.Name)
	from := s.From
	if agent != "" {
		entry += " of " + code("@"+agent)
		from = "its own folder"
	}
	if s.Description != "" {
		entry += " — " + esc(s.Description)
	}
	entry += " (" + audience(s) + ", " + from + ")"
	if problem := skillProblem(s); problem != "" {
		entry += " ⚠️ " + esc(problem)
	}
	return entry
}

// skillProblem says why a skill is not used, or only in part; empty when it is.
func skillProblem(s skills.Skill) string {
	switch {
	case s.Problem == "" && len(s.Warnings) > 0:
		return strings.Join(s.Warnings, "; ")
	case s.FullSize > 0:
		return "too long: only its beginning is read"
	default:
		return s.Problem
	}
}

// audience says whose questions a skill is used for.
func audience(s skills.Skill) string {
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
		return answer{text: "Without a model nothing calls tools. Set `llm.model` in config.yaml."}, nil
	}
	all, err := ag.tools.OfferedTools(ctx, r.room)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + text.Count(len(all), "tool") + "** that I can use for you"}
	for _, t := range all {
		first, _, _ := strings.Cut(text.OneLine(t.Description), ". ")
		entry := code(t.Name) + " — " + esc(strings.TrimSuffix(first, "."))
		if t.Tier != tools.Read {
			entry += " (I ask you first)"
		}
		lines = append(lines, entry)
	}
	if len(all) == tools.MaxOffered {
		lines = append(lines,
			fmt.Sprintf("⚠️ A model takes %d tools, and what is above that is left out. Name those that you need: `allow` below `mcp` and `agents` in config.yaml.", tools.MaxOffered))
	}
	if ag.servers == nil {
		return answer{text: strings.Join(lines, "\n") + contactToolsText}, nil
	}
	for _, s := range ag.servers.States() {
		switch {
		case s.Problem != "":
			lines = append(lines, "⚠️ "+code(s.Name)+" is not there: "+esc(s.Problem)+". I try again.")
		case len(s.Skipped) > 0:
			lines = append(lines, "⚠️ of "+code(s.Name)+" not taken: "+esc(strings.Join(s.Skipped, "; ")))
		}
	}
	return answer{text: strings.Join(lines, "\n") + contactToolsText}, nil
}

// contactToolsText says which tools are used for contacts.
const contactToolsText = "\n\nFor contacts: searching what they may see, and escalating to you. Nothing else."

// mentionPattern matches a mention at the beginning of a text: "@sales".
var mentionPattern = regexp.MustCompile(`^@([\p{L}\d][\p{L}\d_-]{0,40})[:,]?(?:\s|$)`)

// unknownAgent returns the reply to a mention of an agent that does not exist. It returns the zero answer if the agent
// exists, or if none is mentioned.
func (ag *agentCommands) unknownAgent(reply string) answer {
	m := mentionPattern.FindStringSubmatch(reply)
	if m == nil || slices.ContainsFunc(ag.settings.Agents, func(g persona.Persona) bool { return g.HasName(m[1]) }) {
		return answer{}
	}
	if len(ag.settings.Agents) == 0 {
		return answer{text: "There is no agent " + code("@"+m[1]) + ": only I answer. Add agents in config.yaml under `agents:`."}
	}
	names := make([]string, len(ag.settings.Agents))
	for i, g := range ag.settings.Agents {
		names[i] = code("@" + g.ID)
	}
	return answer{text: "There is no agent " + code("@"+m[1]) + ", only " + text.List(names) + ". `/agents` says what each is for."}
}
