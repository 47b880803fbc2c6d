package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Check asks the provider of a model whether it accepts the key and knows the model. It costs nothing, because no model
// is called. If key is not empty, it replaces the provider's key. The error is ErrConfig, ErrNoPrice or an *Error. It is
// nil for a server that cannot list its models.
func (ms *Models) Check(ctx context.Context, name, key string) error {
	_, p, err := ms.describe(name, key)
	if err != nil {
		return err
	}
	provider, model, _ := strings.Cut(name, "/")
	call, cancel := context.WithTimeoutCause(ctx, ms.Timeout, errTimeout)
	defer cancel()
	err = p.findModel(call, name, model)
	var failed *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.Status == http.StatusMethodNotAllowed:
		return nil
	case errors.As(err, &failed) && failed.Status == http.StatusNotFound && p.mayHideModels() && !p.usesKnownAddress(provider):
		return nil // the server may not list its models
	default:
		return classifyError(ctx, call, name, err)
	}
}

// mayHideModels reports whether the protocol is one of servers that need not list their models.
func (p Provider) mayHideModels() bool {
	return p.Protocol == ProtocolOpenAI || p.Protocol == ProtocolOllama
}

// findModel requests the model, or the list of models, from the provider.
func (p Provider) findModel(ctx context.Context, name, model string) error {
	address, header := p.BaseURL+"/models", http.Header{}
	switch p.Protocol {
	case ProtocolAnthropic:
		address = p.BaseURL + "/v1/models/" + url.PathEscape(model)
		header.Set("X-Api-Key", p.APIKey)
		header.Set("Anthropic-Version", "2023-06-01")
	case ProtocolGemini:
		address = p.BaseURL + "/v1beta/models/" + url.PathEscape(model)
		header.Set("X-Goog-Api-Key", p.APIKey)
	case ProtocolOpenAI, ProtocolOllama:
		if p.Protocol == ProtocolOllama {
			address = p.BaseURL + "/v1/models" // a part of OpenAI's API that Ollama serves, too
		}
		if p.APIKey != "" {
			header.Set("Authorization", "Bearer "+p.APIKey)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRequest, err)
	}
	req.Header = header
	res, err := newJSONClient(name).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if !p.mayHideModels() {
		return nil
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(res.Body).Decode(&list) != nil || len(list.Data) == 0 {
		return nil // the server is reachable, but cannot list its models
	}
	for _, m := range list.Data {
		if slices.Contains([]string{model, model + ":latest"}, m.ID) {
			return nil
		}
	}
	return &Error{Model: name, Reason: ReasonModel}
}
