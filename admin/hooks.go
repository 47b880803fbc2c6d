package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/jobs"
	"multis/store"
)

// hookCommands lists the webhooks that multis calls, and tests them.
type hookCommands struct {
	base
}

// commands returns the commands about hooks.
func (hk *hookCommands) commands() []command {
	return []command{
		{
			name: "hooks", args: "[test] [name]", group: groupControl, run: hk.run,
			summary: "programs that get my events",
			alone:   true,
			help:    "`/hooks` lists them with their last result, `/hooks desk` shows the last ten, `/hooks test desk` sends a test. Of those that are asked before a call or a message they show decisions; `failed` means that the hook gave none, and so denied. They are in config.yaml under `hooks:` and `command_hooks:`.",
		},
	}
}

// maxShownDeliveries is how many deliveries of one hook are shown.
const maxShownDeliveries = 10

// noHooksText says how to configure a hook.
const noHooksText = "No hooks. Add them in config.yaml: under `hooks:`, each with an address, events and a secret, those that tell other programs what happens here; " +
	"under `command_hooks:` programs of this machine, which can also be asked before a tool is called or a contact is sent something."

// run lists the hooks with their last delivery, or shows or tests one.
func (hk *hookCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	all, err := store.Hooks(ctx, hk.store.DB())
	if err != nil {
		return answer{}, err
	}
	asked, err := hk.askedLines(ctx)
	if err != nil {
		return answer{}, err
	}
	name, isTest := strings.CutPrefix(args, "test ")
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(hk.settings.AskedHooks, func(h AskedHook) bool { return strings.EqualFold(h.Name, name) })
	isTold := slices.ContainsFunc(all, func(h store.Hook) bool { return strings.EqualFold(h.Name, name) })
	switch {
	case len(all) == 0 && len(asked) == 0:
		return answer{text: noHooksText}, nil
	case i >= 0 && isTest && !isTold:
		return answer{text: "**" + esc(hk.settings.AskedHooks[i].Name) +
			"** is asked before something is done, and told of nothing, so there is no test of it. " +
			code("/hooks "+hk.settings.AskedHooks[i].Name) + " shows its last decisions."}, nil
	case i >= 0 && !isTest:
		ans, err := hk.showAsked(ctx, hk.settings.AskedHooks[i], asked[i])
		if err != nil {
			return ans, err
		}
		if !isTold {
			return ans, nil
		}
		told, err := hk.show(ctx, all, name)
		return answer{text: ans.text + "\n\n" + told.text}, err
	case isTest:
		return hk.test(all, name), nil
	case name != "":
		return hk.show(ctx, all, name)
	case len(all) == 0:
		return answer{text: strings.Join(append([]string{"**Hooks**"}, asked...), "\n")}, nil
	}
	lines := append([]string{"**Hooks**"}, asked...)
	for _, h := range all {
		last := "nothing told yet"
		deliveries, err := store.Deliveries(ctx, hk.store.DB(), h.Name, 1)
		if err != nil {
			return answer{}, err
		}
		if len(deliveries) > 0 {
			last = hk.deliveryText(deliveries[0])
		}
		lines = append(lines, fmt.Sprintf("**%s** → %s — %s · %s", esc(h.Name), esc(h.Target), esc(strings.Join(h.Events, ", ")), last))
	}
	return answer{text: strings.Join(append(lines, "`/hooks "+all[0].Name+"` shows what it was told, `/hooks test "+all[0].Name+"` tries it."),
		"\n")}, nil
}

