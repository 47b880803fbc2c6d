package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"multis/config"
	"multis/ops/doctor"
)

// modelPreset is a choice in the question for a model: a provider, a server of the owner's own, or no model.
type modelPreset struct {
	name  string // the answer that chooses it
	label string
	// model is the proposed value of the key model. The part before the slash is fixed; the rest is asked for.
	model     string
	key       string // an example of an API key; empty if none is needed
	local     bool
	url       string            // an example of an address; empty if none is asked for
	extraKeys map[string]string // further keys of the section, with their values
}

const noModel = "none"

var (
	languageModels = []modelPreset{
		{name: noModel, label: "none: it archives, searches, quotes and reminds", model: noModel},
		{name: "anthropic", label: "Anthropic", model: "anthropic/claude-haiku-4-5", key: "sk-ant-..."},
		{name: "openai", label: "OpenAI", model: "openai/gpt-5-mini", key: "sk-..."},
		{name: "gemini", label: "Google Gemini", model: "gemini/gemini-2.5-flash", key: "AIza..."},
		{name: "ollama", label: "Ollama on this machine", model: "ollama/qwen3:8b", local: true},
		{
			name:  "own",
			label: "a server of your own with OpenAI's API (vLLM, llama.cpp, LocalAI)",
			model: "openai/",
			url:   "http://127.0.0.1:8000/v1",
			local: true,
		},
	}
	embeddingModels = []modelPreset{
		{name: noModel, label: "none: it finds words, their forms and typing errors", model: noModel},
		{
			name:      "openai",
			label:     "OpenAI",
			model:     "openai/text-embedding-3-small",
			key:       "sk-...",
			extraKeys: map[string]string{"price_per_mtok": "0.02"},
		},
		{name: "ollama", label: "Ollama on this machine", model: "ollama/nomic-embed-text", local: true},
		{
			name:  "own",
			label: "a server of your own with OpenAI's API",
			model: "openai/",
			url:   "http://127.0.0.1:8000/v1",
			local: true,
		},
	}
	speechModels = []modelPreset{
		{name: noModel, label: "none: a voice note stays a line", model: noModel},
		{
			name:      "openai",
			label:     "OpenAI",
			model:     "openai/whisper-1",
			key:       "sk-...",
			extraKeys: map[string]string{"price_per_minute": "0.006"},
		},
		{
			name:  "own",
			label: "a server of your own with OpenAI's /audio/transcriptions",
			model: "openai/",
			url:   "http://127.0.0.1:8000/v1",
			local: true,
		},
	}
)

func (w *Wizard) askModel(ctx context.Context) error {
	return w.choose(ctx, "llm", "The language model",
		"It writes answers and notes. Every answer to a contact still needs a quote from your documents.", languageModels, w.Probes.Model)
}

func (w *Wizard) askEmbeddings(ctx context.Context) error {
	return w.choose(ctx, "embeddings", "Search by meaning",
		"An embedding model finds passages that say the same in other words. It needs pgvector.", embeddingModels, w.Probes.Embeddings)
}

func (w *Wizard) askSpeech(ctx context.Context) error {
	return w.choose(ctx, "speech", "Voice notes", "A speech model turns them into words.", speechModels, w.Probes.Speech)
}

// choose asks for the model of a section of the configuration, with its key and address, and tries it by probe.
func (w *Wizard) choose(ctx context.Context, section, title, help string, offers []modelPreset,
	probe func(context.Context, *config.Config) doctor.Result,
) error {
	try := func(ctx context.Context, _ string) doctor.Result {
		if w.value(section+".model") == noModel {
			return doctor.Result{}
		}
		c, _, err := w.parsed()
		if err != nil {
			return failedResult(doctor.ModelConfig, err.Error(), "")
		}
		return probe(ctx, c)
	}
	key := section + ".model"
	if w.isSettled(key) {
		err := w.accept(ctx, key, w.value(key), nil, try)
		switch {
		case err == nil || errors.Is(err, ErrAborted):
			return err
		case w.Asker == nil || w.isFixed(key):
			return fmt.Errorf("%s: %w", key, err)
		}
		w.printRejection(key, err)
	}
	for tried := ""; ; {
		before, data := w.value(key), w.data
		o, err := w.chooseOffer(ctx, section, title, help, offers)
		if err != nil {
			return err
		}
		if o.name == noModel {
			return w.set(key, noModel)
		}
		if o.name != keep {
			if err := w.describe(ctx, section, o); err != nil {
				return err
			}
		} else if before == noModel {
			return nil
		}
		result := try(ctx, "")
		if ctx.Err() != nil {
			return ErrAborted
		}
		PrintResult(w.Out, section, result)
		wrong := firstError(result)
		if wrong == nil {
			return nil
		}
		if wrong.ID == doctor.ModelConfig { // multis would not start with it
			w.data = data
			w.printf("Choose again.\n")
			continue
		}
		state := strings.Join([]string{w.value(key), w.value(section + ".api_key"), w.value(section + ".base_url")}, "\n")
		if tried == state {
			w.problems = append(w.problems, *wrong)
			return nil
		}
		tried = state
		w.printf("Choose again. What you enter a second time is kept as it is.\n")
	}
}

