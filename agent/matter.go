package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/schedule"
	"multis/store"
	"multis/text"
)

// verdict is what a model says of the matters it was shown. Its zero value is silence.
type verdict struct {
	Notify bool `json:"notify"`
	Tell   []struct {
		Matter string `json:"matter"`
		Text   string `json:"text"`
		Draft  string `json:"draft"` // what it would write to who the matter is about
	} `json:"tell"`

	all bool // tells everything, in no words of its own
}

// about says whether a matter is to be told, and in which words.
func (v verdict) about(matter string) (s string, tell bool) {
	if v.all {
		return "", true
	}
	if !v.Notify {
		return "", false
	}
	for _, t := range v.Tell {
		if t.Matter == matter {
			return text.Clip(text.CollapseSpaces(t.Text), maxMatterText), true
		}
	}
	return "", false
}

// draft is what is to be written about a matter, once the owner said yes; empty: nothing.
func (v verdict) draft(matter string) string {
	for _, t := range v.Tell {
		if v.Notify && t.Matter == matter {
			return text.Clip(strings.TrimSpace(t.Draft), maxDraftText)
		}
	}
	return ""
}

// maxDraftText is the longest text that is drafted, in characters.
const maxDraftText = 1500

// maxMatterText is the longest text about one matter, in characters.
const maxMatterText = 300

// plain tells every matter as it is.
func (b *beat) plain() verdict { return verdict{all: true} }

// readVerdict reads what a model says matters, with or without a code fence around it.
func readVerdict(answer string) (verdict, error) {
	object, ok := text.JSONObject(answer)
	if !ok {
		return verdict{}, errors.New("no JSON object in its answer")
	}
	var v struct {
		Notify *bool `json:"notify"`
		verdict
	}
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		return verdict{}, fmt.Errorf("read JSON: %w", err)
	}
	if v.Notify == nil {
		return verdict{}, errors.New("its answer does not say whether to notify")
	}
	v.verdict.Notify = *v.Notify
	return v.verdict, nil
}

// unlinked breaks the addresses that stand in nothing the model was given.
func (v verdict) unlinked(r *run) verdict {
	for i := range v.Tell {
		v.Tell[i].Text, v.Tell[i].Draft = r.unlinked(v.Tell[i].Text), r.unlinked(v.Tell[i].Draft)
	}
	return v
}

const (
	heartbeatRules = `You are %s, the owner's assistant, looking around by yourself. Nobody asked you anything; whatever you say interrupts the owner. Judge for each matter below
whether the owner has to know of it now. A matter that settles itself, a closing phrase, an advertisement or an automatic message does not matter. Tools only read; you send nothing to anybody.`

	heartbeatForm = `When you are done, answer with one JSON object and nothing else:
{"notify": true, "tell": [{"matter": "the name of the matter, copied exactly", "text": "one short sentence for the owner: what to do or decide"}]}
List only what matters. If nothing does, return {"notify": false, "tell": []}.`

	// draftForm is added where what could be written to a contact is drafted.
	draftForm = `Where writing to that person would settle the matter, add to its entry "draft": the words to send, in that person's language and in the owner's name, with nothing in them
that the conversation and the documents do not say. The owner reads each draft and decides.`

	heartbeatQuestion = "Which of these matters does the owner have to know of now?"
)

func itemKey(i int) string { return fmt.Sprintf("item:%d", i+1) }

