package doctor

import (
	"os"
	"regexp"

	"github.com/jackc/pgx/v5"

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
	line := "sudo -u postgres psql"
	if os.Geteuid() == 0 {
		line = "runuser -u postgres -- psql"
	}
	if database != "" {
		line += " -d " + text.ShellWord(database)
	}
	for _, s := range statements {
		line += " -c " + text.ShellWord(s)
	}
	return line
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// sqlName returns a name as SQL needs it.
func sqlName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}

// closed returns a shell line that closes files to everybody but their owner.
func closed(paths ...string) string {
	line := "chmod 600"
	for _, path := range paths {
		line += " " + text.ShellWord(path)
	}
	return line
}
