package admin

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/business"
	"multis/business/hours"
	"multis/config"
	"multis/internal/text"
	"multis/safety/pin"
	"multis/store"
)

// Previewer answers as in a business chat, without sending anything.
type Previewer interface {
	// Preview returns what a contact would get for a question that the owner wrote in message.
	Preview(ctx context.Context, room store.Chat, message store.Message, question string) (Preview, error)
}

// Preview is what a contact would get for a question.
type Preview struct {
	Text      string // the answer; empty for none
	Citations []store.Citation
	Why       string // why it is this answer, or why there is none
	Escalates bool   // a person would have to answer
}

// businessCommands sets up what contacts of the business get, and shows it.
type businessCommands struct {
	base

	dialogs   *dialogs
	config    Configuration // nil without a configuration file
	previewer Previewer
}

// commands returns the command about the business.
func (bc *businessCommands) commands() []command {
	if bc.config == nil || bc.previewer == nil {
		return []command{{
			name:        "business",
			aliases:     businessAliases,
			unavailable: businessHint,
		}}
	}
	return []command{{
		name: "business", args: "[setup, show, preview or clear]", group: groupCustomers, run: bc.run,
		summary: "set up what customers get",
		aliases: businessAliases,
		hint:    "`/business` shows and changes what I tell customers; `/mode business Ana` has me answer Ana.",
		help: "`/business setup` asks for the name, the greeting, topics, rules, pages, hours, tone and operators, one by one, and lets you try it as a customer. `skip` keeps what is set, `back` returns to the question before, " +
			"`cancel` stops; `/business setup` continues there, `/business setup hours` asks for one again. `/business preview Do you deliver?` shows what a customer would get, and sends nothing. " +
			"`/business show` lists what is set, `/business clear` takes it all back to config.yaml. No chat is answered because of it: `/mode business Ana` does that.",
	}}
}

// questions returns the kinds of questions of the topic.
func (bc *businessCommands) questions() []func() question {
	return []func() question{
		func() question { return &businessStep{business: bc} },
		func() question { return &confirmBusinessClear{} },
	}
}

// businessAliases are the aliases of /business.
var businessAliases = []string{"customers"}

// businessHint says what to use where there is no /business.
const businessHint = "What I tell customers is in config.yaml under `business:`; `/mode business Ana` has me answer Ana."

// run carries out /business.
func (bc *businessCommands) run(ctx context.Context, r request, args string) (answer, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(verb) {
	case "", "show":
		return bc.show(ctx, r)
	case "setup":
		return bc.setup(ctx, rest)
	case "preview":
		if rest == "" {
			return answer{text: "Write the question of a customer after it: `/business preview Do you deliver on Sundays?`"}, nil
		}
		return bc.preview(ctx, r, rest)
	case "clear":
		return answer{text: "**Take back everything** that was set with `/business setup`? What config.yaml says applies again. `yes` or `no`.", question: &confirmBusinessClear{}}, nil
	default:
		return answer{text: "Try `/business setup`, `/business show`, `/business preview Do you deliver?`, `/business clear`."}, nil
	}
}

// show lists the settings of the business, with a dash for those that are not set.
func (bc *businessCommands) show(ctx context.Context, r request) (answer, error) {
	settings, err := store.ConfigSettings(ctx, bc.store.DB())
	if err != nil {
		return answer{}, err
	}
	values, err := bc.config.Values(settings)
	if err != nil {
		return answer{text: "config.yaml has become invalid; I keep what I read before:\n" + esc(err.Error())}, nil
	}
	lines := []string{"**Your business**"}
	for _, key := range business.Keys() {
		i := slices.IndexFunc(values, func(v config.Entry) bool { return v.Key == key })
		if i < 0 {
			continue
		}
		shown := esc(text.Clip(text.OneLine(values[i].Value), 300))
		if shown == "" {
			shown = "—"
		}
		lines = append(lines, "- "+strings.TrimPrefix(strings.ReplaceAll(strings.TrimPrefix(key, "business."), ".", " "), "escalation ")+": "+
			shown)
	}
	holidays, err := bc.config.Holidays(settings)
	if err != nil {
		return answer{}, err
	}
	lines = append(lines, "- holidays: "+holidaysText(holidays, r.now.In(bc.settings.Zone)))
	return answer{text: strings.Join(lines, "\n") +
		"\n\n`/business setup` goes through all of it, `/business setup hours` asks for the hours only."}, nil
}

