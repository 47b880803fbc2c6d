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
	"multis/internal/sleep"
	"multis/ops/setup"
	"multis/policy"
	"multis/store"
)

// chatCmd runs the assistant in a terminal, without a homeserver. Each line goes through the inbox, jobs, gate and
// outbox, like a message of the owner in the admin room.
type chatCmd struct {
	Data      string `placeholder:"FOLDER" help:"The folder of the database for multis chat, which multis run does not use. Defaults to multis/chat in your cache folder, for root to /var/cache/multis/chat."`
	Documents string `placeholder:"FOLDER" help:"The folder whose files /index may read. Defaults to documents.folder of the configuration; without one to this folder."`
	Customer  bool   `help:"Write as a customer instead, who is answered from the public documents."`
}

const terminalRoom id.RoomID = "!terminal:terminal.invalid"

// Run reads lines until the input ends, then waits for the last answer.
func (c chatCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := c.configuration(global.Config)
	if err != nil {
		return err
	}
	if err := checkModel(cfg); err != nil {
		return err
	}
	closeLog, err := openLog(config.Logging{Level: zerolog.ErrorLevel, Format: config.FormatPretty})
	if err != nil {
		return err
	}
	defer closeLog()
	if err := setup.CheckFolder(cfg.Database.DataDir); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if cfg.Database.URL == "" {
		fmt.Fprintln(os.Stderr, "Starting Postgres in", cfg.Database.DataDir, "...")
	}
	st, closeDB, err := openAndMigrate(ctx, cfg.Database, exclusive, withoutBackup)
	if err != nil {
		return err
	}
	defer closeDB()
	if c.Customer {
		return talk(ctx, cfg, st, os.Stdin, os.Stdout)
	}
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	return converse(ctx, cfg, st, os.Stdin, newTerminal(os.Stdout, interactive, saveInWorkingDir(st)))
}

// configuration loads the configuration file, if there is one, without its Matrix and database settings: the terminal has
// its own database and sends nothing to anybody. A process of root continues as the user who owns the data folder.
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
		if err := setup.DropPrivileges(cfg.Database.DataDir); err != nil {
			return nil, err
		}
	}
	if cfg.TimeZone == nil {
		cfg.TimeZone = localZone()
	}
	if cfg.Database.DataDir, err = c.dataDir(); err != nil {
		return nil, err
	}
	if err := setup.DropPrivileges(cfg.Database.DataDir); err != nil {
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

// dataDir returns the folder of the database. Postgres runs as another user, who cannot read root's cache folder, so for root the folder is
// elsewhere.
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

// localZone returns the time zone of this machine, with its name if it can be found.
func localZone() *time.Location {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if name == "" {
		link, _ := filepath.EvalSymlinks("/etc/localtime") // an invalid name is rejected below
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if name == "" {
		text, _ := os.ReadFile("/etc/timezone") // likewise
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

// converse reads lines and shows answers until the input or ctx ends.
func converse(ctx context.Context, cfg *config.Config, st *store.Store, in io.Reader, out *terminal) error {
	inbox := appservice.NewInbox(st, inboxSettings(cfg, nil))
	as, err := newAssistant(ctx, cfg, st, frontend{
		terminal:  true,
		inbox:     inbox,
		sender:    out,
		files:     out,
		rooms:     out,
		describer: out,
		decrypter: out,
		historian: out,
		keeper:    out,
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
	group.Go(func() error { return as.endProcesses(ctx) })
	group.Go(func() error { return ignorePortInUse(serveWebhooks(ctx, cfg.Watches, as.webhooks)) })
	group.Go(func() error { return ignorePortInUse(serveMCP(ctx, cfg.MCPServer, as)) })
	group.Go(func() error {
		defer stop()
		fmt.Fprintln(out.out,
			"Ask something, or type /help. An emoji alone, such as 👍, reacts to the last message; a line that begins with > replies to it. To end, type exit or Ctrl-D.")
		out.prompt()
		for line := range readLines(ctx, in) {
			if strings.TrimSpace(line) != "" {
				out.showThinking()
				if err := inbox.Receive(ctx, []*event.Event{out.newEvent(cfg.Owner, line)}, ""); err != nil {
					return err
				}
			}
			// The next line may depend on the answer to this one.
			if err := awaitAnswers(ctx, st, chat.ID, false); err != nil {
				return err
			}
			out.prompt()
		}
		return awaitAnswers(ctx, st, chat.ID, true)
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// ignorePortInUse prints an error about a port that is in use, for example by multis run, and returns nil. It returns all other errors.
func ignorePortInUse(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	fmt.Fprintln(os.Stderr, "Continuing without:", err)
	return nil
}

func openTerminalChat(ctx context.Context, st *store.Store) (chat store.Chat, err error) {
	room := terminalRoom
	err = st.InTx(ctx, func(tx store.Tx) error {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "terminal",
			ChannelID:  "terminal",
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Name:       "terminal",
			Encryption: policy.EncryptionNo,
		})
		return err
	})
	return chat, err
}

// isExit reports whether a line ends the conversation.
func isExit(line string) bool {
	return slices.Contains([]string{"exit", "quit"}, strings.TrimPrefix(strings.TrimSpace(line), "/"))
}

// readLines yields the lines of the input until it ends, a line says exit, or ctx ends. A blocked read cannot be
// interrupted; it ends with the process.
func readLines(ctx context.Context, in io.Reader) func(func(string) bool) {
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
				if !open || isExit(line) || !yield(line) {
					return
				}
			}
		}
	}
}

// awaitAnswers waits until all messages of the chat are answered and all answers are shown. If tasks is set, it also
// waits for running tasks.
func awaitAnswers(ctx context.Context, st *store.Store, chat store.ChatID, tasks bool) error {
	for {
		unfinished, err := store.HasUnfinishedWork(ctx, st.DB(), chat, tasks)
		if err != nil {
			return err
		}
		if !unfinished {
			return nil
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
