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
	var above []string
	for _, s := range doc.Sections {
		same := 0
		for same < min(len(above), len(s.Path)-1) && above[same] == s.Path[same] {
			same++
		}
		for level := same; level < len(s.Path); level++ {
			b.WriteString(strings.Repeat("#", level+1) + " " + s.Path[level] + "\n\n")
		}
		above = s.Path
		b.WriteString(strings.TrimSpace(s.Text) + "\n\n")
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", ErrEmpty
	}
	return text, nil
}
