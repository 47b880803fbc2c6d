package main

import "strings"

// otherCommands are command lines that people know from other programs and from the first multis, with what to type here.
var otherCommands = map[string]string{
	"start":           "multis run, or as a service: systemctl start multis",
	"stop":            "systemctl stop multis; to stop what it sends: /pause all in the admin room",
	"restart":         "systemctl restart multis",
	"logs":            "journalctl -fu multis",
	"log":             "journalctl -fu multis",
	"gateway":         "multis run",
	"agent":           "multis chat asks in a terminal, multis agents lists the agents",
	"cron":            "/cron and /jobs in the admin room, or in multis chat",
	"jobs":            "/jobs in the admin room, or in multis chat",
	"install-service": "multis init installs the service",
	"setup":           "multis init",
	"onboard":         "multis init",
	"health-check":    "multis doctor",
	"metrics":         "multis status shows what runs; for Prometheus set ops.listen in config.yaml and ask /metrics",
	"message":         "/send in the admin room",
	"skills":          "/skills in the admin room, or in multis chat",
	"update":          "apt-get install ./multis_*_amd64.deb with the new package, or pull the new image",
}

// otherCommand says what to type instead of a command line that begins with a command of another program; empty for others.
func otherCommand(args []string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if instead := otherCommands[arg]; instead != "" {
			return "there is no command " + arg + " here; use: " + instead
		}
		return ""
	}
	return ""
}
