package knowledge

import (
	"bytes"
	"net/mail"
	"path"
	"strings"
)

const (
	containerMail     = "an e-mail (.eml)"
	containerPage     = "a saved page with its pictures (.mht)"
	containerMailbox  = "a mailbox (.mbox)"
	containerContacts = "a list of contacts (.vcf)"
	containerCalendar = "a calendar (.ics)"
)

// containers are the file endings of text formats that contain files and data for programs.
var containers = map[string]string{
	".eml":   containerMail,
	".emlx":  containerMail,
	".mht":   containerPage,
	".mhtml": containerPage,
	".mbox":  containerMailbox,
	".vcf":   containerContacts,
	".ics":   containerCalendar,
}

// containerOf returns what a file is that is written like a text but contains files or data for programs; empty for others.
func containerOf(data []byte, name string) string {
	if known := containers[strings.ToLower(path.Ext(name))]; known != "" {
		return known
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	switch begin := bytes.ToUpper(bytes.TrimSpace(data[:min(len(data), 100)])); {
	case bytes.HasPrefix(begin, []byte("BEGIN:VCARD")):
		return containerContacts
	case bytes.HasPrefix(begin, []byte("BEGIN:VCALENDAR")):
		return containerCalendar
	case bytes.HasPrefix(data, []byte("From ")):
		if _, rest, found := bytes.Cut(data, []byte("\n")); found && isMail(rest) {
			return containerMailbox
		}
	case isMail(data):
		return containerMail
	}
	return ""
}

// maxMailHeader is how much of a file is searched for the header of a mail, in bytes.
const maxMailHeader = 64 << 10

// isMail reports whether a file begins with the header of a mail that says how its body is encoded, which a letter in a text does not.
func isMail(data []byte) bool {
	message, err := mail.ReadMessage(bytes.NewReader(data[:min(len(data), maxMailHeader)]))
	if err != nil {
		return false
	}
	h := message.Header
	return h.Get("From") != "" && (h.Get("MIME-Version") != "" || h.Get("Content-Type") != "" || h.Get("Received") != "")
}
