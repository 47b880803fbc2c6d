package main

import (
	"context"
	"strings"

	"maunium.net/go/mautrix/bridgev2"
	"maunium.net/go/mautrix/event"

	"multis/e2e/bridge/demonet"
)

// convert converts a message of the network to Matrix. It uploads a file, encrypted if the portal is.
func convert(ctx context.Context, portal *bridgev2.Portal, intent bridgev2.MatrixAPI,
	message demonet.Message,
) (*bridgev2.ConvertedMessage, error) {
	if message.File == nil {
		return converted(message.Text), nil
	}
	file := message.File
	url, sealed, err := intent.UploadMedia(ctx, portal.MXID, file.Data, file.Name, file.MIME)
	if err != nil {
		return nil, err
	}
	content := &event.MessageEventContent{
		MsgType:  event.MsgFile,
		Body:     message.Text,
		FileName: file.Name,
		URL:      url,
		File:     sealed,
		Info:     &event.FileInfo{MimeType: file.MIME, Size: len(file.Data), Duration: file.Millis},
	}
	if content.Body == "" {
		content.Body = file.Name
	}
	switch {
	case strings.HasPrefix(file.MIME, "image/"):
		content.MsgType = event.MsgImage
	case file.Voice:
		content.MsgType, content.MSC3245Voice = event.MsgAudio, &event.MSC3245Voice{}
	}
	return &bridgev2.ConvertedMessage{Parts: []*bridgev2.ConvertedMessagePart{{Type: event.EventMessage, Content: content}}}, nil
}
