package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"multis/internal/text"
)

// node is a part of a JSON document: an object, a list, or a value.
type node struct{ value any }

// at returns the part below a path of names; an empty node if there is none.
func (n node) at(path ...string) node {
	for _, name := range path {
		object, _ := n.value.(map[string]any)
		n = node{object[name]}
	}
	return n
}

func (n node) exists() bool { return n.value != nil }

// list returns the parts of a list.
func (n node) list() []node {
	values, _ := n.value.([]any)
	parts := make([]node, len(values))
	for i, v := range values {
		parts[i] = node{v}
	}
	return parts
}

// text returns a value as text; empty for an object, a list and null.
func (n node) text() string {
	switch v := n.value.(type) {
	case string:
		return text.OneLine(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}

// lines returns a text with its line breaks; empty for anything else.
func (n node) lines() string {
	s, _ := n.value.(string)
	return s
}

// first returns the first text that is not empty.
func (n node) first(names ...string) string {
	for _, name := range names {
		if said := n.at(strings.Split(name, ".")...).text(); said != "" {
			return said
		}
	}
	return ""
}

// sentence joins the parts of a sentence that are not empty.
func sentence(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// programs returns the readers of the bodies that are read as sentences, those of the most particular form first. A reader
// returns an empty text for a body of another program.
func programs() []func(body node) string {
	return []func(node) string{
		readCloudEvent,
		readAlerts, // Alertmanager and Grafana
		readUptimeKuma,
		readGitLab,
		readGitHub, // and Gitea and Forgejo
		readBitbucket,
		readSentry,
		readDiscord,
		readSlack, // and Mattermost
		readTeams,
	}
}

// jsonText returns a JSON body as text for people: as a sentence if a known program wrote it, else its text fields, else its values with
// their names. It is never JSON.
func jsonText(body []byte) string { return nodeText(jsonBody(body)) }

// jsonBody returns a JSON body; an empty node for any other.
func jsonBody(body []byte) node {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return node{}
	}
	return node{value}
}

func nodeText(n node) string {
	for _, read := range programs() {
		if said := read(n); said != "" {
			return said
		}
	}
	var parts []string
	for _, name := range textFields() {
		if said := n.first(name, name+".text"); said != "" && !slices.Contains(parts, said) {
			parts = append(parts, said)
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " — ")
	}
	if said := n.text(); said != "" {
		return said
	}
	return sentence(", ", valuesBelow("", n, maxDepth)...)
}

const (
	// maxDepth is how deep the values of an unknown body are looked for, and maxValues is how many are shown.
	maxDepth  = 6
	maxValues = 12
	// maxValue is the length to which one is cut, in characters.
	maxValue = 200
)

// valuesBelow returns the values below a part with their names. Those for programs are left out: ids, addresses, hashes.
func valuesBelow(name string, n node, depth int) []string {
	if depth < 0 {
		return nil
	}
	var values []string
	switch v := n.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			values = append(values, valuesBelow(key, node{v[key]}, depth-1)...)
		}
	case []any:
		for _, part := range v {
			values = append(values, valuesBelow(name, node{part}, depth-1)...)
		}
	default:
		said := n.text()
		if said == "" || isForPrograms(name, said) {
			return nil
		}
		values = []string{strings.TrimPrefix(strings.ReplaceAll(name, "_", " ")+": "+text.Clip(said, maxValue), ": ")}
	}
	return values[:min(len(values), maxValues)]
}

// isForPrograms reports whether a value says nothing to people.
func isForPrograms(name, said string) bool {
	name = strings.ToLower(name)
	for _, ending := range []string{"id", "url", "uri", "href", "token", "hash", "sha", "key", "fingerprint", "version", "signature"} {
		if name == ending || strings.HasSuffix(name, "_"+ending) || ending == "id" && strings.HasSuffix(name, "uuid") {
			return true
		}
	}
	return strings.Contains(said, "://") || len(said) >= 32 && !strings.Contains(said, " ")
}

func readCloudEvent(b node) string {
	if !b.at("specversion").exists() || !b.at("type").exists() || !b.at("source").exists() {
		return ""
	}
	return sentence(" — ", b.at("type").text()+" from "+b.at("source").text(), b.at("subject").text(), nodeText(b.at("data")))
}

// maxAlerts is how many alerts of one body are shown.
const maxAlerts = 5

