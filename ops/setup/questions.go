package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/store/pgserver"
)

// askOwner asks for the owner, whose account must exist.
func (w *Wizard) askOwner(ctx context.Context) error {
	domain := ""
	if w.synapse != nil {
		domain = w.synapse.Domain
	}
	if w.Pairing {
		if w.value("owner") != "" {
			return nil // who stays the owner until another one is paired
		}
		return w.askDomain(ctx, domain)
	}
	q := Question{
		Title: "Your Matrix id", Help: "The person multis works for, such as @anna:" + orElse(domain, "example.com") + ".",
		Flag:     "--owner @you:" + orElse(domain, "example.com"),
		Complete: func(s string) string { return completeOwner(s, domain) },
		Check:    func(s string) error { return checkOwner(s, domain) },
	}
	return w.ask(ctx, "owner", q, func(ctx context.Context, owner string) doctor.Result {
		return w.Probes.Account(ctx, w.value("homeserver.address"), owner)
	})
}

// askDomain sets the homeserver's domain to found, or asks for it if found is empty, and sets the owner to the
// placeholder of that domain (config.UnpairedOwner).
func (w *Wizard) askDomain(ctx context.Context, found string) error {
	const key = "homeserver.domain"
	if found != "" {
		if err := w.set(key, found); err != nil {
			return err
		}
	} else if err := w.ask(ctx, key, Question{
		Title: "The domain of your homeserver",
		Help:  "The part after the colon in your Matrix id.",
		Check: notEmpty("a domain"),
	}, nil); err != nil {
		return err
	}
	return w.set("owner", config.UnpairedOwner(w.value(key)).String())
}

// completeOwner completes the name of an account to a Matrix id on domain: "anna" and "@anna". Anything else stays.
func completeOwner(s, domain string) string {
	s = strings.TrimSpace(s)
	name := strings.TrimPrefix(s, "@")
	if domain == "" || name == "" || strings.ContainsAny(name, ":@ ") {
		return s
	}
	return "@" + name + ":" + domain
}

// checkOwner checks the form of a Matrix id on domain, which is empty if it is unknown.
func checkOwner(s, domain string) error {
	user := id.UserID(s)
	_, host, err := user.Parse()
	switch {
	case text.Clean(s) != s:
		return fmt.Errorf("%s has characters that do not show; type it by hand", text.Visible(s))
	case err != nil || !strings.HasPrefix(s, "@") || host == "":
		return errors.New("a Matrix id looks like @anna:" + orElse(domain, "example.com"))
	case domain != "" && host != domain:
		return fmt.Errorf("the Synapse of this machine is %s, and you must have your account on it", domain)
	}
	return nil
}

// askAddress finds the address of the homeserver, or asks for it.
func (w *Wizard) askAddress(ctx context.Context) error {
	const key = "homeserver.address"
	if w.value(key) != "" {
		return w.ask(ctx, key, addressQuestion(), w.Probes.Homeserver)
	}
	candidates := []string{"http://127.0.0.1:8008", "http://synapse:8008", "http://matrix-synapse:8008"}
	if w.synapse != nil && len(w.synapse.Addresses) > 0 {
		candidates = w.synapse.Addresses
	}
	for _, address := range candidates {
		short, cancel := context.WithTimeout(ctx, candidateTimeout)
		result := w.Probes.Homeserver(short, address)
		cancel()
		if ctx.Err() != nil {
			return ErrAborted
		}
		if result.OK() {
			PrintResult(w.Out, "homeserver", result)
			return w.set(key, address)
		}
	}
	if w.Asker == nil {
		return fmt.Errorf("no homeserver answers at %s; give its address with --homeserver", text.List(candidates))
	}
	w.printf("! %-12s none answers at %s\n", "homeserver", text.List(candidates))
	return w.ask(ctx, key, addressQuestion(), w.Probes.Homeserver)
}

// candidateTimeout is the timeout for trying one address of a homeserver.
const candidateTimeout = 5 * time.Second

func addressQuestion() Question {
	return Question{
		Title: "The address of your homeserver", Help: "Where multis reaches Synapse, such as http://127.0.0.1:8008.",
	}
}