// maxHolidays is how many holidays are listed.
const maxHolidays = 8

// holidaysText lists the next holidays, the first ones first; a dash if none is to come.
func holidaysText(holidays []hours.Days, now time.Time) string {
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	holidays = slices.DeleteFunc(holidays, func(h hours.Days) bool { return h.Last.Before(today) })
	slices.SortFunc(holidays, func(a, b hours.Days) int { return cmp.Or(a.First.Compare(b.First), a.Last.Compare(b.Last)) })
	var days []string
	for _, h := range slices.Compact(holidays) {
		if len(days) == maxHolidays {
			return strings.Join(days, ", ") + " and later ones"
		}
		shown := h.First.Format("Mon 2 Jan 2006")
		if !h.Last.Equal(h.First) {
			shown += " to " + h.Last.Format("Mon 2 Jan 2006")
		}
		days = append(days, shown)
	}
	return cmp.Or(strings.Join(days, ", "),
		"— (`business.holidays`: `/config set business.holidays 2026-12-25, 2026-12-27..2027-01-02`; `business.holiday_calendar` in config.yaml)")
}

// setupProgress is the step that the setup has reached. It is stored, so that the setup can continue after a break.
type setupProgress struct {
	Step business.Step `json:"step"`
}

// setup begins or continues the setup, at a step if one is named.
func (bc *businessCommands) setup(ctx context.Context, at string) (answer, error) {
	progress := setupProgress{Step: business.StepName}
	resumed, err := store.GetSetting(ctx, bc.store.DB(), store.SettingBusinessSetup, &progress)
	if err != nil {
		return answer{}, err
	}
	if at != "" {
		step, ok := business.ParseStep(at)
		if !ok {
			return answer{text: "There is no such question. These are: " + stepNames() + "."}, nil
		}
		progress.Step, resumed = step, false
	}
	head := ""
	if resumed {
		head = "Going on where we stopped.\n"
	}
	ans, err := bc.ask(ctx, progress.Step, head)
	ans.pin = &pinNeed{pin.ActionConfig, "set up the business"} // before the first question, because each answer needs it
	return ans, err
}

// stepNames lists the steps as they are typed.
func stepNames() string {
	var names []string
	for _, s := range business.Steps() {
		names = append(names, code(string(s)))
	}
	return strings.Join(names, ", ")
}

// ask asks the question of a step and stores that the setup is there. head comes before the question.
func (bc *businessCommands) ask(ctx context.Context, step business.Step, head string) (answer, error) {
	present, err := bc.currentText(ctx, step)
	if err != nil {
		return answer{}, err
	}
	question := fmt.Sprintf("%s**%d of %d · %s** — %s%s", head, step.Number(), len(business.Steps()), step, step.Question(), present)
	if step != business.StepPreview {
		question += "\n`skip` leaves it as it is, `none` empties it, `back`, `cancel`."
	}
	return answer{
		text: question, question: &businessStep{business: bc, Step: step}, reason: "It is about the setup of the business.",
		change: func(ctx context.Context, tx store.Tx) error {
			if err := closeSteps(ctx, tx); err != nil {
				return err
			}
			return store.PutSetting(ctx, tx, store.SettingBusinessSetup, setupProgress{step})
		},
	}, nil
}

// closeSteps closes the open questions of the setup, of which there is one at most: whatever is typed answers it.
func closeSteps(ctx context.Context, tx store.Tx) error {
	return store.FinishDialogsOfKind(ctx, tx, kindBusiness)
}

// endSetup closes the questions of the setup and forgets its step.
func endSetup(ctx context.Context, tx store.Tx) error {
	if err := closeSteps(ctx, tx); err != nil {
		return err
	}
	return store.DropSetting(ctx, tx, store.SettingBusinessSetup)
}

// currentText says what is set for a step now; empty for nothing.
func (bc *businessCommands) currentText(ctx context.Context, step business.Step) (string, error) {
	settings, err := store.ConfigSettings(ctx, bc.store.DB())
	if err != nil {
		return "", err
	}
	values, err := bc.config.Values(settings)
	if err != nil {
		return "", nil //nolint:nilerr // the next answer reports it
	}
	var now []string
	for _, v := range values {
		switch {
		case v.Value == "":
		case strings.TrimPrefix(v.Key, "business.") == string(step):
			now = append(now, " Now: "+quote(text.OneLine(v.Value), 300))
		case step == business.StepTopics && v.Key == "business.escalation.keywords":
			now = append(now, " A person answers now: "+quote(text.OneLine(v.Value), 300))
		}
	}
	return strings.Join(now, ""), nil
}