// askedLines describes the hooks that are asked before something is done, with their last decisions.
func (hk *hookCommands) askedLines(ctx context.Context) ([]string, error) {
	var lines []string
	for _, h := range hk.settings.AskedHooks {
		last := "not asked yet"
		decisions, err := store.ListAudit(ctx, hk.store.DB(), store.AuditFilter{Rule: "hook:" + h.Name, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(decisions) > 0 {
			last = "last " + esc(decisions[0].Outcome) + ", " + hk.room.shortTime(decisions[0].At)
		}
		var before []string
		if slices.Contains(h.Before, "tool") {
			before = append(before, "calls of "+cmp.Or(strings.Join(h.Tools, ", "), "all tools"))
		}
		if slices.Contains(h.Before, "send") {
			before = append(before, "messages to contacts")
		}
		lines = append(lines, fmt.Sprintf("**%s** is asked before %s · %s", esc(h.Name), esc(text.List(before)), last))
	}
	return lines, nil
}

// showAsked shows the last decisions of a hook that is asked before something is done. title is its line in the list.
func (hk *hookCommands) showAsked(ctx context.Context, h AskedHook, title string) (answer, error) {
	decisions, err := store.ListAudit(ctx, hk.store.DB(), store.AuditFilter{Rule: "hook:" + h.Name, Limit: maxShownDeliveries})
	if err != nil {
		return answer{}, err
	}
	lines := []string{title}
	for _, d := range decisions {
		line := hk.room.shortTime(d.At) + " " + esc(d.Action) + ": " + esc(d.Outcome)
		if d.TaskID != 0 {
			line += fmt.Sprintf(" · task %d", d.TaskID)
		}
		lines = append(lines, line)
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// findHook returns the hook with a name. If there is none, unknown is the reply that lists the hooks there are.
func (hk *hookCommands) findHook(all []store.Hook, name string) (h store.Hook, unknown string) {
	var names []string
	for _, h := range all {
		if strings.EqualFold(h.Name, name) {
			return h, ""
		}
		names = append(names, h.Name)
	}
	for _, h := range hk.settings.AskedHooks {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return store.Hook{}, "I have no hook " + code(name) + ", only " + esc(text.List(names)) + "."
}

// show shows the last deliveries of a hook.
func (hk *hookCommands) show(ctx context.Context, all []store.Hook, name string) (answer, error) {
	h, unknown := hk.findHook(all, name)
	if unknown != "" {
		return answer{text: unknown}, nil
	}
	deliveries, err := store.Deliveries(ctx, hk.store.DB(), h.Name, maxShownDeliveries)
	if err != nil {
		return answer{}, err
	}
	lines := []string{fmt.Sprintf("**%s** → %s — %s", esc(h.Name), esc(h.Target), esc(strings.Join(h.Events, ", ")))}
	if h.FailingSince != nil {
		lines = append(lines, "⚠️ It has not worked since "+hk.room.shortTime(*h.FailingSince)+".")
	}
	if len(deliveries) == 0 {
		lines = append(lines, "Nothing told yet.")
	}
	for _, d := range deliveries {
		lines = append(lines, hk.deliveryText(d))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// deliveryText describes the result of a delivery.
func (hk *hookCommands) deliveryText(d store.Delivery) string {
	reply := hk.room.shortTime(d.At) + " " + esc(string(d.Event))
	switch {
	case d.State == store.DeliveryDelivered:
		return fmt.Sprintf("%s: ✅ %d", reply, d.Status)
	case d.State == store.DeliveryDropped:
		return reply + ": not told, " + esc(d.Error)
	case d.State == store.DeliveryFailed:
		return fmt.Sprintf("%s: ⚠️ given up after %s, %s", reply, attempts(d.Attempts), esc(text.Clip(d.Error, 200)))
	case d.Attempts > 0:
		return fmt.Sprintf("%s: not yet after %s, %s; I try again", reply, attempts(d.Attempts), esc(text.Clip(d.Error, 200)))
	default:
		return reply + ": on its way"
	}
}

// attempts formats a number of attempts.
func attempts(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

// test sends a test event to a hook.
func (hk *hookCommands) test(all []store.Hook, name string) answer {
	h, unknown := hk.findHook(all, name)
	if unknown != "" {
		return answer{text: unknown}
	}
	return answer{
		text: "I tell **" + esc(h.Name) + "** of a test. `/hooks " + h.Name + "` shows how it went.",
		change: func(ctx context.Context, tx store.Tx) error {
			delivery, err := store.AddTestDelivery(ctx, tx, h.Name)
			if errors.Is(err, store.ErrNotFound) {
				return nil // it was removed from the configuration meanwhile
			}
			if err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.DeliverHookArgs{DeliveryID: delivery})
		},
	}
}
