package knowledge

import (
	"context"
	"strings"
)

// Text returns the text of a file as Markdown, without storing it. The name and the media type decide the format where
// the content does not.
func (l *Library) Text(ctx context.Context, name, mediaType string, data []byte) (string, error) {
	if len(data) > MaxSize {
		return "", ErrTooBig
	}
	doc, err := l.read(ctx, File{Name: name, Type: mediaType, Data: data})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range doc.Sections {
		if len(s.Path) > 0 {
			b.WriteString(strings.Repeat("#", len(s.Path)) + " " + s.Path[len(s.Path)-1] + "\n\n")
		}
		b.WriteString(strings.TrimSpace(s.Text) + "\n\n")
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", ErrEmpty
	}
	return text, nil
}