// asks builds what a model is asked about the matters. What contacts wrote is fenced.
func (b *beat) asks(ctx context.Context, r *run) (asked, error) {
	offered, err := r.Tools.Offered(ctx, r.caller)
	if err != nil {
		return asked{}, err
	}
	name, err := store.AssistantName(ctx, r.Store.DB(), r.Name)
	if err != nil {
		return asked{}, err
	}
	coming, err := store.DueSchedules(ctx, r.Store.DB(), b.at.Add(comingUp))
	if err != nil {
		return asked{}, err
	}
	fence := r.fence()
	var body strings.Builder
	fmt.Fprintf(&body, "%s now\n%s\n", fence, schedule.Text(b.at, b.at, b.Zone))
	about := []int64{}
	for _, m := range b.matters {
		fmt.Fprintf(&body, "%s matter %s: %s\n%s\n", fence, m.Key, text.CollapseSpaces(b.facts(m)), text.Clip(m.Text, 1000))
		about = append(about, m.restsOn()...)
	}
	for i, item := range b.items {
		fmt.Fprintf(&body, "%s matter %s: the owner wants you to look at this\n%s\n", fence, itemKey(i), item)
	}
	if heard := b.fitting(r.limits); len(heard.Said) > 0 {
		body.WriteString(b.Memory.Transcript(heard, fence))
		for _, s := range heard.Said {
			about = append(about, s.ID)
		}
	}
	if len(coming) > 0 {
		fmt.Fprintf(&body, "%s reminders that come by themselves within half an hour\n", fence)
		for _, s := range coming {
			fmt.Fprintf(&body, "%s: %s\n", schedule.Text(*s.NextAt, b.at, b.Zone), text.CollapseSpaces(s.Body))
		}
	}
	fmt.Fprintf(&body, "%s question to answer\n%s\n%s end\n", fence, heartbeatQuestion, fence)
	parts, form := []string{fmt.Sprintf(heartbeatRules, r.name(name))}, heartbeatForm
	if b.pulse.Drafts {
		form += "\n" + draftForm
	}
	if persona := r.persona.prompt(false); persona != "" {
		parts = append(parts, persona)
	}
	request := llm.Request{
		System: strings.Join(append(parts, fenceRule, form), "\n\n"), Messages: []llm.Message{{Role: llm.RoleUser, Text: body.String()}},
		Purpose: kindHeartbeat, Chat: b.room.ID, JSON: len(offered) == 0,
	}
	for _, s := range offered {
		request.Tools = append(request.Tools, shownTool(s, fence))
	}
	return asked{Request: request, About: about}, nil
}

// fitting is what was said since the last look, as much of it as half of the model's room takes: the newest.
func (b *beat) fitting(l Limits) memory.Heard {
	heard := b.heard
	newest := slices.Clone(heard.Said)
	slices.SortStableFunc(newest, func(x, y store.Message) int { return y.At.Compare(x.At) })
	room, fits := (l.context()-l.reserve())/2, map[int64]bool{}
	for _, s := range newest {
		if room -= tokens(text.Clip(s.Body, 300)) + 20; room < 0 { // with who wrote it, and when
			break
		}
		fits[s.ID] = true
	}
	heard.Said = slices.DeleteFunc(slices.Clone(heard.Said), func(s store.Message) bool { return !fits[s.ID] })
	return heard
}

// facts says what a matter is, as far as multis knows by itself.
func (b *beat) facts(m matter) string {
	when := schedule.Text(m.At, b.at, b.Zone)
	switch m.Kind {
	case store.MatterUnanswered:
		return chatLabel(m.chat) + " has no answer since " + when
	case store.MatterEscalation:
		return chatLabel(m.chat) + " waits for you since " + when
	case store.MatterDue:
		return "promised in " + chatLabel(m.chat) + " and not settled, due " + when
	default:
		return fmt.Sprintf("task %d stands still or failed, since %s", m.Ref, when)
	}
}

// line is one matter, as the owner reads it.
func (b *beat) line(m matter, s string) string {
	line := "- " + text.Escape(b.facts(m)) + ": “" + text.Escape(text.Clip(text.CollapseSpaces(m.Text), 150)) + "”"
	if s != "" {
		line += " " + text.Escape(s)
	}
	if link := memory.Link(m.chat, m.EventID); link != "" && m.chat.Kind != policy.KindAdmin {
		line += " · [message](" + link + ")"
	}
	return line
}

// notice is what is said in the admin room.
func (b *beat) notice(lines []string) string {
	head := "🔔 **This may need you**"
	if len(lines) > 1 {
		head = fmt.Sprintf("🔔 **%d things may need you**", len(lines))
	}
	const most = 10
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most:most], fmt.Sprintf("- and %d more: `/status`", more))
	}
	return head + "\n\n" + strings.Join(lines, "\n")
}
