package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/policy"
)

// ErrNoSpeech is returned by every call of NoSpeech: voice notes are not transcribed.
var ErrNoSpeech = errors.New("no speech-to-text is configured")

// MaxAudioBytes is the maximum size of a recording that is transcribed.
const MaxAudioBytes = 20 << 20

// maxTranscriptBytes is the maximum size of a transcript, about an hour of fast speech.
const maxTranscriptBytes = 60_000

// Audio is a recording to transcribe.
type Audio struct {
	Data    []byte
	MIME    string
	Length  time.Duration // as declared by the sender; zero means unknown
	Purpose string        // label for the usage statistics: "speech"
	Chat    policy.ChatID // the chat whose daily cap applies in addition to the day's; zero means none
}

// Transcriber converts speech to text.
type Transcriber interface {
	// Name returns "provider/model".
	Name() string
	// Transcribe makes one call. Its errors are an *Error, an *OverBudgetError, ErrNoSpeech, or the context's.
	Transcribe(ctx context.Context, a Audio) (string, error)
}

// NoSpeech is the Transcriber of an installation that has no speech model.
type NoSpeech struct{}

// Name is "none".
func (NoSpeech) Name() string { return "none" }

// Transcribe returns ErrNoSpeech.
func (NoSpeech) Transcribe(context.Context, Audio) (string, error) { return "", ErrNoSpeech }

// SpeechConfig configures the model for transcription.
type SpeechConfig struct {
	Model     string        // "openai/NAME"; "none" or empty means no model
	BaseURL   string        // base URL of a server with /audio/transcriptions. Defaults to DefaultBaseURL.
	APIKey    string        // may be empty where the server asks for none
	Timeout   time.Duration // how long one call may take. Defaults to a minute.
	PerMinute int64         // price of one minute of audio, in millionths of the currency
}

// OpenSpeech returns a transcriber whose calls are paid from the budget. It ignores the budget's Price. Failed calls are
// not retried here, because the caller's job is. It returns ErrConfig or ErrNoPrice.
func OpenSpeech(c SpeechConfig, b Budget) (Transcriber, error) {
	if c.Model == "" || c.Model == (NoSpeech{}).Name() {
		return NoSpeech{}, nil
	}
	c.BaseURL, c.Timeout = cmp.Or(c.BaseURL, DefaultBaseURL), cmp.Or(c.Timeout, defaultCallTimeout)
	if name, ok := strings.CutPrefix(c.Model, openAIPrefix); !ok || name == "" {
		return nil, fmt.Errorf("%w: the model for speech must be none or %sNAME, not %q", ErrConfig, openAIPrefix, c.Model)
	}
	if address, err := url.Parse(c.BaseURL); err != nil || address.Host == "" {
		return nil, fmt.Errorf("%w: the address for speech must look like %s", ErrConfig, DefaultBaseURL)
	}
	if c.PerMinute < 0 || (c.PerMinute == 0 && !b.Local) {
		return nil, fmt.Errorf("%s: %w", c.Model, ErrNoPrice)
	}
	return paidTranscriber{newOpenAITranscriber(c), b, c.PerMinute}, nil
}

// transcription is the answer of a server.
type transcription struct {
	text   string
	length time.Duration // length of the audio according to the server; zero means unknown
}

// openAITranscriber implements the audio transcriptions protocol of OpenAI.
type openAITranscriber struct {
	name    string
	model   string
	audio   openai.AudioTranscriptionService
	timeout time.Duration
}

func newOpenAITranscriber(c SpeechConfig) *openAITranscriber {
	return &openAITranscriber{
		name: c.Model, model: strings.TrimPrefix(c.Model, openAIPrefix), timeout: c.Timeout,
		audio: openai.NewAudioTranscriptionService(openAIOptions(c.BaseURL, c.APIKey, newJSONClient(c.Model))...),
	}
}