// readAlerts reads what Alertmanager, Grafana and programs that copy them send.
func readAlerts(b node) string {
	alerts := b.at("alerts").list()
	if rule := b.at("ruleName").text(); rule != "" && b.at("state").exists() { // Grafana before version 9
		return stateSign(b.at("state").text()) + sentence(" — ", sentence(" ", rule, b.at("state").text()), b.at("message").text())
	}
	if len(alerts) == 0 {
		return ""
	}
	var parts []string
	for _, a := range alerts[:min(len(alerts), maxAlerts)] {
		labels, notes := a.at("labels"), a.at("annotations")
		if !labels.exists() && !notes.exists() {
			return ""
		}
		status := cmp.Or(a.first("status"), b.at("status").text())
		said := sentence(": ", notes.first("summary", "title"), notes.first("description", "message"))
		name := labels.at("alertname").text()
		if said == "" {
			said = sentence(", ", valuesBelow("", node{withoutKey(labels.value, "alertname")}, 1)...)
		} else {
			said = sentence(", ", said, labels.first("instance"))
		}
		parts = append(parts, stateSign(status)+sentence(" — ", sentence(" ", name, status), said))
	}
	if more := len(alerts) - maxAlerts; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func withoutKey(value any, key string) any {
	object, _ := value.(map[string]any)
	object = maps.Clone(object)
	delete(object, key)
	return object
}

// stateSign returns a sign for a state that needs somebody, or no longer does.
func stateSign(state string) string {
	switch strings.ToLower(state) {
	case "firing", "alerting", "down", "failed", "failure", "error":
		return "🔴 "
	case "resolved", "ok", "up", "success", "successful":
		return "✅ "
	default:
		return ""
	}
}

func readUptimeKuma(b node) string {
	if !b.at("heartbeat").exists() && !b.at("monitor").exists() || !b.at("msg").exists() {
		return ""
	}
	name := b.at("monitor", "name").text()
	states := map[string]string{"0": "down", "1": "up", "2": "pending", "3": "maintenance"}
	state := states[b.at("heartbeat", "status").text()]
	if name == "" || state == "" {
		return b.at("msg").text()
	}
	return stateSign(state) + sentence(": ", name+" is "+state, b.at("heartbeat", "msg").text())
}

func readSentry(b node) string {
	event := b.at("event")
	for _, name := range []string{"event", "error", "issue", "metric_alert"} {
		if part := b.at("data", name); part.exists() {
			event = part
		}
	}
	title := sentence(": ", event.first("title", "metadata.title", "metadata.type"), event.first("metadata.value"))
	if title == "" {
		title = b.at("data", "description_title").text()
	}
	project := b.first("project_name", "project")
	if title == "" || !b.at("action").exists() && project == "" {
		return ""
	}
	return sentence(" — ", sentence(" ", "Sentry", project, b.first("action", "level")), title, event.first("culprit", "location"),
		b.at("data", "description_text").text())
}

func readDiscord(b node) string {
	var parts []string
	for _, e := range b.at("embeds").list() {
		parts = append(parts, sentence(" — ", e.at("title").text(), e.at("description").text(), fieldText(e.at("fields"), "name")))
	}
	if len(parts) == 0 {
		return ""
	}
	return sentence(" — ", append([]string{b.at("content").text()}, parts...)...)
}

// fieldText returns a list of fields with their values. name is the key of their names.
func fieldText(fields node, name string) string {
	var parts []string
	for _, f := range fields.list() {
		parts = append(parts, sentence(": ", f.at(name).text(), f.at("value").text()))
	}
	return sentence(", ", parts...)
}

func readSlack(b node) string {
	var parts []string
	for _, block := range b.at("blocks").list() {
		parts = append(parts, blockText(block)...)
	}
	for _, a := range b.at("attachments").list() {
		if a.at("content").exists() {
			return "" // of Teams
		}
		for _, block := range a.at("blocks").list() {
			parts = append(parts, blockText(block)...)
		}
		said := sentence(" — ", a.at("pretext").text(), a.at("title").text(), a.at("text").text(), fieldText(a.at("fields"), "title"))
		if said == "" {
			said = a.at("fallback").text()
		}
		parts = append(parts, said)
	}
	if said := b.at("text").text(); said != "" && !slices.Contains(parts, said) && len(parts) > 0 {
		parts = append([]string{said}, parts...)
	}
	return sentence(" — ", parts...)
}

// blockText returns the texts of a block of Slack.
func blockText(block node) []string {
	var parts []string
	add := func(n node) {
		if said := n.at("text").text(); said != "" {
			parts = append(parts, said)
		}
	}
	add(block)
	add(block.at("text"))
	for _, name := range []string{"fields", "elements"} {
		for _, part := range block.at(name).list() {
			parts = append(parts, blockText(part)...)
		}
	}
	return parts
}

func readTeams(b node) string {
	var parts []string
	if b.at("@type").text() == "MessageCard" {
		parts = append(parts, b.first("title", "summary"), b.at("text").text())
		for _, s := range b.at("sections").list() {
			parts = append(parts, s.at("activityTitle").text(), s.at("text").text(), fieldText(s.at("facts"), "name"))
		}
	}
	for _, a := range b.at("attachments").list() {
		for _, part := range a.at("content", "body").list() {
			parts = append(parts, part.at("text").text(), fieldText(part.at("facts"), "title"))
		}
	}
	return sentence(" — ", parts...)
}
