package llm

import "encoding/json"

// The requests of Ollama's chat protocol.
type (
	ollamaRequest struct {
		Model    string          `json:"model"`
		Messages []ollamaMessage `json:"messages"`
		Tools    []ollamaTool    `json:"tools,omitempty"`
		Format   string          `json:"format,omitempty"`
		Stream   bool            `json:"stream"`
		Options  ollamaOptions   `json:"options"`
	}
	ollamaOptions struct {
		Context     int64   `json:"num_ctx"`
		MaxTokens   int     `json:"num_predict"`
		Temperature float64 `json:"temperature,omitempty"`
	}
	ollamaMessage struct {
		Role       string       `json:"role"`
		Content    string       `json:"content"`
		Images     [][]byte     `json:"images,omitempty"`
		ToolCalls  []ollamaCall `json:"tool_calls,omitempty"`
		ToolName   string       `json:"tool_name,omitempty"`
		ToolCallID string       `json:"tool_call_id,omitempty"`
	}
	ollamaTool struct {
		Type     string         `json:"type"`
		Function ollamaFunction `json:"function"`
	}
	ollamaFunction struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Parameters  map[string]any `json:"parameters"`
	}
	ollamaCall struct {
		ID       string             `json:"id,omitempty"`
		Function ollamaCallFunction `json:"function"`
	}
	ollamaCallFunction struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
)

// ollamaEvent is a line of an answer.
type ollamaEvent struct {
	Error        json.RawMessage `json:"error"` // set if the answer failed
	Message      ollamaMessage   `json:"message"`
	Done         bool            `json:"done"`
	DoneReason   string          `json:"done_reason"`
	PromptTokens int64           `json:"prompt_eval_count"`
	Tokens       int64           `json:"eval_count"`
}
