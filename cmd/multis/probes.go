package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/config"
	"multis/internal/text"
	"multis/llm"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/policy"
)

// probes returns the tests of multis init. They call each model once.
func probes() setup.Probes {
	return setup.Probes{
		Homeserver: doctor.ProbeHomeserver, Account: probeAccount, Database: doctor.ProbeDatabase,
		Model: probeModels, Embeddings: probeEmbeddings, Speech: probeSpeech,
	}
}

// probeAccount checks that a user has an account. If the homeserver hides profiles, this is checked later, when it knows the registration.
func probeAccount(ctx context.Context, address, user string) doctor.Result {
	exists, known, err := appservice.NewInspector(appservice.Access{URL: address}).HasAccount(ctx, id.UserID(user))
	switch {
	case err != nil:
		return failedProbe(doctor.HomeserverUnreachable, err.Error(), "")
	case !known:
		return doctor.Result{Fact: user}
	case !exists:
		return failedProbe(doctor.OwnerAccount, doctor.MissingAccount(id.UserID(user)),
			"enter your own id, or make the account: "+doctor.AccountLine(id.UserID(user).Localpart()))
	default:
		return doctor.Result{Fact: user + " has an account"}
	}
}

// failedProbe returns the result of a probe that failed.
func failedProbe(id doctor.ID, message, fix string) doctor.Result {
	return doctor.Result{Findings: []doctor.Finding{{ID: id, Severity: doctor.Error, Message: message, Fix: fix}}}
}

// testLedger is the ledger of an installation that has no database yet. It applies the day's cap to each call separately.
type testLedger struct{}

// Reserve refuses a call that alone would exceed the day's cap.
func (testLedger) Reserve(_ context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	if s.Amount > s.DayCap {
		return policy.Reservation{Refused: policy.CapDay, FirstRefusal: true}, nil
	}
	return policy.Reservation{ID: 1}, nil
}

// Settle does nothing.
func (testLedger) Settle(context.Context, int64, policy.Settlement) error { return nil }

// testBudget returns the budget of one test call.
func testBudget(c *config.Config) llm.Budget {
	b := newBudget(c, nil)
	b.Ledger = testLedger{}
	return b
}

// probeModels calls each model that is in use once.
func probeModels(ctx context.Context, c *config.Config) doctor.Result {
	models, err := newModels(c, nil)
	if err != nil {
		return failedProbe(doctor.ModelConfig, err.Error(), "")
	}
	models.Budget = testBudget(c)
	var result doctor.Result
	var facts []string
	seeing := c.LLM.ResolveModels(c.Vision.Model)
	names := slices.DeleteFunc(slices.Clone(c.LLM.ResolveModels(c.LLM.Model)), func(name string) bool { return slices.Contains(seeing, name) })
	for _, name := range append(names, seeing...) {
		ctx, cancel := context.WithTimeout(ctx, modelTestTimeout)
		trial, err := models.Try(ctx, name, "", slices.Contains(seeing, name))
		cancel()
		if err != nil {
			result.Findings = append(result.Findings, failedProbe(doctor.ModelUnreachable, err.Error()+".", llm.HowToFix(err)).Findings...)
			continue
		}
		fact := fmt.Sprintf("%s says %s in %s", name, quoted(trial.Answer), text.Latency(trial.Duration))
		if trial.Cost > 0 {
			fact += " for " + text.ExactMoney(trial.Cost, c.Budget.Currency)
		}
		if info, err := models.Describe(name, ""); err == nil {
			fact += "; " + priceOf(info, c.Budget.Currency)
		}
		facts = append(facts, fact)
	}
	result.Fact = strings.Join(facts, "\n               ")
	return result
}

// probeEmbeddings embeds one word.
func probeEmbeddings(ctx context.Context, c *config.Config) doctor.Result {
	e := c.Embeddings
	budget := testBudget(c)
	budget.Price, budget.Local = llm.Price{In: int64(e.PricePerMTok)}, e.Local
	model, err := llm.OpenEmbedder(llm.EmbedConfig{
		Model:      e.Model,
		BaseURL:    e.BaseURL,
		APIKey:     e.APIKey.Value(),
		Dimensions: e.Dimensions,
		Timeout:    modelTestTimeout,
		Purpose:    "test",
	}, budget)
	if err != nil {
		return failedProbe(doctor.ModelConfig, err.Error(), "")
	}
	began := time.Now()
	vectors, err := model.Embed(ctx, []string{"ready"})
	if err != nil {
		return failedProbe(doctor.ModelUnreachable, err.Error()+".", llm.HowToFix(err))
	}
	return doctor.Result{Fact: fmt.Sprintf("%s answers with %d dimensions in %s; a million tokens cost %s", e.Model, len(vectors[0]),
		text.Latency(time.Since(began)), text.ExactMoney(int64(e.PricePerMTok), c.Budget.Currency))}
}

// probeSpeech transcribes half a second of silence, which succeeds with any transcript.
func probeSpeech(ctx context.Context, c *config.Config) doctor.Result {
	budget := testBudget(c)
	budget.Local = c.Speech.Local
	model, err := llm.OpenSpeech(llm.SpeechConfig{
		Model:     c.Speech.Model,
		BaseURL:   c.Speech.BaseURL,
		APIKey:    c.Speech.APIKey.Value(),
		Timeout:   c.Speech.Timeout,
		PerMinute: int64(c.Speech.PricePerMinute),
	}, budget)
	if err != nil {
		return failedProbe(doctor.ModelConfig, err.Error(), "")
	}
	began := time.Now()
	if _, err := model.Transcribe(ctx, llm.Audio{Data: silence(), MIME: "audio/wav", Length: silenceLength, Purpose: "test"}); err != nil {
		return failedProbe(doctor.ModelUnreachable, err.Error()+".", llm.HowToFix(err))
	}
	return doctor.Result{Fact: fmt.Sprintf("%s answers in %s; a minute costs %s", c.Speech.Model, text.Latency(time.Since(began)),
		text.ExactMoney(int64(c.Speech.PricePerMinute), c.Budget.Currency))}
}

const silenceLength = time.Second / 2

// silence returns a recording without sound: WAV, 16 bits, 8,000 samples a second.
func silence() []byte {
	const rate, bytesPerSample = 8000, 2
	size := uint32(silenceLength.Seconds() * rate * bytesPerSample)
	header := []byte("RIFF")
	header = binary.LittleEndian.AppendUint32(header, 36+size)
	header = append(header, "WAVEfmt "...)
	header = binary.LittleEndian.AppendUint32(header, 16)                  // length of the format
	header = binary.LittleEndian.AppendUint16(header, 1)                   // PCM
	header = binary.LittleEndian.AppendUint16(header, 1)                   // one channel
	header = binary.LittleEndian.AppendUint32(header, rate)                // samples a second
	header = binary.LittleEndian.AppendUint32(header, rate*bytesPerSample) // bytes a second
	header = binary.LittleEndian.AppendUint16(header, bytesPerSample)
	header = binary.LittleEndian.AppendUint16(header, 8*bytesPerSample)
	header = append(header, "data"...)
	header = binary.LittleEndian.AppendUint32(header, size)
	return append(header, make([]byte, size)...)
}
