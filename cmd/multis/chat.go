package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/config"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// chatCmd talks to the assistant without a homeserver: what is typed goes through the same inbox, jobs, gate and outbox
// as a message of the owner's in the admin room.
type chatCmd struct {
	Data      string `placeholder:"FOLDER" help:"Where this conversation and its documents are kept. Defaults to a folder in your cache."`
	Documents string `default:"." placeholder:"FOLDER" help:"The folder whose files /index may read. Defaults to this one."`
}

// chatConfig is the configuration of a conversation in a terminal. Nothing listens and nothing is sent anywhere.
const chatConfig = `
homeserver: {address: "http://terminal.invalid", domain: terminal.invalid}
appservice: {as_token: unused, hs_token: unused_too, sender_localpart: unused}
owner: "@you:terminal.invalid"
time_zone: UTC
`

const terminalRoom id.RoomID = "!terminal:terminal.invalid"

// Run reads lines until the input ends, then waits for the last answer.
func (c chatCmd) Run(ctx context.Context, _ *cli) error {
	cfg, err := config.Parse("multis chat", []byte(chatConfig), os.LookupEnv)
	if err != nil {
		return err
	}
	cfg.TimeZone = time.Local
	if cfg.Database.DataDir, err = c.dataDir(); err != nil {
		return err
	}
	if cfg.Documents.Folder, err = filepath.Abs(c.Documents); err != nil {
		return fmt.Errorf("documents folder: %w", err)
	}
	fmt.Fprintln(os.Stderr, "Starting a Postgres of our own in", cfg.Database.DataDir, "...")
	log := zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}).Level(zerolog.ErrorLevel)
	zerolog.DefaultContextLogger = &log
	ctx = log.WithContext(ctx)
	st, closeDB, err := openStore(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer closeDB()
	return converse(ctx, cfg, st, os.Stdin, os.Stdout)
}

// dataDir is where the database lives. Root's cache is closed to the user that Postgres runs as, so root gets another place.
func (c chatCmd) dataDir() (string, error) {
	if c.Data != "" {
		return c.Data, nil
	}
	if os.Geteuid() == 0 {
		return "/var/lib/multis/chat", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find your cache folder: %w; name one with --data", err)
	}
	return filepath.Join(cache, "multis", "chat"), nil
}

// converse passes lines in and answers out until the input or ctx ends.
func converse(ctx context.Context, cfg *config.Config, st *store.Store, in io.Reader, out io.Writer) error {
	as, err := newAssistant(ctx, cfg, st, parts{
		sender: terminal{out}, files: terminal{out}, rooms: terminal{out},
		inbox:     func(r appservice.Rules) *appservice.Inbox { return appservice.NewInbox(st, r) },
		describer: func(*appservice.Inbox) jobs.Describer { return terminal{out} },
		decrypter: func(*appservice.Inbox) jobs.Decrypter { return terminal{out} },
		historian: func(*appservice.Inbox) jobs.Historian { return terminal{out} },
	})
	if err != nil {
		return err
	}
	chat, err := openTerminalChat(ctx, st)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return as.runner.Run(ctx) })
	group.Go(func() error {
		defer stop()
		fmt.Fprintln(out, "Ask something, or /help. Ctrl-D ends.")
		for line := range lines(ctx, in) {
			if err := as.inbox.Receive(ctx, []*event.Event{typed(cfg.Owner, line)}, ""); err != nil {
				return err
			}
		}
		return drain(ctx, st, chat.ID)
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func openTerminalChat(ctx context.Context, st *store.Store) (chat store.Chat, err error) {
	room := terminalRoom
	err = st.InTx(ctx, func(tx store.Tx) error {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol: "terminal", ChannelID: "terminal", RoomID: &room, Kind: policy.KindAdmin, Name: "terminal", Encrypted: policy.EncryptionNo,
		})
		return err
	})
	return chat, err
}

// lines yields what is typed until the input ends. The reader cannot be interrupted; after ctx ended it is left to the
// end of the process.
func lines(ctx context.Context, in io.Reader) func(func(string) bool) {
	typed := make(chan string)
	go func() {
		defer close(typed)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case typed <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(yield func(string) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case line, open := <-typed:
				if !open || (strings.TrimSpace(line) != "" && !yield(line)) {
					return
				}
			}
		}
	}
}

// typed is a line as a message of the owner's.
func typed(owner id.UserID, line string) *event.Event {
	return &event.Event{
		Type: event.EventMessage, ID: id.EventID("$" + uuid.NewString()), RoomID: terminalRoom, Sender: owner, Timestamp: time.Now().UnixMilli(),
		Content: event.Content{Parsed: &event.MessageEventContent{MsgType: event.MsgText, Body: line}},
	}
}

// drain waits until everything that was asked is answered and everything answered is shown.
func drain(ctx context.Context, st *store.Store, chat int64) error {
	for {
		open, err := store.Unfinished(ctx, st.DB(), chat)
		if err != nil || !open {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// terminal is the homeserver's place taken by a terminal.
type terminal struct{ out io.Writer }

// Send shows a message. Reactions have no place in a terminal.
func (t terminal) Send(_ context.Context, o store.Out, _ id.RoomID) (id.EventID, error) {
	var content struct {
		Body string `json:"body"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "", jobs.Final(fmt.Errorf("read message: %w", err))
	}
	if content.Body != "" {
		fmt.Fprintln(t.out, "\n"+content.Body+"\n")
	}
	return id.EventID("$" + o.ID.String()), nil
}

// Retract does nothing: what stands in a terminal stands there.
func (terminal) Retract(context.Context, store.Out) error { return nil }

// Download fails: there are no files to fetch without a homeserver.
func (terminal) Download(context.Context, store.Attachment, int64) ([]byte, error) {
	return nil, errors.New("there are no attachments in a terminal; name the file's path")
}

// History does nothing: a terminal has none.
func (terminal) History(context.Context, jobs.HistoryArgs) error { return nil }

// Decrypt does nothing: nothing is encrypted here.
func (terminal) Decrypt(context.Context, int64) error { return nil }

// MakeAdminRoom does nothing: the terminal is the room.
func (terminal) MakeAdminRoom(context.Context) error { return nil }

// Describe does nothing: there are no rooms to describe.
func (terminal) Describe(context.Context, id.RoomID) error { return nil }