// call makes one call. Its errors are *Error, or the caller's context's.
func (s *openAITranscriber) call(ctx context.Context, a Audio) (transcription, error) {
	call, cancel := context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	defer cancel()
	got, err := s.audio.New(call, openai.AudioTranscriptionNewParams{
		// The provider does not get the sender's file name.
		File:           openai.File(bytes.NewReader(a.Data), "recording"+extension(a.MIME), mediaType(a.MIME)),
		Model:          s.model,
		ResponseFormat: openai.AudioResponseFormatJSON,
	})
	var known *Error
	var unanswered *url.Error
	switch {
	case ctx.Err() != nil:
		return transcription{}, fmt.Errorf("%s: %w", s.name, ctx.Err())
	case errors.Is(context.Cause(call), errTimeout):
		return transcription{}, s.failed(ReasonTimeout)
	case err != nil && isUnreachable(err):
		return transcription{}, s.failed(ReasonUnreachable)
	case errors.As(err, &known):
		return transcription{}, known
	case isTLSError(err):
		return transcription{}, s.failed(ReasonTLS)
	case errors.As(err, &unanswered):
		return transcription{}, s.failed(ReasonDisconnected)
	case err != nil || !got.JSON.Text.Valid():
		return transcription{}, s.failed(ReasonMalformedReply)
	}
	said := strings.ToValidUTF8(strings.TrimSpace(got.Text), "\uFFFD")
	if len(said) > maxTranscriptBytes {
		said = text.ClipBytes(said, maxTranscriptBytes) + "…"
	}
	return transcription{said, seconds(cmp.Or(got.Usage.Seconds, got.Duration))}, nil
}

func (s *openAITranscriber) failed(r Reason) *Error { return &Error{Model: s.name, Reason: r} }

// seconds converts a length in seconds. It returns zero if n is not between 0 and a day.
func seconds(n float64) time.Duration {
	if n > 0 && n <= (24*time.Hour).Seconds() {
		return time.Duration(n * float64(time.Second))
	}
	return 0
}

// extensions maps MIME types to file extensions, by which servers detect the format.
var extensions = map[string]string{
	"audio/ogg": ".ogg", "audio/opus": ".ogg", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/mp4": ".m4a", "audio/m4a": ".m4a",
	"audio/x-m4a": ".m4a", "audio/aac": ".m4a", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/webm": ".webm", "audio/flac": ".flac",
}

// mediaType returns a MIME type without its parameters: "audio/ogg" for "audio/ogg; codecs=opus".
func mediaType(declared string) string {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || path.Base(kind) == kind {
		return "audio/ogg" // the format of voice notes on most networks
	}
	return kind
}

func extension(declared string) string { return cmp.Or(extensions[mediaType(declared)], ".ogg") }

// minBytesPerSecond is the minimum bit rate of speech, in bytes. It bounds the length of a recording by its size,
// because the declared length may be wrong.
const minBytesPerSecond = 500

// maxLength returns an upper bound of a recording's length.
func maxLength(a Audio) time.Duration {
	return max(a.Length, time.Duration(len(a.Data)/minBytesPerSecond+1)*time.Second)
}

// paidTranscriber reserves the worst-case cost of each call before it and settles it afterwards.
type paidTranscriber struct {
	*openAITranscriber
	Budget

	perMinute int64
}

// Name is "provider/model".
func (p paidTranscriber) Name() string { return p.name }

// cost returns the price of audio of this length, rounded up.
func (p paidTranscriber) cost(length time.Duration) int64 {
	return int64(math.Ceil(length.Minutes() * float64(p.perMinute)))
}

// Transcribe calls the server, or returns an *OverBudgetError without a call.
func (p paidTranscriber) Transcribe(ctx context.Context, a Audio) (string, error) {
	worst := p.cost(maxLength(a))
	res, err := p.Ledger.Reserve(ctx, policy.SpendRequest{
		Day:     p.Today(),
		Chat:    a.Chat,
		Purpose: a.Purpose,
		Model:   p.name,
		Amount:  worst,
		DayCap:  p.DayCap,
		ChatCap: p.ChatCap,
	})
	if err != nil {
		return "", fmt.Errorf("reserve the cost of a call of %s: %w", p.name, err)
	}
	if res.Refused != "" {
		return "", &OverBudgetError{Model: p.name, Cap: res.Refused, FirstToday: res.FirstRefusal}
	}
	bill := policy.Settlement{Amount: worst} // reduced below if the actual cost is known
	defer func() { p.settle(ctx, res.ID, bill) }()
	got, err := p.call(ctx, a)
	var failed *Error
	switch {
	case errors.As(err, &failed) && failed.isUnbilled():
		bill = policy.Settlement{}
	case err == nil && got.length > 0:
		bill = policy.Settlement{Amount: p.cost(got.length)}
	}
	return got.text, err
}

func (p paidTranscriber) settle(ctx context.Context, id int64, s policy.Settlement) {
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := p.Ledger.Settle(done, id, s); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("reservation_id", id).Msg("Transcription left unsettled, it counts in full")
	}
}
