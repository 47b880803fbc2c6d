package policy

// AdminEvent is what is known about an event in an admin room before its content is read.
type AdminEvent struct {
	Author Author
	// Forgeable is true for an event that another than its sender may have sent: by a device that is not verified, or in plain text where the room is
	// encrypted.
	Forgeable bool
	// Closed is true in a room that is no longer used, for example because somebody else came in.
	Closed bool
}

// Refusal returns why an event has no effect, whatever it says: as a command, an answer, a PIN, a reply in a thread or an edit of one. It is empty for
// what the owner writes by his own Matrix id in a Matrix client, and for what an operator writes. A bridge that sends with the owner's double puppet is
// not the owner here: in an admin room nobody needs a bridge.
func (e AdminEvent) Refusal() Code {
	switch {
	case e.Author == AuthorMultisBot || e.Author == AuthorMultisOwner:
		return CodeEcho
	case !e.Author.IsOwner() && e.Author != AuthorOperator:
		return CodeNotAllowed
	case e.Closed:
		return CodeRoomClosed
	case e.Forgeable:
		return CodeUntrusted
	case !e.Author.MayCommandAsOwner() && e.Author != AuthorOperator:
		return CodeBridged
	default:
		return ""
	}
}

// IsReportedRefusal reports whether a refused event of an admin room is stored, without its text, and answered with the reason. Others leave nothing.
func (c Code) IsReportedRefusal() bool {
	return c == CodeRoomClosed || c == CodeUntrusted || c == CodeBridged
}

// MayCommandAsOwner reports whether an author's messages in an admin room count as the owner's commands.
func (a Author) MayCommandAsOwner() bool { return a == AuthorOwnerClient }

// Actor returns what the audit log calls an author.
func (a Author) Actor() string {
	switch {
	case a.IsOwner():
		return "owner"
	case a == AuthorOperator, a == AuthorContact:
		return string(a)
	default:
		return "system"
	}
}

// MayAnswer reports whether an author may write to contacts from the thread of an escalation. operatorMay says whether the author may, if it is an
// operator.
func (a Author) MayAnswer(operatorMay bool) bool {
	return a.MayCommandAsOwner() || (a == AuthorOperator && operatorMay)
}
