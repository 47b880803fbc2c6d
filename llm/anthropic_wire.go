package llm

import "encoding/json"

// The requests of the Messages protocol.
type (
	anthropicRequest struct {
		Model       string             `json:"model"`
		MaxTokens   int                `json:"max_tokens"`
		Temperature float64            `json:"temperature,omitempty"`
		System      []anthropicBlock   `json:"system,omitempty"`
		Messages    []anthropicMessage `json:"messages"`
		Tools       []anthropicTool    `json:"tools,omitempty"`
		Stream      bool               `json:"stream"`
	}
	anthropicMessage struct {
		Role    string           `json:"role"`
		Content []anthropicBlock `json:"content"`
	}
	// anthropicBlock is a text, an image, a tool's call or its result.
	anthropicBlock struct {
		Type         string           `json:"type"`
		Text         string           `json:"text,omitempty"`
		Source       *anthropicSource `json:"source,omitempty"`
		ID           string           `json:"id,omitempty"`
		Name         string           `json:"name,omitempty"`
		Input        json.RawMessage  `json:"input,omitempty"`
		ToolUseID    string           `json:"tool_use_id,omitempty"`
		Content      string           `json:"content,omitempty"`
		IsError      bool             `json:"is_error,omitempty"`
		CacheControl *anthropicCache  `json:"cache_control,omitempty"`
	}
	anthropicSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
	anthropicTool struct {
		Name         string          `json:"name"`
		Description  string          `json:"description,omitempty"`
		InputSchema  map[string]any  `json:"input_schema"`
		CacheControl *anthropicCache `json:"cache_control,omitempty"`
	}
	anthropicCache struct {
		Type string `json:"type"`
	}
)

// cacheMark asks the provider to cache the prompt up to here.
var cacheMark = &anthropicCache{Type: "ephemeral"}

// The events of an answer.
type (
	anthropicEvent struct {
		Type    string `json:"type"`
		Message struct {
			Usage anthropicTokens `json:"usage"`
		} `json:"message"`
		ContentBlock anthropicBlock `json:"content_block"`
		Delta        struct {
			Text        string `json:"text"`
			PartialJSON string `json:"partial_json"`
			StopReason  string `json:"stop_reason"`
		} `json:"delta"`
		Usage anthropicTokens `json:"usage"`
	}
	anthropicTokens struct {
		InputTokens              int64 `json:"input_tokens"`
		OutputTokens             int64 `json:"output_tokens"`
		CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
		CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	}
)
