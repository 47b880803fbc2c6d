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

// openLog opens the log, which goes to standard error and to the configured file. It becomes the logger of every context without a logger
// of its own.
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
	log := zerolog.New(redactingWriter{out}).Level(c.Level).With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &log
	return closeFile, nil
}

// redactingWriter removes secrets from a log. Each call of Write must get a whole line of JSON.
type redactingWriter struct{ out io.Writer }

func (w redactingWriter) Write(line []byte) (int, error) {
	text := policy.Redact(string(line))
	if !json.Valid([]byte(text)) { // the secret was not inside a JSON string
		raw, err := json.Marshal(map[string]string{"level": "warn", "message": text})
		if err != nil {
			return 0, err
		}
		text = string(raw) + "\n"
	}
	if _, err := io.WriteString(w.out, text); err != nil {
		return 0, err
	}
	return len(line), nil
}
