package admin

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/knowledge"
	"multis/store"
)

// watchCommands adds and removes watched pages, and webhooks that other programs call.
type watchCommands struct {
	base
}

// commands returns the commands about watches.
func (ws *watchCommands) commands() []command {
	return []command{
		{
			name: "watch", args: "[address, or inbox NAME]", group: groupControl, run: ws.run,
			summary: "watch a page, or receive webhooks",
			alone:   true,
			help: "`/watch https://example.com/jobs every 6h` tells what is new on a page (a look every 6 hours unless you say otherwise, 15 minutes at least). " +
				"`/watch inbox ci` makes an address that another program posts to; what it says is shown here. `/watch` lists, `/watch remove ci` ends one.",
		},
	}
}

// The interval between two fetches of a watched page. The minimum avoids load on the servers of others.
const (
	defaultInterval = 6 * time.Hour
	minInterval     = 15 * time.Minute
	maxInterval     = 30 * 24 * time.Hour
)

// maxWatches is the maximum number of watches.
const maxWatches = 100

// run lists, adds or removes watches.
func (ws *watchCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	all, err := store.Watches(ctx, ws.store.DB())
	if err != nil {
		return answer{}, err
	}
	verb, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case args == "":
		return answer{text: ws.list(all)}, nil
	case strings.EqualFold(verb, "remove"):
		return removeWatch(all, rest), nil
	case len(all) >= maxWatches:
		return answer{text: fmt.Sprintf("I watch %d things already, and no more than that. `/watch remove` and a name ends one.", maxWatches)},
			nil
	case strings.EqualFold(verb, "inbox"):
		return ws.addWebhook(all, rest), nil
	case knowledge.IsAddress(verb):
		return ws.addPage(all, verb, rest), nil
	default:
		return answer{text: "Try `/watch https://example.com/jobs every 6h`, `/watch inbox ci`, `/watch remove ci`."}, nil
	}
}

func (ws *watchCommands) list(all []store.Watch) string {
	if len(all) == 0 {
		return "I watch nothing. `/watch https://example.com/jobs` tells you when a page changes, `/watch inbox ci` lets another program call in."
	}
	lines := []string{"**Watched**"}
	for _, w := range all {
		what := "for programs that call in"
		if w.Kind == store.WatchPage {
			what = esc(w.Address) + ", every " + text.Duration(time.Duration(w.Interval)*time.Second)
		}
		news := "nothing new so far"
		switch {
		case w.Failures > 0:
			news = fmt.Sprintf("⚠️ cannot be read (%s)", esc(text.Clip(w.Error, 100)))
		case w.ChangedAt != nil:
			news = "last " + ws.room.ago(*w.ChangedAt)
		}
		lines = append(lines, fmt.Sprintf("**%s** — %s · %s", esc(w.Name), what, news))
	}
	return strings.Join(append(lines, "`/watch remove "+all[0].Name+"` ends one."), "\n")
}

// parseInterval reads "every 6h". The empty text is the default interval.
func parseInterval(text string) (time.Duration, bool) {
	fields := strings.Fields(strings.ToLower(text))
	if len(fields) == 0 {
		return defaultInterval, true
	}
	length := strings.Join(fields[1:], "")
	if days, ok := strings.CutSuffix(length, "d"); ok {
		length = days + "h"
		d, err := time.ParseDuration(length)
		return 24 * d, err == nil && fields[0] == "every"
	}
	d, err := time.ParseDuration(length)
	return d, err == nil && fields[0] == "every"
}

// addPage adds a watch on a page.
func (ws *watchCommands) addPage(all []store.Watch, address, rest string) answer {
	every, ok := parseInterval(rest)
	if !ok {
		return answer{text: "I don't know " + code(rest) + ". Try `every 30m`, `every 6h`, `every 2d`."}
	}
	if every < minInterval || every > maxInterval {
		return answer{text: "I look no more often than every 15 minutes, and at least once in 30 days."}
	}
	name := slug(knowledge.AddressName(address))
	for n := 2; hasWatch(all, name); n++ {
		if slices.ContainsFunc(all, func(w store.Watch) bool { return w.Address == address }) {
			return answer{text: "I watch that page already: `/watch` lists it."}
		}
		name = fmt.Sprintf("%s-%d", slug(knowledge.AddressName(address)), n)
	}
	row := store.Watch{Name: name, Kind: store.WatchPage, Address: address, Interval: int64(every.Seconds())}
	return answer{
		text: fmt.Sprintf("👁 I look at **%s** every %s and tell you what is new. `/watch remove %s` ends it.", esc(name), text.Duration(every),
			name),
		change: func(ctx context.Context, tx store.Tx) error {
			watch, err := store.InsertWatch(ctx, tx, row)
			if err != nil {
				return err
			}
			if watch == 0 {
				return nil
			}
			return jobs.Enqueue(ctx, tx, jobs.CheckPageArgs{WatchID: watch})
		},
	}
}

// hasWatch reports whether a watch has a name.
func hasWatch(all []store.Watch, name string) bool {
	return slices.ContainsFunc(all, func(w store.Watch) bool { return w.Name == name })
}

// addWebhook adds a webhook that other programs call.
func (ws *watchCommands) addWebhook(all []store.Watch, name string) answer {
	switch {
	case ws.settings.WebhookAddress == "":
		return answer{text: "Nobody can call in: set `watches.port` in config.yaml, and `watches.address` if callers reach it through a web server."}
	case name == "" || slug(name) != name:
		return answer{text: "Give it a name of small letters, digits and dashes: `/watch inbox ci`."}
	case hasWatch(all, name):
		return answer{text: "There is a **" + esc(name) + "** already. `/watch remove " + name + "` ends it."}
	}
	token := rand.Text()
	row := store.Watch{Name: name, Kind: store.WatchWebhook, Token: store.HashToken(token)}
	return answer{
		text: fmt.Sprintf("📬 What is posted to %s is shown here. Who knows the address can post: I show it only now. `/watch remove %s` ends it.",
			code(ws.settings.WebhookAddress+"/watch/"+name+"/"+token), name),
		change: func(ctx context.Context, tx store.Tx) error {
			_, err := store.InsertWatch(ctx, tx, row)
			return err
		},
	}
}

var notInSlug = regexp.MustCompile(`[^a-z0-9.]+`)

// slug returns a name in lower case with only letters, digits, dots and dashes, for use in an address.
func slug(s string) string {
	return strings.Trim(text.Clip(notInSlug.ReplaceAllString(strings.ToLower(s), "-"), 60), "-.…")
}

// removeWatch removes the watch with a name.
func removeWatch(all []store.Watch, name string) answer {
	for _, w := range all {
		if strings.EqualFold(w.Name, name) {
			return answer{
				text:   "I don't watch **" + esc(w.Name) + "** any more.",
				change: func(ctx context.Context, tx store.Tx) error { return store.DeleteWatch(ctx, tx, w.ID) },
			}
		}
	}
	if len(all) == 0 {
		return answer{text: "I watch nothing."}
	}
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.Name
	}
	return answer{text: "I watch no " + code(name) + ", only " + esc(text.List(names)) + "."}
}
