package config

import "strings"

// otherProgramKey says which key multis has for a key of a similar program, or of the first version of multis.
type otherProgramKey struct {
	ours string // the key or section to write; empty means that there is no equivalent
	note string // how to use it, or why there is no equivalent
}

// otherProgramKeys lists the keys of other programs. A name without a section matches in every section.
var otherProgramKeys = map[string]otherProgramKey{
	"bot_mode":         {"chats.profile", "personal or business"},
	"default_mode":     {"chats.networks", "with a mode for each network"},
	"chat_modes":       {"", "/mode in the admin room sets the mode of a chat"},
	"owner_id":         {"owner", "your Matrix id"},
	"allowed_users":    {"operators", "Matrix ids; there is one owner"},
	"allow_from":       {"chats.networks", "a chat is answered when its mode says so; /mode in the admin room sets it"},
	"admins":           {"operators", "Matrix ids; there is one owner"},
	"pairing_code":     {"owner", "nobody is paired: your Matrix id says who you are"},
	"platforms":        {"chats.networks", "networks come through their bridges and need no keys here"},
	"channels":         {"chats.networks", "networks come through their bridges and need no keys here"},
	"telegram":         {"chats.networks", "networks come through their bridges and need no keys here"},
	"whatsapp":         {"chats.networks", "networks come through their bridges and need no keys here"},
	"signal":           {"chats.networks", "networks come through their bridges and need no keys here"},
	"beeper":           {"homeserver", "multis works beside a homeserver of your own; docs/beeper.md says with which setups of Beeper"},
	"models":           {"llm.model", "one, or a strategy from llm.strategies"},
	"gateway":          {"appservice", "where the homeserver reaches multis"},
	"admin_room":       {"", "multis makes the admin room and invites you"},
	"bindings":         {"agents", "each agent says where it answers: rooms, senders, spaces, accounts, networks, modes, default"},
	"agents.list":      {"agents", "write a section for each agent under its name, such as agents.sales.model"},
	"agents.defaults":  {"llm.model", "what an agent leaves out is as multis itself has it"},
	"identityLinks":    {"", "/merge in the admin room joins two chats of one person"},
	"dmScope":          {"", "each chat has a memory of its own; /merge in the admin room joins two"},
	"session":          {"", "each chat has a memory of its own; /merge in the admin room joins two"},
	"agentToAgent":     {"agents", "agents.NAME.delegates names the agents that it may have work"},
	"subagents":        {"agents", "agents.NAME.delegates names the agents that it may have work"},
	"allowed_tools":    {"agents", "agents.NAME.allow lists the tools"},
	"denied_tools":     {"agents", "agents.NAME.deny lists the tools"},
	"mentionPatterns":  {"agents", "agents.NAME.mentions lists what an agent is called by"},
	"persona":          {"agents", "agents.NAME.instructions says how an agent writes"},
	"capabilities":     {"agents", "agents.NAME.can says what an agent is good for"},
	"governance":       {"policy", "policy.rules say what tools may be called; the rules for contacts are fixed"},
	"policies":         {"policy", "policy.rules say what tools may be called; the rules for contacts are fixed"},
	"allowed_commands": {"exec.enabled", "agents may then run commands in a sandbox; docs/safety.md says which"},
	"provider":         {"llm.model", "provider and name in one, such as anthropic/claude-haiku-4-5"},
	"providers": {
		"llm.providers",
		"and what was providers.routing_strategy is llm.model: cheap_first, with the models in llm.strategies.cheap_first",
	},
	"routing_strategy": {"llm.model", "such as cheap_first, with the models in llm.strategies.cheap_first"},
	"max_tool_rounds":  {"", "the rounds of a task are fixed"},
	"retry":            {"", "a failed call is tried again; llm.timeout bounds one"},
	"circuit_breaker":  {"", "a provider that keeps failing is paused; llm.strategies names what takes its place"},
	"task": {
		"",
		"the time of a task is fixed; budget.per_run bounds what it costs, and tasks.folder has those that /run starts",
	},
	"timeout_sec":        {"", "the time of a task is fixed; llm.timeout bounds one call of a model"},
	"maxConcurrentRuns":  {"", "how many scheduled tasks run at a time is fixed"},
	"cron":               {"", "/cron and /jobs in the admin room set recurring jobs"},
	"memory.enabled":     {"", "notes are taken where llm.model names a model; chats.networks and /mode off keep chats out"},
	"memory_section_cap": {"memory.memory_max_sections", ""},
	"decay_rate":         {"", "how much weight recent use has is fixed, and never above what fits the question"},
	"interval_minutes":   {"heartbeat.every", "such as 30m"},
	"interval_hours":     {"heartbeat.every", "such as 4h"},
	"active_hours":       {"heartbeat.active_from", "and heartbeat.active_until, in hours"},
	"heartbeat.timezone": {"time_zone", "one for everything, at the top"},
	"background_agent":   {"heartbeat", "heartbeat.tasks has it look at open tasks, heartbeat.drafts lets it write drafts"},
	"business.handover":  {"business.escalation.text", "the same text"},
	"allowed_urls":       {"business.pages", "the pages that customers are answered from"},
	"admin_chat":         {"", "escalations come to the admin room"},
	"escalate_keywords":  {"business.escalation.keywords", ""},
	"security":           {"", "/pin in the admin room sets a PIN; what a contact may cause is fixed in the program"},
	"monitors.http":      {"monitors", "write a section for each under its name, such as monitors.shop.url"},
	"monitors.process":   {"monitors", "write a section for each under its name, such as monitors.disk.command"},
	"interval_sec":       {"monitors", "monitors.NAME.every is the time between two checks, such as 1m"},
	"cooldown_sec":       {"monitors", "monitors.NAME.cooldown is the time between two alerts, such as 5m"},
	"min_failures":       {"monitors", "monitors.NAME.failures is how many checks in a row must fail"},
	"alert_on_status":    {"monitors", "monitors.NAME.status lists what is good, such as [200-299]"},
	"error_pattern":      {"monitors", "monitors.NAME.lacks is a text that must not be in the output"},
	"observability":      {"logging", "multis health says whether it is ready"},
	"intent":             {"shortcuts", "your own words for commands"},
	"replay":             {"", "every task can be gone through again: multis replay NUMBER"},
	"bus":                {"", "what waits is in the database and is never dropped"},
	"deployment":         {"", "there is one way to run it; multis chat tries it without a homeserver"},
}

// otherProgramHint says which key to write instead of a key of another program. It is empty for keys that are not in otherProgramKeys.
func otherProgramHint(key string) string {
	it, ok := otherProgramKeys[key]
	if !ok {
		it, ok = otherProgramKeys[keyName(key)]
	}
	switch {
	case !ok:
		return ""
	case it.ours == "":
		return "there is no such setting here: " + it.note
	default:
		return strings.TrimSuffix("it is called "+it.ours+" here: "+it.note, ": ")
	}
}
