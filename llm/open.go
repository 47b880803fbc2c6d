package llm

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Defaults of a Config.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultTimeout = time.Minute
)

// provider is how the names of models begin that are served over the chat completions protocol.
const provider = "openai/"

// ErrConfig is returned by Open for settings no model can be made of. Its text names the setting and the fix.
var ErrConfig = errors.New("llm")

// Config says which model, and where it is served.
type Config struct {
	Model   string        // "none" or "" for no model, else "openai/" and the name at BaseURL
	BaseURL string        // of a server that speaks the chat completions protocol. Defaults to DefaultBaseURL.
	APIKey  string        // may be empty where the server asks for none
	Timeout time.Duration // how long one call may take. Defaults to DefaultTimeout.
}

// Open returns the model to use: budgeted, and tried again when a failure may pass. It is the only way to get one, so
// that no call goes past the budget. It returns ErrConfig or ErrNoPrice.
func Open(c Config, b Budget) (Model, error) {
	if c.Model == "" || c.Model == (None{}).Name() {
		return None{}, nil
	}
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if name, ok := strings.CutPrefix(c.Model, provider); !ok || name == "" {
		return nil, fmt.Errorf("%w: model must be none or %sNAME, not %q", ErrConfig, provider, c.Model)
	}
	address, err := url.Parse(c.BaseURL)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return nil, fmt.Errorf("%w: base_url must look like %s", ErrConfig, DefaultBaseURL)
	}
	m, err := Budgeted(newOpenAI(c), b)
	if err != nil {
		return nil, err
	}
	return retrying{Model: m, pause: sleep}, nil
}