// businessStep asks a question of the setup. Any text answers it: see handleAnswer.
type businessStep struct {
	yesOrNo

	business *businessCommands

	Step business.Step
}

// kindBusiness is the kind of questions of the setup.
const kindBusiness = "business"

func (businessStep) traits() traits {
	return traits{
		kind:     kindBusiness,
		command:  "business",
		lifetime: time.Hour,
	}
}

// answer handles reactions; handleAnswer handles typed answers.
func (q businessStep) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	switch {
	case r.message.Kind != string(bridgebridge.Reaction):
		return answer{}, false, nil
	case c.word == wordNo:
		return pauseSetup(), true, nil
	case c.word == wordYes && q.Step == business.StepPreview:
		return q.business.finish(), true, nil
	default:
		return answer{}, false, nil
	}
}

// pauseSetup answers that the setup is paused. Its step is stored, so that it can be continued.
func pauseSetup() answer {
	return answer{text: "Stopped; what you said so far is kept. `/business setup` continues.", change: closeSteps}
}

// handleAnswer handles a text that answers the open question of the setup. done is false if none is open, or if the text
// replies to another message.
func (bc *businessCommands) handleAnswer(ctx context.Context, r request, typed string) (_ answer, done bool, err error) {
	if !r.isOwner() || strings.TrimSpace(typed) == "" || r.message.Attachment != nil {
		return answer{}, false, nil
	}
	d, asked, err := bc.dialogs.findText(ctx, r, kindBusiness)
	if err != nil {
		return answer{}, false, err
	}
	if !asked {
		return answer{}, false, nil
	}
	if d.Done { // it was closed while the answer waited for the PIN
		return answer{text: "That question is closed.", reason: closedReason}, true, nil
	}
	q, err := bc.dialogs.read(d)
	if err != nil {
		return answer{}, false, err
	}
	step := q.(*businessStep).Step //nolint:forcetypeassert // by its kind
	if name, _ := parseCommand(typed); name != "" && (step != business.StepTopics || !strings.HasPrefix(strings.TrimSpace(typed), "!")) {
		return answer{}, false, nil // an unknown command; "!refund, !complaint" are topics
	}
	ans := pauseSetup()
	if word := strings.ToLower(strings.TrimSpace(typed)); word != "cancel" && word != "stop" {
		if ans, err = bc.handleStep(ctx, r, step, typed); err != nil {
			return answer{}, false, err
		}
	}
	ans.reason = "It answered the setup of the business."
	ans.change, ans.dialog = bc.dialogs.close(d, markDone, ans.change), d.ID
	return ans, true, nil
}

// setupBinding says what an answer to a step sets, for the question for the PIN.
func setupBinding(settings []business.Setting) string {
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.Key+" to "+s.Value)
	}
	return "set " + strings.Join(parts, ", ")
}

// handleStep carries out the answer to a step, and asks the next question.
func (bc *businessCommands) handleStep(ctx context.Context, r request, step business.Step, typed string) (answer, error) {
	switch word := strings.ToLower(strings.TrimSpace(typed)); {
	case word == "back":
		return bc.ask(ctx, step.Previous(), "")
	case step == business.StepPreview && (word == "done" || word == "skip"):
		return bc.finish(), nil
	case step == business.StepPreview:
		return bc.tryOut(ctx, r, typed)
	case word == "skip":
		return bc.ask(ctx, step.Next(), "Kept as it was.\n")
	}
	settings, err := step.Read(typed)
	if err == nil {
		err = bc.check(ctx, settings)
	}
	if err != nil {
		return bc.ask(ctx, step, "⚠️ Not taken: "+esc(firstMistake(err, settings))+". Try again.\n")
	}
	ans, err := bc.ask(ctx, step.Next(), "✅ Noted.\n")
	ans.pin = &pinNeed{pin.ActionConfig, setupBinding(settings)}
	advance := ans.change
	ans.change = func(ctx context.Context, tx store.Tx) error {
		for _, s := range settings {
			if err := store.PutSetting(ctx, tx, store.SettingConfig+store.Setting(s.Key), s.Value); err != nil {
				return err
			}
		}
		return advance(ctx, tx)
	}
	return ans, err
}

