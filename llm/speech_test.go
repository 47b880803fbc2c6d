package llm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
)

// limitedLedger is a Ledger with a limited amount of money.
type limitedLedger struct {
	left     int64
	reserved []policy.SpendRequest
	settled  []int64
}

func (p *limitedLedger) Reserve(_ context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	if s.Amount > p.left {
		return policy.Reservation{Refused: "day", FirstRefusal: len(p.reserved) == 0}, nil
	}
	p.reserved = append(p.reserved, s)
	return policy.Reservation{ID: int64(len(p.reserved))}, nil
}

func (p *limitedLedger) Settle(_ context.Context, _ int64, s policy.Settlement) error {
	p.settled = append(p.settled, s.Amount)
	return nil
}

// voiceNote returns a voice note of ten seconds and 20 kB.
func voiceNote() llm.Audio {
	return llm.Audio{
		Data:    []byte(strings.Repeat("opus", 5000)),
		MIME:    "audio/ogg; codecs=opus",
		Length:  10 * time.Second,
		Purpose: "speech",
		Chat:    7,
	}
}

func openSpeech(t *testing.T, server *llmtest.SpeechServer, p *limitedLedger) llm.Transcriber {
	t.Helper()
	// 0.006 a minute, as whisper-1 costs.
	s, err := llm.OpenSpeech(llm.SpeechConfig{
		Model:     "openai/whisper-1",
		BaseURL:   server.URL,
		APIKey:    "sk-secret",
		PerMinute: 6000,
		Timeout:   30 * time.Second,
	},
		llm.Budget{Ledger: p, DayCap: 1_000_000, ChatCap: 500_000, Today: func() string { return "2026-11-21" }})
	require.NoError(t, err)
	return s
}

func TestTranscribe_PaidByMinute(t *testing.T) {
	t.Parallel()
	server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript {
		return llmtest.Transcript{Text: " What does delivery cost?\n", Seconds: 10}
	})
	p := &limitedLedger{left: 1_000_000}
	text, err := openSpeech(t, server, p).Transcribe(t.Context(), voiceNote())
	require.NoError(t, err)
	require.Equal(t, "What does delivery cost?", text)
	require.Equal(t, []llmtest.Recording{{
		Model: "whisper-1", Format: "json", Name: "recording.ogg", MIME: "audio/ogg", Key: "sk-secret", Data: voiceNote().Data,
	}}, server.Requests(), "and the sender's name for the file stays here")
	require.Equal(t, []policy.SpendRequest{{
		Day: "2026-11-21", Chat: 7, Purpose: "speech", Model: "openai/whisper-1", Amount: 4100, DayCap: 1_000_000, ChatCap: 500_000,
	}}, p.reserved, "20 kB can hold 41 s of speech")
	require.Equal(t, []int64{1000}, p.settled, "ten seconds")
}

func TestTranscribe_ReservesByLengthOrSize(t *testing.T) {
	t.Parallel()
	server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{Text: "hm"} })
	p := &limitedLedger{left: 1_000_000}
	long := voiceNote()
	long.Length = 10 * time.Minute
	_, err := openSpeech(t, server, p).Transcribe(t.Context(), long)
	require.NoError(t, err)
	require.Equal(t, int64(60_000), p.reserved[0].Amount)
	require.Equal(t, []int64{60_000}, p.settled, "a server that does not say how long it was is paid for the worst case")
}

func TestTranscribe_OverBudgetSendsNothing(t *testing.T) {
	t.Parallel()
	server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{Text: "hm"} })
	p := &limitedLedger{left: 4099}
	_, err := openSpeech(t, server, p).Transcribe(t.Context(), voiceNote())
	var over *llm.OverBudgetError
	require.ErrorAs(t, err, &over)
	require.True(t, over.FirstToday)
	require.Empty(t, server.Requests())
}

func TestTranscribeErrors(t *testing.T) {
	t.Parallel()
	const worst = int64(4100)
	for name, test := range map[string]struct {
		answer  llmtest.Transcript
		reason  llm.Reason
		settled int64
	}{
		"the key is wrong":               {llmtest.Transcript{Status: 401}, llm.ReasonKey, 0},
		"the server knows no such model": {llmtest.Transcript{Status: 404}, llm.ReasonModel, 0},
		"the format is refused":          {llmtest.Transcript{Status: 400}, llm.ReasonRequest, 0},
		"too many requests":              {llmtest.Transcript{Status: 429}, llm.ReasonRateLimit, 0},
		"the server fails":               {llmtest.Transcript{Status: 500}, llm.ReasonServer, worst},
		"the answer is half":             {llmtest.Transcript{Body: `{"text":"What do`}, llm.ReasonMalformedReply, worst},
		"the answer has no text":         {llmtest.Transcript{Body: `{"words":[]}`}, llm.ReasonMalformedReply, worst},
		"the answer is a list":           {llmtest.Transcript{Body: `["x"]`}, llm.ReasonMalformedReply, worst},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return test.answer })
			p := &limitedLedger{left: 1_000_000}
			text, err := openSpeech(t, server, p).Transcribe(t.Context(), voiceNote())
			var failed *llm.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, test.reason, failed.Reason)
			require.Empty(t, text)
			require.Equal(t, []int64{test.settled}, p.settled)
			require.Len(t, server.Requests(), 1, "a second try is the job's")
			require.NotContains(t, err.Error(), "sk-secret")
		})
	}
}

func TestTranscribe_EndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript {
		cancel()
		return llmtest.Transcript{Text: "too late", Seconds: 10}
	})
	p := &limitedLedger{left: 1_000_000}
	// There is no error if the answer came before the context ended.
	if _, err := openSpeech(t, server, p).Transcribe(ctx, voiceNote()); err != nil {
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []int64{4100}, p.settled, "whether it was made is not known")
	}
}

func TestTranscribe_CutsEndlessText(t *testing.T) {
	t.Parallel()
	server := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript {
		return llmtest.Transcript{Text: strings.Repeat("€", 100_000), Seconds: 1}
	})
	text, err := openSpeech(t, server, &limitedLedger{left: 1_000_000}).Transcribe(t.Context(), voiceNote())
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("€", 20_000)+"…", text)
}

func TestOpenSpeech(t *testing.T) {
	t.Parallel()
	for _, none := range []string{"", "none"} {
		t.Run(none, func(t *testing.T) {
			s, err := llm.OpenSpeech(llm.SpeechConfig{Model: none}, llm.Budget{})
			require.NoError(t, err)
			require.Equal(t, "none", s.Name())
			_, err = s.Transcribe(t.Context(), voiceNote())
			require.ErrorIs(t, err, llm.ErrNoSpeech)
		})
	}
	_, err := llm.OpenSpeech(llm.SpeechConfig{Model: "openai/whisper-1"}, llm.Budget{})
	require.ErrorIs(t, err, llm.ErrNoPrice)
	_, err = llm.OpenSpeech(llm.SpeechConfig{Model: "openai/whisper-1"}, llm.Budget{Local: true})
	require.NoError(t, err)
	for _, wrong := range []llm.SpeechConfig{{Model: "whisper"}, {Model: "openai/"}, {Model: "openai/x", BaseURL: "localhost"}} {
		_, err = llm.OpenSpeech(wrong, llm.Budget{Local: true})
		require.ErrorIs(t, err, llm.ErrConfig, wrong)
	}
}
