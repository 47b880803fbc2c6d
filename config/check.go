package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// check validates the keys that depend on each other. At this point, a key that is missing or invalid by itself has its default value,
// which may be empty.
func (c *Config) check(r *reader) {
	c.checkExample(r)
	c.checkUserIDs(r)
	c.checkTokens(r)
	c.checkModel(r)
	c.checkEmbeddings(r)
	c.checkSpeech(r)
	c.checkHeartbeat(r, "heartbeat", c.Heartbeat)
	for name, a := range c.Agents {
		c.checkHeartbeat(r, "agents."+name+".heartbeat", a.Heartbeat)
	}
	c.checkMCP(r)
	c.checkCommandHooks(r)
	c.checkMonitors(r)
	c.checkAgents(r)
	c.checkPolicy(r)
	c.checkExternalAgents(r)
	c.checkBusiness(r)
	c.checkLabels(r)
	if c.Chats.BurstMax < c.Chats.BurstQuiet {
		r.reportKey("chats.burst_max", "is shorter than burst_quiet; write at least "+c.Chats.BurstQuiet.String())
	}
	if c.Ops.Web != "" && c.Ops.Listen == "" {
		r.reportKey("ops.web", "is set, but ops.listen is empty; write where the page listens there, such as 127.0.0.1:29400")
	}
}

// checkAgents rejects unknown delegates and more than one default agent.
func (c *Config) checkAgents(r *reader) {
	first := ""
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		switch {
		case !c.Agents[name].Default:
		case first == "":
			first = name
		default:
			r.reportKey("agents."+name+".default", "is true for "+first+" as well; set it for only one agent")
		}
		for _, other := range c.Agents[name].Delegates {
			if _, there := c.Agents[other]; other != "*" && (!there || other == name) {
				r.reportKey("agents."+name+".delegates", "names "+other+", which is not another agent; write names of agents, or \"*\" for all")
			}
		}
	}
}

// checkCommandHooks rejects command hooks that would never run or have the name of another hook.
func (c *Config) checkCommandHooks(r *reader) {
	for _, name := range slices.Sorted(maps.Keys(c.CommandHooks)) {
		h, key := c.CommandHooks[name], "command_hooks."+name
		if _, twice := c.Hooks[name]; twice {
			r.reportKey(key, "has the name of a hook in hooks; choose another one")
		}
		switch {
		case len(h.Before)+len(h.Events) == 0:
			r.reportKey(key, "would never run; write before: [tool] or [send], or events")
		case len(h.Tools) > 0 && !slices.Contains(h.Before, BeforeTool):
			r.reportKey(key+".tools", "only works with before: [tool]; add that, or remove it")
		}
	}
}

// checkExternalAgents rejects external agents that have the settings of a model's agent, or that cannot be run.
func (c *Config) checkExternalAgents(r *reader) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a, key := c.Agents[name], "agents."+name
		prompts := 0
		for _, word := range a.Command {
			if word == AgentPrompt {
				prompts++
			} else if strings.Contains(word, AgentPrompt) {
				r.reportKey(key+".command", "has "+AgentPrompt+" inside of another argument; write it as an argument of its own")
			}
		}
		answers := len(a.Rooms)+len(a.Senders)+len(a.Spaces)+len(a.Logins)+len(a.Networks)+len(a.Modes) > 0 || a.Default || a.Model != "" ||
			len(a.Delegates) > 0
		switch {
		case len(a.Command) == 0 && (a.Network || len(a.Ports)+len(a.Domains)+len(a.Env) > 0):
			r.reportKey(key, "has network, ports, domains or env, which only an agent with a command can have")
		case len(a.Command) == 0:
		case a.Command[0] == AgentPrompt || prompts > 1:
			r.reportKey(key+".command", "needs a program first, and at most once "+AgentPrompt)
		case answers:
			r.reportKey(key+".command", "makes it a program that others delegate to; it has no model, no delegates and no places where it answers")
		case !c.Exec.Enabled:
			r.reportKey(key+".command", "needs exec.enabled: true, because it runs a program of this machine")
		case !a.Network && len(a.Ports)+len(a.Domains) > 0:
			r.reportKey(key, "has ports or domains without network: true")
		}
	}
}

