package bridgebridge

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
)

// File is a file on the homeserver.
type File struct {
	URL    id.ContentURIString `json:"url"`
	Name   string              `json:"name"`
	MIME   string              `json:"mime,omitempty"`
	Size   int                 `json:"size,omitempty"`   // bytes, as the sender declared; 0 if unknown
	Millis int                 `json:"millis,omitempty"` // duration in milliseconds, as the sender declared; 0 if unknown
	Key    *FileKey            `json:"key,omitempty"`    // decrypts the file; nil for an unencrypted file
}

// FileKey is what decrypts an encrypted file. Each part is as the sender wrote it, or empty if it is not a valid part of a key.
type FileKey struct {
	Version   string `json:"v"`
	Algorithm string `json:"alg"`
	Key       string `json:"k"`
	IV        string `json:"iv"`
	SHA256    string `json:"sha256"`
}

// encryptedFile is the EncryptedFile object of Matrix.
type encryptedFile struct {
	URL id.ContentURIString `json:"url"`
	Key struct {
		Algorithm string `json:"alg"`
		Key       string `json:"k"`
	} `json:"key"`
	IV     string `json:"iv"`
	Hashes struct {
		SHA256 string `json:"sha256"`
	} `json:"hashes"`
	Version string `json:"v"`
}

type fileInfo struct {
	MIME     string  `json:"mimetype"`
	Size     int     `json:"size"`
	Duration float64 `json:"duration"` // milliseconds
}

type audioInfo struct {
	Duration float64 `json:"duration"` // milliseconds
}

// keyPart matches a valid part of a key: at most 100 characters of either base64 alphabet.
var keyPart = regexp.MustCompile(`^[A-Za-z0-9+/_=-]{1,100}$`)

func (s encryptedFile) key() *FileKey {
	part := func(text string) string {
		if keyPart.MatchString(text) {
			return text
		}
		return ""
	}
	return &FileKey{
		Version:   part(s.Version),
		Algorithm: part(s.Key.Algorithm),
		Key:       part(s.Key.Key),
		IV:        part(s.IV),
		SHA256:    part(s.Hashes.SHA256),
	}
}

// WithTranscript returns the message with a transcript as its text and without the file.
func (m Message) WithTranscript(words string) Message {
	m.Text = words
	m.words = words
	m.File = nil
	return m
}

// maxEnding is the maximum length of the ending of a file's name, in characters, that a cut name keeps.
const maxEnding = 10

// fileName returns the name of the file. A cut name keeps its ending, by which whoever gets the file opens it.
func (c messageContent) fileName() string {
	name := cleanLine(cmp.Or(c.FileName, c.Body), 0)
	ending := path.Ext(name)
	if n := utf8.RuneCountInString(ending); n > maxEnding || strings.Contains(ending, " ") {
		ending = ""
	}
	if utf8.RuneCountInString(name) <= maxName || ending == "" {
		return text.Clip(name, maxName)
	}
	return text.Clip(strings.TrimSuffix(name, ending), maxName-utf8.RuneCountInString(ending)) + ending
}

// file returns the file in a message, and the name of the file. The file is nil if there is none, or if it cannot be downloaded.
func (c messageContent) file() (*File, string) {
	switch c.kind() {
	case Image, Video, Audio, Voice, Document:
	default:
		return nil, ""
	}
	file := File{
		URL:    c.URL,
		Size:   max(0, c.Info.Size),
		Millis: durationMillis(cmp.Or(c.Info.Duration, c.Audio.Duration)),
		MIME:   cleanName(c.Info.MIME),
		Name:   c.fileName(),
	}
	if c.Encrypted != nil && c.Encrypted.URL != "" {
		file.URL, file.Key = c.Encrypted.URL, c.Encrypted.key()
	}
	if file.URL == "" {
		return nil, file.Name
	}
	return &file, file.Name
}

// durationMillis returns a declared duration in milliseconds, or 0 if it is not between 0 and 24 hours.
func durationMillis(declared float64) int {
	const longest = 24 * time.Hour
	if declared > 0 && declared <= float64(longest.Milliseconds()) {
		return int(declared)
	}
	return 0
}
