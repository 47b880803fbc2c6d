package tools

import (
	"context"
	_ "embed"
	"mime"
	"net/http"
	"path"
	"strings"

	"multis/policy"
	"multis/store"
)

//go:embed send_file.md
var sendFileText string

// Outgoing is a file to send to the owner.
type Outgoing struct {
	Name    string
	MIME    string
	Data    []byte
	Caption string
}

// SendFile sends the owner a file of the caller's folders, to his own rooms only.
type SendFile struct {
	Send func(ctx context.Context, room store.Chat, file Outgoing) error
}

type sendFileArgs struct {
	Path    string `json:"path" jsonschema:"the file"`
	Caption string `json:"caption,omitempty" jsonschema:"one line to go with it"`
}

// maxCaption is the length of the longest caption, in bytes.
const maxCaption = 500

// Spec describes the tool.
func (SendFile) Spec() Spec {
	return Spec{Name: "send_file", Description: sendFileText, Schema: Schema[sendFileArgs](), Tier: Read, Files: true, Effect: true}
}

// Run sends the file.
func (t SendFile) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[sendFileArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	if !c.Owner || c.Chat.Kind != policy.KindAdmin {
		return Refused(CodeRefused, "Files go to the owner's own room only."), nil
	}
	at, err := c.locate(args.Path)
	if err != nil {
		return notFound(err), nil
	}
	defer at.root.Close()
	data, err := at.readAll(maxFile)
	if err != nil {
		return notFound(err), nil
	}
	file := Outgoing{Name: path.Base(at.path), MIME: mediaType(at.path, data), Data: data, Caption: Clip(strings.Join(strings.Fields(args.Caption), " "), maxCaption)}
	if err := t.Send(ctx, c.Chat, file); err != nil {
		return Result{}, err
	}
	return Result{ForLLM: "It is on its way to the owner.", ForUser: "sent " + file.Name, Ref: args.Path}, nil
}

// mediaType returns a file's media type, by its name, else by its first bytes.
func mediaType(name string, data []byte) string {
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
