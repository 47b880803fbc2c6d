package llm

import "encoding/json"

// The requests of the generateContent protocol.
type (
	geminiRequest struct {
		System     *geminiContent    `json:"systemInstruction,omitempty"`
		Contents   []geminiContent   `json:"contents"`
		Tools      []geminiTools     `json:"tools,omitempty"`
		ToolConfig *geminiToolConfig `json:"toolConfig,omitempty"`
		Config     geminiConfig      `json:"generationConfig"`
	}
	geminiToolConfig struct {
		Calling geminiCallingConfig `json:"functionCallingConfig"`
	}
	geminiCallingConfig struct {
		Mode string `json:"mode"`
	}
	geminiConfig struct {
		MaxOutputTokens  int     `json:"maxOutputTokens"`
		Temperature      float64 `json:"temperature,omitempty"`
		ResponseMIMEType string  `json:"responseMimeType,omitempty"`
	}
	geminiTools struct {
		Functions []geminiFunction `json:"functionDeclarations"`
	}
	geminiFunction struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Parameters  map[string]any `json:"parametersJsonSchema"`
	}
	geminiContent struct {
		Role  string       `json:"role,omitempty"`
		Parts []geminiPart `json:"parts"`
	}
	// geminiPart is a text, a file, a tool's call or its result.
	geminiPart struct {
		Text             string          `json:"text,omitempty"`
		Thought          bool            `json:"thought,omitempty"`
		ThoughtSignature []byte          `json:"thoughtSignature,omitempty"`
		InlineData       *geminiData     `json:"inlineData,omitempty"`
		FunctionCall     *geminiCall     `json:"functionCall,omitempty"`
		FunctionResponse *geminiResponse `json:"functionResponse,omitempty"`
	}
	geminiData struct {
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	}
	geminiCall struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args,omitempty"`
	}
	geminiResponse struct {
		ID       string            `json:"id,omitempty"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
	}
)

// The events of an answer.
type (
	geminiEvent struct {
		Error          json.RawMessage   `json:"error"` // set if the answer failed
		Candidates     []geminiCandidate `json:"candidates"`
		PromptFeedback struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		UsageMetadata struct {
			PromptTokenCount        int64 `json:"promptTokenCount"`
			ToolUsePromptTokenCount int64 `json:"toolUsePromptTokenCount"`
			CandidatesTokenCount    int64 `json:"candidatesTokenCount"`
			ThoughtsTokenCount      int64 `json:"thoughtsTokenCount"`
			CachedContentTokenCount int64 `json:"cachedContentTokenCount"`
		} `json:"usageMetadata"`
	}
	geminiCandidate struct {
		Content      geminiContent `json:"content"`
		FinishReason string        `json:"finishReason"`
	}
)
