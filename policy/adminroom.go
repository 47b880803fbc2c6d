package policy

// AdminEvent is what is known about an event in an admin room before its content is read.
type AdminEvent struct {
	Author Author
	// Forgeable is true if somebody else than the sender may have sent the event: its device is not verified, or it is in
	// plain text although the room is encrypted.
	Forgeable bool
	// Closed is true in a room that is no longer used, for example because a stranger joined it.
	Closed bool
}

// Refusal returns why an event has no effect, whatever its text is: as a command, an answer, a PIN, a reply in a thread
// or an edit. It is empty for what the owner writes with his own Matrix id in a Matrix client, and for what an operator
// writes. A bridge that sends with the owner's double puppet does not count as the owner here: nobody needs a bridge in
// an admin room.
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

// IsReportedRefusal reports whether an event of an admin room that was refused for this reason is stored, without its
// text, and answered with the reason. All other refused events leave nothing.
func (c Code) IsReportedRefusal() bool {
	return c == CodeRoomClosed || c == CodeUntrusted || c == CodeBridged
}

// MayCommandAsOwner reports whether an author's messages in an admin room count as the owner's commands.
func (a Author) MayCommandAsOwner() bool { return a == AuthorOwnerClient }

// Actor returns the name of an author in the audit log.
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

// MayAnswer reports whether an author may write to contacts from the thread of an escalation. operatorMay says whether an
// operator may do so.
func (a Author) MayAnswer(operatorMay bool) bool {
	return a.MayCommandAsOwner() || (a == AuthorOperator && operatorMay)
}
