package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/config"
	"multis/policy"
	"multis/store"
)

// chatCmd talks to the assistant without a homeserver: what is typed goes through the same inbox, jobs, gate and outbox
// as a message of the owner's in the admin room.
type chatCmd struct {
	Data      string `placeholder:"FOLDER" help:"Where this conversation and its documents are kept, apart from those of multis run. Defaults to multis/chat in your cache folder, for root to /var/cache/multis/chat."`
	Documents string `placeholder:"FOLDER" help:"The folder whose files /index may read. Defaults to documents.folder of the configuration; without one to this folder."`
}

const terminalRoom id.RoomID = "!terminal:terminal.invalid"

// Run reads lines until the input ends, then waits for the last answer.
func (c chatCmd) Run(ctx context.Context, g *cli) error {
	cfg, err := c.configuration(g.Config)
	if err != nil {
		return err
	}
	if err := checkModel(cfg); err != nil { //nolint:contextcheck // it connects to nobody
		return err
	}
	closeLog, err := openLog(config.Logging{Level: zerolog.ErrorLevel, Format: config.FormatPretty})
	if err != nil {
		return err
	}
	defer closeLog()
	if cfg.Database.URL == "" {
		fmt.Fprintln(os.Stderr, "Starting a Postgres of our own in", cfg.Database.DataDir, "...")
	}
	st, closeDB, err := openStore(ctx, cfg.Database, alone)
	if err != nil {
		return err
	}
	defer closeDB()
	watched := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	return converse(ctx, cfg, st, os.Stdin, newTerminal(os.Stdout, watched, keepHere(st)))
}

// configuration is that of the file, if there is one, but for what concerns Matrix and the database: nothing that is said here is sent
// anywhere, and multis run keeps its own. Root goes on as the user who owns the folders.
func (c chatCmd) configuration(file string) (*config.Config, error) {
	cfg, err := config.LoadOffline(file)
	found := err == nil
	if errors.Is(err, fs.ErrNotExist) && file == defaultConfig {
		cfg, err = config.ParseOffline("", nil, os.LookupEnv)
	}
	if err != nil {
		return nil, err
	}
	hideSecrets(cfg)
	if found {
		fmt.Fprintln(os.Stderr, "Using", file+".")
		if err := stepDown(cfg.Database.DataDir); err != nil {
			return nil, err
		}
	}
	if cfg.TimeZone == nil {
		cfg.TimeZone = localZone()
	}
	if cfg.Database.DataDir, err = c.dataDir(); err != nil {
		return nil, err
	}
	if err := stepDown(cfg.Database.DataDir); err != nil {
		return nil, err
	}
	switch {
	case c.Documents != "":
		cfg.Documents.Folder, err = filepath.Abs(c.Documents)
	case !found:
		cfg.Documents.Folder, err = filepath.Abs(".")
	}
	if err != nil {
		return nil, fmt.Errorf("documents folder: %w", err)
	}
	return cfg, nil
}

// dataDir is where the database lives. Root's cache is closed to the user that Postgres runs as, so root gets another place.
func (c chatCmd) dataDir() (string, error) {
	if c.Data != "" {
		return filepath.Abs(c.Data)
	}
	if os.Geteuid() == 0 {
		return "/var/cache/multis/chat", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find your cache folder: %w; name one with --data", err)
	}
	return filepath.Join(cache, "multis", "chat"), nil
}

// localZone is the time zone of this machine, by its name where that can be told.
func localZone() *time.Location {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		link, _ := filepath.EvalSymlinks("/etc/localtime") // what it is not is seen below
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if name == "" {
		text, _ := os.ReadFile("/etc/timezone") // as above
		name = strings.TrimSpace(string(text))
	}
	if zone, err := time.LoadLocation(name); err == nil && name != "" {
		return zone
	}
	if _, offset := time.Now().Zone(); offset == 0 {
		return time.UTC
	}
	return time.Local
}

// converse passes lines in and answers out until the input or ctx ends.
func converse(ctx context.Context, cfg *config.Config, st *store.Store, in io.Reader, out *terminal) error {
	inbox := appservice.NewInbox(st, inboxRules(cfg))
	as, err := newAssistant(ctx, cfg, st, frontend{
		terminal: true, inbox: inbox, sender: out, files: out, rooms: out, describer: out, decrypter: out, historian: out, keeper: out,
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
	group.Go(func() error { return as.mcp.Run(ctx) })
	group.Go(func() error { return unlessTaken(serveWebhooks(ctx, cfg.Watches, as.webhooks)) })
	group.Go(func() error { return unlessTaken(serveMCP(ctx, cfg.MCPServer, as.tools)) })
	group.Go(func() error {
		defer stop()
		fmt.Fprintln(out.out, "Ask something, or /help. A sign such as 👍 typed alone reacts to the last message, > and text replies to it. To end: exit, or Ctrl-D.")
		out.prompt()
		for line := range lines(ctx, in) {
			if strings.TrimSpace(line) != "" {
				out.think()
				if err := inbox.Receive(ctx, []*event.Event{out.typed(cfg.Owner, line)}, ""); err != nil {
					return err
				}
			}
			// The next line may need what this one leads to.
			if err := drain(ctx, st, chat.ID, false); err != nil {
				return err
			}
			out.prompt()
		}
		return drain(ctx, st, chat.ID, true)
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// unlessTaken has a conversation go on without a port that the running multis has.
func unlessTaken(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	fmt.Fprintln(os.Stderr, "Without this:", err)
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

// drain waits until everything that was asked is answered and everything answered is shown; with tasks, also until nothing runs that
// would be told.
func drain(ctx context.Context, st *store.Store, chat int64, tasks bool) error {
	for {
		open, err := store.Unfinished(ctx, st.DB(), chat, tasks)
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
