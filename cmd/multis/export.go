package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"multis/config"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// exportCmd writes what is remembered as files, without the admin room.
type exportCmd struct {
	File  string   `arg:"" help:"The zip to write, which must not be there yet; - writes it to standard output."`
	Chats []string `arg:"" optional:"" name:"chat" help:"Chats by name or number, as multis shows them. Defaults to all, your own rooms too."`
}

// Run writes the zip.
func (c exportCmd) Run(ctx context.Context, all *cli) error {
	cfg, err := config.Load(all.Config)
	if err != nil {
		return err
	}
	st, closeDB, err := openStore(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer closeDB()
	rules, err := memoryRules(cfg, openSkills(cfg))
	if err != nil {
		return err
	}
	mem := memory.New(memory.Options{
		Store: st, Defaults: policy.Defaults{Profile: policy.Profile(cfg.Chats.Profile), Networks: networks(cfg)}, Zone: cfg.TimeZone, Rules: rules,
	})
	chats, err := chatsCalled(ctx, st, c.Chats)
	if err != nil {
		return err
	}
	if c.File == "-" {
		_, err := mem.Export(ctx, os.Stdout, chats)
		return err
	}
	return writeExport(ctx, mem, c.File, chats, os.Stderr)
}

// writeExport writes a new file, whole or not at all.
func writeExport(ctx context.Context, mem *memory.Memory, name string, chats []store.Chat, say io.Writer) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	done, err := mem.Export(ctx, f, chats)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintf(say, "%s: %s, %s of the last %s, %s.\n", name, count(done.Chats, "chat"), count(done.Messages, "message"), count(mem.Rules.LogDays, "day"), count(done.Notes, "note"))
	return nil
}

// chatsCalled finds the one chat of each name or number; without a name, all chats.
func chatsCalled(ctx context.Context, st *store.Store, names []string) ([]store.Chat, error) {
	ids, err := store.AllChats(ctx, st.DB())
	if err != nil {
		return nil, err
	}
	known, err := store.ChatsByID(ctx, st.DB(), ids)
	if err != nil {
		return nil, err
	}
	var all []store.Chat
	for _, id := range ids {
		if known[id].Kind != policy.KindSpace {
			all = append(all, known[id])
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	var found []store.Chat
	for _, name := range names {
		var fits []store.Chat
		for _, c := range all {
			if strings.EqualFold(c.Name, name) || strconv.FormatInt(c.ID, 10) == name {
				fits = append(fits, c)
			}
		}
		switch len(fits) {
		case 0:
			return nil, fmt.Errorf("there is no chat %q", name)
		case 1:
			found = append(found, fits[0])
		default:
			numbers := make([]string, len(fits))
			for i, c := range fits {
				numbers[i] = fmt.Sprintf("%d (%s)", c.ID, c.Protocol)
			}
			return nil, fmt.Errorf("several chats are called %q: say %s", name, strings.Join(numbers, " or "))
		}
	}
	return found, nil
}

// keepHere saves files that are sent into the folder that the terminal is in, under a name that is free.
func keepHere(st *store.Store) func(context.Context, uuid.UUID, string) (string, error) {
	return func(ctx context.Context, out uuid.UUID, name string) (string, error) {
		data, err := store.OutFile(ctx, st.DB(), out)
		if err != nil {
			return "", err
		}
		full, err := filepath.Abs(filepath.Base(name))
		if err != nil {
			return "", fmt.Errorf("find this folder: %w", err)
		}
		ext := filepath.Ext(full)
		for n := 2; ; n++ {
			f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, os.ErrExist) && n < 100 {
				full = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(strings.TrimSuffix(full, ext), fmt.Sprintf("-%d", n-1)), n, ext)
				continue
			}
			if err != nil {
				return "", fmt.Errorf("save the file: %w", err)
			}
			_, err = f.Write(data)
			return "saved as " + full, errors.Join(err, f.Close())
		}
	}
}
