package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"
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
	Data      string `placeholder:"FOLDER" help:"Where this conversation and its documents are kept. Defaults to multis/chat in your cache folder, for root to /var/lib/multis/chat."`
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
	cfg, err := config.Parse("", []byte(chatConfig), os.LookupEnv)
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
	if err := checkModel(cfg); err != nil { //nolint:contextcheck // it connects to nobody
		return err
	}
	fmt.Fprintln(os.Stderr, "Starting a Postgres of our own in", cfg.Database.DataDir, "...")
	closeLog, err := openLog(config.Logging{Level: zerolog.ErrorLevel, Format: config.FormatPretty})
	if err != nil {
		return err
	}
	defer closeLog()
	st, closeDB, err := openStore(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer closeDB()
	watched := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	return converse(ctx, cfg, st, os.Stdin, terminal{os.Stdout, watched, keepHere(st)})
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
func converse(ctx context.Context, cfg *config.Config, st *store.Store, in io.Reader, out terminal) error {
	as, err := newAssistant(ctx, cfg, st, parts{
		sender: out, files: out, rooms: out,
		inbox:     func(r appservice.Rules) *appservice.Inbox { return appservice.NewInbox(st, r) },
		describer: func(*appservice.Inbox) jobs.Describer { return out },
		decrypter: func(*appservice.Inbox) jobs.Decrypter { return out },
		historian: func(*appservice.Inbox) jobs.Historian { return out },
		keeper:    func(*appservice.Inbox) jobs.Keeper { return out },
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
	group.Go(func() error { return as.source.Run(ctx) })
	group.Go(func() error {
		defer stop()
		fmt.Fprintln(out.out, "Ask something, or /help. To end: exit, or Ctrl-D.")
		out.prompt()
		for line := range lines(ctx, in) {
			if strings.TrimSpace(line) != "" {
				out.think()
				if err := as.inbox.Receive(ctx, []*event.Event{typed(cfg.Owner, line)}, ""); err != nil {
					return err
				}
			}
			// The next line may need what this one leads to.
			if err := drain(ctx, st, chat.ID); err != nil {
				return err
			}
			out.prompt()
		}
		return nil
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

// ends tells whether a line ends the conversation.
func ends(line string) bool {
	return slices.Contains([]string{"exit", "quit"}, strings.TrimPrefix(strings.TrimSpace(line), "/"))
}

// lines yields what is typed until the input ends or a line says so. The reader cannot be interrupted; after ctx ended it is left to the
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
				if !open || ends(line) || !yield(line) {
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