// choosePort chooses the port that multis listens on: for a new configuration the usual port, or the next one that is free.
func (w *Wizard) choosePort(ctx context.Context) error {
	const key, tries = "appservice.port", 50
	usual, err := strconv.Atoi(w.value(key))
	if err != nil || w.old != nil || w.isFixed(key) || w.isGiven(key) || w.isFixed("appservice.address") || w.isGiven("appservice.address") {
		return nil //nolint:nilerr // the check of the configuration names a wrong port
	}
	for port := usual; port < usual+tries; port++ {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		_ = listener.Close() // nothing was accepted
		if port == usual {
			return nil
		}
		w.printf("! %-12s %d is taken by another program; multis listens on %d\n", "port", usual, port)
		if err := w.set(key, strconv.Itoa(port)); err != nil {
			return err
		}
		return w.set("appservice.address", fmt.Sprintf("http://127.0.0.1:%d", port))
	}
	return nil
}

// askTimeZone takes the machine's time zone for a new configuration, and asks if there is none.
func (w *Wizard) askTimeZone(ctx context.Context) error {
	const key = "time_zone"
	zone := w.Machine.TimeZone()
	if w.old == nil && w.value(key) == "" && zone != "" {
		w.printOK("time zone", zone)
		return w.set(key, zone)
	}
	return w.ask(ctx, key, Question{
		Title: "Your time zone", Help: "For reminders and for where a day begins, such as Europe/Berlin.", Default: zone,
		Flag:     "--time-zone Europe/Berlin",
		Complete: func(s string) string { return completeZone(s, zoneNames()) },
	}, nil)
}

func (w *Wizard) askProfile(ctx context.Context) error {
	return w.ask(ctx, "chats.profile", Question{
		Title: "What should multis do in new chats?", Help: "You can change it for each chat at any time.",
		Options: []Option{
			{"personal", "personal: remember, never write"},
			{"business", "business: also draft answers in new direct chats, for your approval"},
		},
	}, nil)
}

func (w *Wizard) askName(ctx context.Context) error {
	return w.ask(ctx, "name", Question{
		Title: "The name of your assistant", Help: "Replies to contacts begin with it, as in [Nora].",
	}, nil)
}

// askDatabase chooses a Postgres server that multis starts itself, if the machine has the programs, else asks for an address.
func (w *Wizard) askDatabase(ctx context.Context) error {
	const key = "database.url"
	programs, err := w.postgresPrograms()
	if w.value(key) == "" && err == nil && (w.old == nil || w.isSettled(key)) {
		w.printOK("postgres", "multis runs its own from "+programs+w.Machine.vectors(programs))
		return nil
	}
	help := "As postgres://user:password@host/name. Empty: multis runs a Postgres of its own."
	if err != nil {
		help = "As postgres://user:password@host/name. Or install Postgres in another terminal (apt-get install postgresql) and press Enter: multis then runs its own."
		if dir := w.Machine.LocalPostgres(); dir != "" {
			help += " A Postgres runs on this machine, with its socket in " + dir + "."
		}
	}
	return w.ask(ctx, key, Question{
		Title:  "The database",
		Help:   help,
		Secret: w.value(key) != "",
	}, func(ctx context.Context, dsn string) doctor.Result {
		if dsn != "" {
			return w.Probes.Database(ctx, dsn)
		}
		programs, err := w.postgresPrograms()
		if err != nil {
			message, fix, _ := strings.Cut(err.Error(), "; ")
			return failedResult(doctor.DatabasePrograms, strings.ToUpper(message[:1])+message[1:]+".", fix)
		}
		return doctor.Result{Fact: "multis runs its own from " + programs + w.Machine.vectors(programs)}
	})
}

// postgresPrograms returns the folder of the programs with which multis can run a Postgres of its own. They must fit the
// data that may already be there.
func (w *Wizard) postgresPrograms() (string, error) {
	folder := orElse(w.value("database.data_dir"), "data")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(filepath.Dir(w.Config), folder)
	}
	return pgserver.Find(filepath.Join(folder, "postgres"))
}

func failedResult(id doctor.ID, message, fix string) doctor.Result {
	return doctor.Result{Findings: []doctor.Finding{{ID: id, Severity: doctor.Error, Message: message, Fix: fix}}}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
