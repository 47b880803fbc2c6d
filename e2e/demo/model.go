package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix/event"

	"multis/config"
	"multis/llm/llmtest"
)

const (
	ownersQuestion = "What do we take for an inspection with brakes and gears? And how many questions did you answer today?"
	inspection     = "Inspection with brakes and gears: 45 €"
)

var (
	repliesWritten = regexp.MustCompile(`written reply: (\d+)`)
	passageOf      = regexp.MustCompile(`passage (\d+): [^\n]*` + regexp.QuoteMeta(priceListName))
)

// scriptedReply is a scripted model with OpenAI's protocol. It calls two tools and answers from their results.
func scriptedReply(_ context.Context, r llmtest.Request) llmtest.Reply {
	var results strings.Builder
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results.WriteString(m.Text + "\n")
		}
	}
	read := results.String()
	if read == "" {
		return llmtest.Reply{Calls: []llmtest.Call{
			{Name: "search_docs", Args: `{"query": "inspection brakes gears"}`},
			{Name: "audit_summary", Args: `{"hours": 24}`},
		}}
	}
	type sentence struct {
		Text   string `json:"text"`
		Source int    `json:"source"`
		Quote  string `json:"quote"`
	}
	priced, counted := sentence{Text: "An inspection with brakes and gears is 45 €.", Quote: inspection}, "no"
	if found := passageOf.FindStringSubmatch(read); found != nil {
		priced.Source, _ = strconv.Atoi(found[1])
	}
	if found := repliesWritten.FindStringSubmatch(read); found != nil {
		counted = found[1]
	}
	answer, err := json.Marshal(map[string][]sentence{"sentences": {
		priced,
		{Text: "Today I wrote " + counted + " answers to contacts, each one with its source in the price list."},
	}})
	if err != nil {
		return llmtest.Reply{Status: http.StatusInternalServerError}
	}
	return llmtest.Reply{Text: string(answer)}
}

// unhurried is a response writer that writes as slowly as a model generates text.
type unhurried struct{ http.ResponseWriter }

func (u unhurried) Write(data []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return u.ResponseWriter.Write(data)
}

func (u unhurried) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// modelSteps are the steps with a model.
type modelSteps struct{ *demo }

// askModel asks a question that a model answers with two tools, and shows how the answer came about.
func (d modelSteps) askModel(ctx context.Context) error {
	if d.model != config.NoModel {
		return d.askTools(ctx)
	}
	script := llmtest.New(scriptedReply)
	model := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { script.ServeHTTP(unhurried{w}, r) }))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve a model: %w", err)
	}
	model.Listener = listener
	model.Start()
	defer model.Close()
	if err := d.restart(ctx, model.URL+"/v1"); err != nil {
		return err
	}
	d.out.check("multis is up with a model: a scripted one on this machine, that speaks as OpenAI's do and costs 10 € for a million tokens")
	if err := d.askTools(ctx); err != nil {
		return err
	}
	return d.restart(ctx, "")
}

// restart restarts multis with or without a model.
func (d *demo) restart(ctx context.Context, model string) error {
	if err := d.multis.Term(); err != nil {
		return fmt.Errorf("end multis: %w", err)
	}
	d.settings.Model = model
	return d.startMultis(ctx)
}

// askTools asks a question, waits for the final answer, and shows its intermediate states.
func (d modelSteps) askTools(ctx context.Context) error {
	d.out.says("you (admin room)", cyan, ownersQuestion)
	sent, err := d.rig.Owner.SendText(ctx, d.admin, ownersQuestion)
	if err != nil {
		return fmt.Errorf("write into the admin room: %w", err)
	}
	var shown []string
	err = d.await(ctx, "the whole answer", func(ctx context.Context) (bool, error) {
		timeline, err := d.rig.Timeline(ctx, d.admin)
		if err != nil {
			return false, err
		}
		shown = nil
		asked := false
		for _, evt := range timeline {
			if asked && evt.Type == event.EventMessage && evt.Sender == botID {
				shown = append(shown, strings.TrimPrefix(evt.Content.AsMessage().Body, "* "))
			}
			asked = asked || evt.ID == sent.EventID
		}
		return len(shown) > 0 && strings.Contains(shown[len(shown)-1], "2 tools"), nil
	})
	if err != nil {
		return err
	}
	for _, text := range shown {
		d.out.says("multis (admin room)", cyan, text)
	}
	last := shown[len(shown)-1]
	hasSource := strings.Contains(last, priceListName) || strings.Contains(last, priceListTitle)
	switch {
	case len(shown) < 2:
		return errors.New("the answer was not shown while it was written")
	case !strings.Contains(last, "45 €") || !hasSource:
		return fmt.Errorf("the answer does not hold both %q and its source", "45 €")
	case !strings.Contains(last, "EUR"):
		return errors.New("the answer does not say what it cost")
	}
	d.out.check("one message, changed %d times while it was written; two tools, one source, and what it cost", len(shown)-1)
	return d.awaitIdle(ctx)
}
