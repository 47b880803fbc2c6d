package doctor

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
)

// typedByRoot is whether root started this program. A command that root types goes on as the owner of the data, so this is asked only once.
var typedByRoot = os.Geteuid() == 0

// AsRoot returns a shell line that runs another one as root. Root needs no sudo, which a small Debian lacks.
func AsRoot(line string) string {
	if typedByRoot {
		return line
	}
	return "sudo " + line
}

// Postgres says how the server of the database is administered. The zero value is one that is a service of its machine.
type Postgres struct {
	Psql           string // the shell command that connects as its administrator
	Start, Restart string // the shell lines that start and restart it
	Log            string // what says more about it
	Unit           string // its unit of systemd; empty means Debian's
	Address        string // the address of the database, with a placeholder in place of the password
	Connections    int    // how many one multis opens at most, beside those that last; 0 means the default
	IsLocal        bool   // whether the address is that of the machine itself
	// IsOurs is true for the server that multis runs itself. At each start multis creates there what only an administrator can create.
	IsOurs bool
}

// composePostgres is the name of the server of docker-compose.yml.
const composePostgres = "multis-postgres"

// PostgresAt returns how the server at an address is administered.
func PostgresAt(dsn string) Postgres {
	if host := hostOf(dsn); host != composePostgres {
		return Postgres{Address: withoutPassword(dsn), IsLocal: host == "" || IsLoopback(host)}
	}
	return Postgres{
		Psql: "docker compose exec " + composePostgres + " psql -U postgres", Restart: "docker compose restart " + composePostgres,
		Start: "docker compose up -d --wait", Log: "docker compose logs " + composePostgres,
	}
}

// OwnPostgres returns how multis' own server is administered. socket is the folder of its socket, which root may use, and
// start the line that starts or restarts multis, and with it the server.
func OwnPostgres(socket, start string) Postgres {
	return Postgres{
		Psql: AsRoot("psql -h " + text.ShellWord(socket) + " -U postgres"), Start: start, Restart: start,
		Log:    filepath.Join(filepath.Dir(socket), "postgres.log"),
		IsOurs: true,
	}
}

// withoutPassword returns the address of a database with PASSWORD in place of its password.
func withoutPassword(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "postgres://multis:PASSWORD@HOST/multis"
	}
	u.User = url.UserPassword(u.User.Username(), "PASSWORD")
	if query := u.Query(); query.Has("password") {
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	return u.String()
}

// unit returns the unit of the server.
func (p Postgres) unit() string { return cmp.Or(p.Unit, "postgresql") }

// restart returns the line that restarts the server.
func (p Postgres) restart() string {
	if p.Restart == "" {
		return AsRoot("systemctl restart "+p.unit()) + "   (on the machine of Postgres)"
	}
	return p.Restart
}

// psql returns a shell line that runs statements as the administrator of the server; database may be empty.
func (p Postgres) psql(database string, statements ...string) string {
	words := []string{p.Psql}
	switch {
	case p.Psql != "":
	case typedByRoot:
		words[0] = "runuser -u postgres -- psql"
	default:
		words[0] = "sudo -u postgres psql"
	}
	if database != "" {
		words = append(words, "-d", text.ShellWord(database))
	}
	for _, s := range statements {
		words = append(words, "-c", text.ShellWord(s))
	}
	return strings.Join(words, " ")
}

// unquotedName matches a name that SQL takes without quotes.
var unquotedName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// sqlName returns a name for use in SQL, quoted if necessary.
func sqlName(name string) string {
	if unquotedName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// chmodLine returns a shell line that closes files to everybody but their owner.
func chmodLine(paths ...string) string {
	words := []string{"chmod 600"}
	for _, path := range paths {
		words = append(words, text.ShellWord(path))
	}
	return strings.Join(words, " ")
}

// MissingAccount says that a user has no account.
func MissingAccount(user id.UserID) string {
	message := fmt.Sprintf("There is no account %s on this homeserver.", user)
	if small := strings.ToLower(user.String()); small != user.String() {
		message += fmt.Sprintf(" Matrix ids have small letters: is it %s?", small)
	}
	return message
}

// AccountLine returns the line that makes an account in Synapse, which takes small letters only. Debian's own package
// gives the program another name than Synapse and its image do.
func AccountLine(localpart string) string {
	const usual, debian = "register_new_matrix_user", "synapse_register_new_matrix_user"
	arguments := " -c /etc/matrix-synapse/homeserver.yaml -u " + text.ShellWord(strings.ToLower(localpart))
	if _, err := exec.LookPath(debian); err == nil {
		return debian + arguments
	}
	return usual + arguments + ", with Debian's own package " + debian
}
