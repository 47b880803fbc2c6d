package knowledge

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

const (
	containerMail     = "an e-mail (.eml)"
	containerPage     = "a saved page with its pictures (.mht)"
	containerMailbox  = "a mailbox (.mbox)"
	containerContacts = "a list of contacts (.vcf)"
	containerCalendar = "a calendar (.ics)"
	containerXML      = "an office document in one file of XML"
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
	if officeXML.Match(data[:min(len(data), maxXMLHead)]) {
		return containerXML
	}
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

// maxXMLHead is how much of a file is searched for the first element of its XML, in bytes.
const maxXMLHead = 4 << 10

// officeXML matches the beginning of a document of Word, Excel or LibreOffice that was saved as XML.
var officeXML = regexp.MustCompile(`^\s*<\?xml[^>]*\?>(?s:\s*(?:<\?.*?\?>|<!--.*?-->))*\s*` +
	`<(?:w:wordDocument|pkg:package|office:document|FictionBook)\b`)

// maxMailHeader is how much of a file is searched for the header of a mail, in bytes.
const maxMailHeader = 64 << 10

var (
	mailSender = regexp.MustCompile(`(?mi)^From:`)
	mailFormat = regexp.MustCompile(`(?mi)^(MIME-Version|Content-Type|Content-Transfer-Encoding|Received|Message-ID):`)
	mailField  = regexp.MustCompile(`^[\w-]+:`)
)

// isMail reports whether a file begins with the header of a mail that says how it was encoded or sent, which a letter in a text does not.
func isMail(data []byte) bool {
	header, _, _ := bytes.Cut(bytes.ReplaceAll(data[:min(len(data), maxMailHeader)], []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	return mailField.Match(header) && mailSender.Match(header) && mailFormat.Match(header)
}