// predicate matches the beginning of a mistake that leaves out its subject, which is the key.
var predicate = regexp.MustCompile(`^(?:is|has|cannot) `)

// firstMistake returns the first mistake that the configuration found in settings, as a sentence without their keys.
func firstMistake(err error, settings []business.Setting) string {
	mistake, _, _ := strings.Cut(err.Error(), "\n")
	mistake = strings.TrimPrefix(mistake, "setting: ")
	for _, s := range settings {
		mistake = strings.TrimPrefix(mistake, s.Key+": ")
	}
	mistake = predicate.ReplaceAllString(mistake, "it $0")
	return text.Clip(text.OneLine(mistake), 300)
}

// check returns an error if the configuration does not accept the settings.
func (bc *businessCommands) check(ctx context.Context, settings []business.Setting) error {
	stored, err := store.ConfigSettings(ctx, bc.store.DB())
	if err != nil {
		return err
	}
	for _, s := range settings {
		if err := bc.config.Check(stored, s.Key, s.Value); err != nil {
			return err
		}
		stored[s.Key] = s.Value
	}
	return nil
}

// tryOut answers a test question as if a customer had asked it. The setup stays at the last step.
func (bc *businessCommands) tryOut(ctx context.Context, r request, question string) (answer, error) {
	shown, err := bc.previewText(ctx, r, question)
	if err != nil {
		return answer{}, err
	}
	return answer{text: shown + "\n\nAnother question, or `done`?", question: &businessStep{business: bc, Step: business.StepPreview}}, nil
}

// preview shows what a customer would get for a question.
func (bc *businessCommands) preview(ctx context.Context, r request, question string) (answer, error) {
	shown, err := bc.previewText(ctx, r, question)
	return answer{text: shown}, err
}

// maxPreviewQuestion is the maximum length of a test question, in characters. The rest is cut off.
const maxPreviewQuestion = 2000

// previewText formats what a customer would get for a question.
func (bc *businessCommands) previewText(ctx context.Context, r request, question string) (string, error) {
	p, err := bc.previewer.Preview(ctx, r.room, r.message, text.Clip(text.Clean(question), maxPreviewQuestion))
	if err != nil {
		return "", err
	}
	var lines []string
	switch {
	case p.Escalates:
		lines = append(lines, "🙋 **I would escalate** because: "+esc(p.Why), "The customer would read:")
	case p.Text == "":
		return "A customer would get **no answer**: " + esc(p.Why), nil
	default:
		lines = append(lines, "💬 **A customer would read:**")
	}
	for line := range strings.SplitSeq(p.Text, "\n") {
		lines = append(lines, "> "+esc(line))
	}
	for _, c := range p.Citations {
		lines = append(lines, "\nfrom "+esc(c.Source)+": "+quote(c.Quote, 150))
	}
	if !p.Escalates && p.Why != "" {
		lines = append(lines, "\n"+esc(p.Why))
	}
	return strings.Join(lines, "\n"), nil
}

// finish ends the setup.
func (bc *businessCommands) finish() answer {
	return answer{
		text: "**The setup is done.** No customer gets anything yet: `/mode business Ana` has me answer Ana, `/delivery draft Ana` shows you each answer first, `/delivery shadow Ana` compares without sending. " +
			"`/business show` lists what is set, `/answers add` keeps answers of yours.",
		change: endSetup,
	}
}

// confirmBusinessClear asks whether to reset everything that the setup has set.
type confirmBusinessClear struct{}

func (confirmBusinessClear) traits() traits {
	return traits{kind: "business-clear", command: "business"}
}

func (confirmBusinessClear) accepts(word string) bool { return word == wordYes }

func (confirmBusinessClear) answer(_ context.Context, _ request, c choice) (_ answer, done bool, err error) {
	if c.word != wordYes {
		return answer{}, false, nil
	}
	return answer{
		text: "Undone: what config.yaml says applies again.", reason: "The owner took back the setup of the business.",
		pin: &pinNeed{pin.ActionConfig, "clear the business"},
		change: func(ctx context.Context, tx store.Tx) error {
			for _, key := range business.Keys() {
				if err := store.DropSetting(ctx, tx, store.SettingConfig+store.Setting(key)); err != nil {
					return err
				}
			}
			return endSetup(ctx, tx)
		},
	}, true, nil
}
