package doctor

import (
	"context"
	"net"
	"net/url"
	"strings"

	"multis/config"
	"multis/store"
)

// Why checks are skipped.
const (
	skippedNoConfig   = "the configuration cannot be read"
	skippedNoDatabase = "the database cannot be read"
	skippedNoSchema   = "the database does not have the tables of this multis; its next start makes them, if no finding says otherwise"
)

// Checks returns all checks, in the order of a report.
func Checks() []Check {
	return []Check{
		{"configuration", checkConfig},
		{"data", checkData},
		{"homeserver", checkHomeserver},
		{"registration", checkRegistration},
		{"appservice", checkRunning},
		{"database", checkDatabase},
		{"safe mode", checkSafeMode},
		{"events", checkEvents},
		{"admin room", checkAdminRoom},
		{"encryption", checkEncryption},
		{"chats", checkChats},
		{"bridges", checkBridges},
		{"models", checkModels},
		{"budget", checkBudget},
		{"jobs", checkJobs},
		{"backup", checkBackup},
		{"commands", checkCommands},
		{"monitors", checkMonitors},
	}
}

func checkDatabase(ctx context.Context, in *Input) (Result, string) {
	switch {
	case in.Config == nil:
		return Result{}, skippedNoConfig
	case in.Restore.File != "":
		return Result{Findings: []Finding{in.Restore.finding(DatabaseSchema)}}, ""
	case in.ProgramsErr != nil:
		message, fix, _ := strings.Cut(in.ProgramsErr.Error(), "; ")
		return oneFinding(DatabasePrograms, strings.ToUpper(message[:1])+message[1:]+".", fix), ""
	case in.DatabaseErr != nil:
		return in.Postgres.unreachable(in.DatabaseErr, in.start()), ""
	case in.Database == nil:
		return Result{}, skippedNoDatabase
	}
	direct := in.Database
	if in.Config.Database.Direct != "" {
		opened, err := store.OpenInspector(ctx, in.Config.Database.Direct.Value())
		if err != nil {
			return unreachableDirect(err, in.start()), ""
		}
		defer opened.Close()
		direct = opened
	}
	r := probeDatabase(ctx, in.Database, direct, in.Postgres, in.Config.Embeddings.Model != config.NoModel)
	r.Findings = append(r.Findings, checkUpgrade(ctx, in)...)
	return r, ""
}

// noDatabase returns why a check that reads the database is skipped; empty if it is not.
func (in *Input) noDatabase() string {
	switch {
	case in.Config == nil:
		return skippedNoConfig
	case in.Database == nil:
		return skippedNoDatabase
	case !in.HasSchema:
		return skippedNoSchema
	}
	return ""
}

// hostOf returns the host of a URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// IsLoopback reports whether a host is reachable from its own machine only.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
