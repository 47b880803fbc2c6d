package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"maunium.net/go/mautrix/id"

	"multis/text"
)

// AsRoot returns a shell line that runs another one as root. Root needs no sudo, which a small Debian lacks.
func AsRoot(line string) string {
	if os.Geteuid() == 0 {
		return line
	}
	return "sudo " + line
}

// psqlLine returns a shell line that runs statements as the administrator of the local Postgres; database may be empty.
func psqlLine(database string, statements ...string) string {
	words := []string{"sudo -u postgres psql"}
	if os.Geteuid() == 0 {
		words[0] = "runuser -u postgres -- psql"
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

// AccountLine returns the line that makes an account in Synapse, which takes small letters only. Debian's own package gives the program another name than
// Synapse and its image do.
func AccountLine(localpart string) string {
	const usual, debian = "register_new_matrix_user", "synapse_register_new_matrix_user"
	arguments := " -c /etc/matrix-synapse/homeserver.yaml -u " + text.ShellWord(strings.ToLower(localpart))
	if _, err := exec.LookPath(debian); err == nil {
		return debian + arguments
	}
	return usual + arguments + ", with Debian's own package " + debian
}