// mcpName matches the name of an MCP server. It is the prefix of tool names, which some providers require to begin with
// a letter.
var mcpName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,19}$`)

// checkMCP rejects incomplete or contradictory MCP servers, and an MCP server of multis without a strong token.
func (c *Config) checkMCP(r *reader) {
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		m := c.MCP[name]
		switch {
		case !mcpName.MatchString(name):
			r.reportKey("mcp."+name, "is not a valid server name; write up to 20 small letters, digits or dashes, a letter first, such as github")
		case (len(m.Command) > 0) == (m.URL != ""):
			r.reportKey("mcp."+name, "needs either command or url; write exactly one of them")
		case len(m.Env) > 0 && m.URL != "":
			r.reportKey("mcp."+name+".env", "only works with a command; remove it, or write headers")
		case len(m.Headers) > 0 && m.URL == "":
			r.reportKey("mcp."+name+".headers", "only works with a url; remove it, or write env")
		case m.Login && m.URL == "":
			r.reportKey("mcp."+name+".login", "only works with a url; set url, or remove login")
		case m.Login && m.Token != "":
			r.reportKey("mcp."+name+".login", "replaces the token; remove one of the two")
		case !m.Login && (m.ClientID != "" || m.ClientSecret != ""):
			r.reportKey("mcp."+name+".client_id", "only works with login: true; set it, or remove client_id and client_secret")
		}
	}
	if c.MCPServer.Port != 0 && len(c.MCPServer.Token) < minTokenLength {
		r.reportKey("mcp_server.token",
			"is missing or short, and would open your documents; write one of 24 characters or more (openssl rand -hex 24)")
	}
}

// minTokenLength is the minimum length of a token that gives other programs access, in characters.
const minTokenLength = 24

// checkExample rejects the placeholder values of example.yaml. A configuration with them would be complete, but reach no
// homeserver.
func (c *Config) checkExample(r *reader) {
	for _, left := range []struct{ key, value, example, fix string }{
		{"homeserver.address", c.Homeserver.Address, exampleAddress, "write where multis reaches your homeserver, such as http://127.0.0.1:8008"},
		{"homeserver.domain", c.Homeserver.Domain, exampleDomain, "write what stands after the colon in your Matrix id"},
		{"owner", c.Owner.String(), exampleOwner, "write your own Matrix id"},
	} {
		if left.value == left.example {
			r.reportKey(left.key, "is still the example's; "+left.fix)
		}
	}
}

// checkUserIDs verifies that the owner, the bot and the registration's own user differ. Otherwise multis would answer
// itself, or the homeserver would reject the registration.
func (c *Config) checkUserIDs(r *reader) {
	domain := c.Homeserver.Domain
	bot := c.Appservice.Bot.Username
	sender := c.Appservice.SenderLocalpart
	if c.Owner != "" && domain != "" {
		switch {
		case c.Owner.Homeserver() != domain:
			r.reportKey("owner", "is not a user of "+domain+"; write the id you have there, or correct homeserver.domain")
		case c.Owner.Localpart() == bot:
			r.reportKey("owner", "is the assistant's own user; write your id, or choose another appservice.bot.username")
		case c.Owner.Localpart() == sender:
			r.reportKey("appservice.sender_localpart", "is the owner; write generate and run multis -g")
		}
	}
	if sender == bot {
		r.reportKey("appservice.sender_localpart", "is the bot, which homeservers cannot serve; write generate and run multis -g")
	}
}

func (c *Config) checkTokens(r *reader) {
	const fix = "still says generate; run multis -g once to fill it"
	if c.Appservice.SenderLocalpart == Placeholder {
		r.reportKey("appservice.sender_localpart", fix)
	}
	if c.Appservice.ASToken == Placeholder {
		r.reportKey("appservice.as_token", fix)
	}
	if c.Appservice.HSToken == Placeholder {
		r.reportKey("appservice.hs_token", fix)
	} else if c.Appservice.HSToken != "" && c.Appservice.HSToken == c.Appservice.ASToken {
		r.reportKey("appservice.hs_token", "is the same as as_token; write generate and run multis -g")
	}
}

// checkModel validates llm.model, vision.model and answers.judge, their strategies and the prices. The llm package checks later whether
// a model has a price and its provider a key.
func (c *Config) checkModel(r *reader) {
	for _, p := range c.LLM.Prices {
		if (p.In == 0) != (p.Out == 0) {
			r.reportKey("llm.prices", "has a zero price for "+p.Model+"; write what a million tokens cost, for both input and output")
		}
	}
	for key, name := range map[string]string{"vision.model": c.Vision.Model, "answers.judge": c.Answers.Judge} {
		if models := c.LLM.Strategies.byName(name); models != nil && len(*models) == 0 {
			r.reportKey(key, "is a strategy without models; write them as a list into llm.strategies."+name)
		}
	}
	strategy := c.LLM.Strategies.byName(c.LLM.Model)
	if strategy != nil {
		if len(*strategy) == 0 {
			r.reportKey("llm.model", "is a strategy without models; write them as a list into llm.strategies."+c.LLM.Model)
		}
		if c.LLM.BaseURL != "" || c.LLM.APIKey != "" || c.LLM.Local {
			r.reportKey("llm.model", "names several models, and base_url, api_key and local beside it are for one; write them into llm.providers")
		}
		return
	}
	provider, _, _ := strings.Cut(c.LLM.Model, "/")
	if p, ok := c.LLM.Providers[provider]; ok && (p.BaseURL != "" && c.LLM.BaseURL != "" || p.APIKey != "" && c.LLM.APIKey != "") {
		r.reportKey("llm.model", "has its base_url or api_key both here and in llm.providers."+provider+"; keep one of the two")
	}
}

// checkEmbeddings rejects a paid model without a price, because its cost could not be budgeted, and one without a key or an
// address of its own.
func (c *Config) checkEmbeddings(r *reader) {
	if c.Embeddings.Model == NoModel || c.Embeddings.Local || strings.HasPrefix(c.Embeddings.Model, ollamaPrefix) {
		return
	}
	if c.Embeddings.PricePerMTok == 0 {
		r.reportKey("embeddings.price_per_mtok",
			"is missing for a paid model; write what a million tokens cost, or embeddings.local: true if they cost nothing")
	}
	if c.Embeddings.BaseURL == "" && c.Embeddings.APIKey == "" {
		r.reportKey("embeddings.api_key", "is missing; write the key, or embeddings.base_url if you run a server that wants none")
	}
}

// checkSpeech rejects a paid model without a price, because its cost could not be budgeted, and one without a key or an
// address of its own.
func (c *Config) checkSpeech(r *reader) {
	if c.Speech.Model == NoModel || c.Speech.Local {
		return
	}
	if c.Speech.PricePerMinute == 0 {
		r.reportKey("speech.price_per_minute",
			"is missing for a paid model; write what a minute costs, or speech.local: true if it costs nothing")
	}
	if c.Speech.BaseURL == "" && c.Speech.APIKey == "" {
		r.reportKey("speech.api_key", "is missing; write the key, or speech.base_url if you run a server that wants none")
	}
}
