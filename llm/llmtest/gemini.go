package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
)

// gemini is the generateContent protocol.
var gemini = protocol{read: readGemini, answer: answerGemini, refuse: refuseGemini}

type geminiPart struct {
	Text         string `json:"text"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
	} `json:"functionResponse"`
	InlineData *struct {
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	} `json:"inlineData"`
	ThoughtSignature []byte `json:"thoughtSignature"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

func readGemini(r *http.Request) (Request, error) {
	var wire struct {
		SystemInstruction geminiContent   `json:"systemInstruction"`
		Contents          []geminiContent `json:"contents"`
		GenerationConfig  struct {
			MaxOutputTokens  int     `json:"maxOutputTokens"`
			Temperature      float64 `json:"temperature"`
			ResponseMIMEType string  `json:"responseMimeType"`
		} `json:"generationConfig"`
		ToolConfig struct {
			FunctionCallingConfig struct {
				Mode string `json:"mode"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string          `json:"name"`
				Description          string          `json:"description"`
				ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := decode(r, &wire); err != nil {
		return Request{}, err
	}
	c := wire.GenerationConfig
	req := Request{
		Key: r.Header.Get("X-Goog-Api-Key"), Model: strings.TrimSuffix(path.Base(r.URL.Path), ":streamGenerateContent"),
		MaxTokens: c.MaxOutputTokens, Temperature: c.Temperature, JSON: c.ResponseMIMEType == "application/json", WantsUsage: true,
		NoCalls: wire.ToolConfig.FunctionCallingConfig.Mode == "NONE",
	}
	for _, p := range wire.SystemInstruction.Parts {
		req.System += p.Text
	}
	for _, t := range wire.Tools {
		for _, f := range t.FunctionDeclarations {
			req.Tools = append(req.Tools, Tool{Name: f.Name, Description: f.Description, Schema: string(f.ParametersJSONSchema)})
		}
	}
	for _, content := range wire.Contents {
		req.Messages = append(req.Messages, content.read()...)
	}
	return req, checkCalls(req.Messages)
}

func (c geminiContent) read() []Message {
	var list []Message
	said := Message{Role: c.Role}
	if c.Role == "model" {
		said.Role = "assistant"
	}
	for _, p := range c.Parts {
		switch {
		case p.FunctionResponse != nil:
			text, failed := p.FunctionResponse.Response["error"]
			list = append(list, Message{
				Role:    "tool",
				CallID:  p.FunctionResponse.ID,
				Text:    text + p.FunctionResponse.Response["output"],
				IsError: failed,
			})
		case p.FunctionCall != nil:
			args := p.FunctionCall.Args
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			said.Calls = append(said.Calls, Call{
				ID:        p.FunctionCall.ID,
				Name:      p.FunctionCall.Name,
				Args:      string(args),
				Signature: string(p.ThoughtSignature),
			})
		case p.InlineData != nil:
			said.Images = append(said.Images, Image{p.InlineData.MIMEType, p.InlineData.Data})
		default:
			said.Text += p.Text
		}
	}
	if said.Text != "" || len(said.Calls) > 0 || len(said.Images) > 0 {
		list = append(list, said)
	}
	return list
}

func refuseGemini(w io.Writer, r Reply) {
	type details struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
	send(w, struct {
		Error details `json:"error"`
	}{details{Code: r.Status, Message: r.Message, Status: r.Code}})
}

// answerGemini streams a reply: whole responses with a piece of the text each, then each call, then the end.
func answerGemini(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	say := func(part object, stop string) {
		candidate := object{"index": 0}
		if part != nil {
			candidate["content"] = object{"role": "model", "parts": []object{part}}
		}
		res := object{"modelVersion": req.Model, "candidates": []object{candidate}}
		if stop != "" {
			candidate["finishReason"] = stop
			if !reply.NoUsage {
				res["usageMetadata"] = object{
					"promptTokenCount": reply.In, "candidatesTokenCount": reply.Out, "totalTokenCount": reply.In + reply.Out,
					"cachedContentTokenCount": reply.Cached,
				}
			}
		}
		sendEvent(w, "", res)
	}
	streamText(r, reply, reply.Text+reply.Refusal, func(s string) { say(object{"text": s}, "") })
	for _, c := range reply.Calls {
		call := object{"name": c.Name}
		if c.ID != "" {
			call["id"] = c.ID
		}
		if json.Valid([]byte(c.Args)) {
			call["args"] = json.RawMessage(c.Args)
		}
		part := object{"functionCall": call}
		if c.Signature != "" {
			part["thoughtSignature"] = base64.StdEncoding.EncodeToString([]byte(c.Signature))
		}
		say(part, "")
	}
	stop := reply.Stop
	if stop == "" {
		stop = "STOP"
		if reply.Refusal != "" {
			stop = "SAFETY"
		}
	}
	say(nil, stop)
}
