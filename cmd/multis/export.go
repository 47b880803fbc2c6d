package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"multis/internal/text"
	"multis/memory"
	"multis/store"
)

// exportCmd exports chats into a zip file.
type exportCmd struct {
	File  string   `arg:"" help:"The zip to write, which must not exist yet; - writes it to standard output."`
	Chats []string `arg:"" optional:"" name:"chat" help:"Chats by name or number, as multis shows them. Defaults to all, your own rooms too."`
}

// Run writes the zip.
func (c exportCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	mem, err := openMemory(cfg, st)
	if err != nil {
		return err
	}
	chats, err := chatsNamed(ctx, st, c.Chats)
	if err != nil {
		return err
	}
	if c.File == "-" {
		_, err := mem.Export(ctx, os.Stdout, chats)
		return err
	}
	return writeExport(ctx, mem, c.File, chats, os.Stderr)
}

// writeExport writes a new file completely or not at all.
func writeExport(ctx context.Context, mem *memory.Memory, name string, chats []store.Chat, out io.Writer) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the export: %w; name a new file in an existing folder", err)
	}
	done, err := mem.Export(ctx, f, chats)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintf(out, "%s: %s, %s of the last %s, %s.\n", name, text.Count(done.Chats, "chat"), text.Count(done.Messages, "message"),
		text.Count(mem.Settings.LogDays, "day"), text.Count(done.Notes, "note"))
	return nil
}
