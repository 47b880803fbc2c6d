package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"multis/config"
	"multis/policy"
)

// openLog has everything logged to standard error, and to a file if one is configured. It becomes the logger of every
// context that has none.
func openLog(c config.Logging) (func(), error) {
	var out io.Writer = os.Stderr
	if c.Format == config.FormatPretty {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly, NoColor: !term.IsTerminal(int(os.Stderr.Fd()))}
	}
	closeFile := func() {}
	if c.File != "" {
		file, err := os.OpenFile(c.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("logging.file: %w", err)
		}
		out, closeFile = zerolog.MultiLevelWriter(out, file), func() { file.Close() }
	}
	log := zerolog.New(redacted{out}).Level(c.Level).With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &log
	return closeFile, nil
}

// redacted is what is written without the secrets in it. What is written at once is a whole line.
type redacted struct{ to io.Writer }

func (w redacted) Write(line []byte) (int, error) {
	text := policy.Redact(string(line))
	if !json.Valid([]byte(text)) { // what was taken out was no string
		raw, err := json.Marshal(map[string]string{"level": "warn", "message": text})
		if err != nil {
			return 0, err
		}
		text = string(raw) + "\n"
	}
	if _, err := io.WriteString(w.to, text); err != nil {
		return 0, err
	}
	return len(line), nil
}