// keep is the answer that leaves the configured model as it is.
const keep = "keep"

// chooseOffer asks for the provider.
func (w *Wizard) chooseOffer(ctx context.Context, section, title, help string, offers []modelPreset) (modelPreset, error) {
	q := Question{Title: title, Help: help, Default: noModel}
	if now := w.value(section + ".model"); now != "" && now != noModel {
		q.Options, q.Default = append(q.Options, Option{keep, now + ", as it is configured"}), keep
	}
	for _, o := range offers {
		q.Options = append(q.Options, Option{o.name, o.label})
	}
	answer, err := w.Asker.Ask(ctx, q)
	if err != nil {
		return modelPreset{name: keep}, err
	}
	if answer == keep {
		return modelPreset{name: keep}, nil
	}
	return offers[slices.IndexFunc(offers, func(o modelPreset) bool { return o.name == answer })], nil
}

// describe asks for the name, the key and the address of a model and records them.
func (w *Wizard) describe(ctx context.Context, section string, o modelPreset) error {
	provider, _, _ := strings.Cut(o.model, "/")
	now := w.value(section + ".model")
	values := map[string]string{"model": "", "base_url": "", "api_key": "", "local": "false"}
	// checked returns the check of an answer, which becomes the value of a key.
	checked := func(key string, valueOf func(answer string) string) func(string) error {
		return func(answer string) error {
			values[key] = valueOf(answer)
			_, err := w.check([]string{section + "." + key}, inSection(section, values)...)
			return err
		}
	}
	asItIs := func(answer string) string { return answer }
	withProvider := func(name string) string { return provider + "/" + strings.TrimPrefix(name, provider+"/") }
	q := Question{Title: "The name of the model", Default: strings.TrimPrefix(o.model, provider+"/"), Check: checked("model", withProvider)}
	if name, ok := strings.CutPrefix(now, provider+"/"); ok {
		q.Default = name
	}
	name, err := w.Asker.Ask(ctx, q)
	if err != nil {
		return err
	}
	values["model"] = withProvider(name)
	if o.local && provider != "ollama" {
		values["local"] = "true"
	}
	if o.url != "" {
		if values["base_url"], err = w.Asker.Ask(ctx, Question{
			Title: "The address of the server", Help: "Such as " + o.url + ".", Default: orElse(w.value(section+".base_url"), o.url),
			Check: checked("base_url", asItIs),
		}); err != nil {
			return err
		}
	}
	if o.key != "" {
		known := ""
		if strings.HasPrefix(now, provider+"/") {
			known = w.value(section + ".api_key")
		} else if strings.HasPrefix(w.value("llm.model"), provider+"/") {
			known = w.value("llm.api_key")
		}
		if values["api_key"], err = w.Asker.Ask(ctx, Question{
			Title: "The API key", Help: "As " + o.key + ". It is written into config.yaml, which only multis can read.", Default: known,
			Secret: true,
			Check:  func(s string) error { return cmp.Or(notEmpty("an API key")(s), checked("api_key", asItIs)(s)) },
		}); err != nil {
			return err
		}
	}
	maps.Copy(values, o.extraKeys)
	w.data, err = w.edited(inSection(section, values)...)
	return err
}

// inSection returns the values of a section, in the order of their keys.
func inSection(section string, values map[string]string) []config.Value {
	var list []config.Value
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list = append(list, config.Value{Key: section + "." + key, Text: values[key]})
	}
	return list
}

func notEmpty(what string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("type " + what)
		}
		return nil
	}
}
