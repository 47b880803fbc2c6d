package tools

import (
	"context"
	_ "embed"
	"mime"
	"net/http"
	"path"
	"strings"

	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

//go:embed send_file.md
var sendFileText string

// OutgoingFile is a file for the owner.
type OutgoingFile struct {
	Name    string
	MIME    string
	Data    []byte
	Caption string
}

// SendFile is the tool that sends the owner a file from the caller's folders, to the admin room only.
type SendFile struct {
	Send func(ctx context.Context, room store.Chat, file OutgoingFile) error
}

type sendFileArgs struct {
	Path    string `json:"path" jsonschema:"the file"`
	Caption string `json:"caption,omitempty" jsonschema:"one line to go with it"`
}

// maxCaptionBytes is the maximum length of a caption, in bytes.
const maxCaptionBytes = 500

// Spec describes the tool.
func (SendFile) Spec() Spec {
	return Spec{
		Name:         "send_file",
		Description:  sendFileText,
		Schema:       Schema[sendFileArgs](),
		Tier:         Read,
		Class:        rules.ClassNotify,
		Kinds:        rules.Kinds{Paths: true},
		NeedsFolders: true,
		HasEffect:    true,
	}
}

// ResourceOf returns the file.
func (SendFile) ResourceOf(c Call) rules.Resource {
	args, err := Decode[sendFileArgs](c)
	if err != nil {
		return rules.Resource{}
	}
	return c.resourceOf(args.Path, false)
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
	data, err := at.readAll(maxFileBytes)
	if err != nil {
		return notFound(err), nil
	}
	file := OutgoingFile{
		Name:    path.Base(at.path),
		MIME:    mediaType(at.path, data),
		Data:    data,
		Caption: Clip(strings.Join(strings.Fields(args.Caption), " "), maxCaptionBytes),
	}
	if err := t.Send(ctx, c.Chat, file); err != nil {
		return Result{}, err
	}
	return Result{ForLLM: "It is on its way to the owner.", ForUser: "sent " + file.Name, Ref: args.Path}, nil
}

// mediaType returns the media type of a file by its name, or by its content if the name has no known ending.
func mediaType(name string, data []byte) string {
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
