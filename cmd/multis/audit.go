package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"multis/config"
	"multis/safety/audit"
	"multis/store"
)

// auditCmd reads the audit log.
type auditCmd struct {
	Show   auditShowCmd   `cmd:"" default:"withargs" help:"Show the newest entries."`
	Verify auditVerifyCmd `cmd:"" help:"Check that nobody changed the log: exits with 0 if it is as it was written, else with 1."`
	Export auditExportCmd `cmd:"" help:"Write the whole log to standard output: a JSON object a line."`
}

// auditShowCmd lists entries.
type auditShowCmd struct {
	Task  store.TaskID `placeholder:"NUMBER" help:"Only entries of this task."`
	Chat  string       `placeholder:"NAME" help:"Only entries of this chat: its name or number, as multis shows it."`
	Day   string       `placeholder:"YYYY-MM-DD" help:"Only entries of this day."`
	Limit int          `default:"50" placeholder:"NUMBER" help:"How many, the newest."`
	JSON  bool         `name:"json" help:"A JSON object a line."`
}

// Run prints the entries, the oldest first.
func (c auditShowCmd) Run(ctx context.Context, all *cli) error {
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	f, err := c.filter(ctx, cfg, st)
	if err != nil {
		return err
	}
	links, err := store.ListAudit(ctx, st.DB(), f)
	if err != nil {
		return err
	}
	for _, l := range slices.Backward(links) {
		if !c.JSON {
			fmt.Println(audit.FormatEntry(l, "", cfg.TimeZone))
		} else if err := audit.WriteJSON(os.Stdout, l); err != nil {
			return err
		}
	}
	if len(links) == 0 && !c.JSON {
		fmt.Println("No such entries. The log keeps what multis did, decided and refused; multis audit verify checks it.")
	}
	return nil
}

func (c auditShowCmd) filter(ctx context.Context, cfg *config.Config, st *store.Store) (store.AuditFilter, error) {
	f := store.AuditFilter{Task: c.Task, Limit: c.Limit}
	if c.Limit <= 0 {
		return f, errors.New("--limit is a number from 1 on")
	}
	if c.Chat != "" {
		chats, err := chatsNamed(ctx, st, []string{c.Chat})
		if err != nil {
			return f, err
		}
		f.Chat = chats[0].ID
	}
	if c.Day != "" {
		day, err := time.ParseInLocation(time.DateOnly, c.Day, cfg.TimeZone)
		if err != nil {
			return f, fmt.Errorf("%q is not a day; write it as 2026-11-23", c.Day)
		}
		f.From, f.To = day, day.AddDate(0, 0, 1)
	}
	return f, nil
}

// auditVerifyCmd checks the chain.
type auditVerifyCmd struct {
	Link int64  `arg:"" optional:"" help:"The number of a link that was posted into the admin room, to compare the log with it."`
	Hash string `arg:"" optional:"" help:"The letters and digits of that link."`
}

// Run prints what was checked. If the chain is broken, it returns an error that names the first wrong entry.
func (c auditVerifyCmd) Run(ctx context.Context, all *cli) error {
	var saved store.AuditPoint
	if c.Link != 0 || c.Hash != "" {
		var err error
		if saved, err = audit.ParsePoint(strconv.FormatInt(c.Link, 10), c.Hash); err != nil {
			return err
		}
	}
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	log, err := audit.New(cfg.Appservice.ASToken.Value())
	if err != nil {
		return err
	}
	r, err := log.VerifyAgainst(ctx, st, saved)
	if err != nil {
		return err
	}
	fmt.Println(audit.VerifiedText(r, saved, cfg.TimeZone))
	return nil
}

// auditExportCmd writes the log.
type auditExportCmd struct{}

// Run writes all entries, the oldest first.
func (auditExportCmd) Run(ctx context.Context, all *cli) error {
	_, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	out := bufio.NewWriter(os.Stdout)
	err = st.ReadAudit(ctx, store.AuditReader{
		Start: func([]store.AuditCheckpoint, store.AuditPoint) error { return nil },
		Link:  func(l store.AuditLink) error { return audit.WriteJSON(out, l) },
	})
	return errors.Join(err, out.Flush())
}
