package policy

// Cause is why a conversation was escalated, for statistics. Its values are stored and are not renamed.
type Cause string

// The causes.
const (
	CauseKeyword          Cause = "keyword"     // a word that always escalates
	CauseDanger           Cause = "danger"      // somebody is in danger or in pain
	CausePerson           Cause = "person"      // the contact asked for a person
	CauseRequest          Cause = "request"     // the contact asked for something to be done
	CauseFile             Cause = "file"        // a picture or a file
	CauseCap              Cause = "cap"         // the cap of answers to the contact was reached
	CauseHours            Cause = "hours"       // outside of the opening hours
	CauseInjection        Cause = "injection"   // the message looked like a prompt injection
	CauseBudget           Cause = "budget"      // the budget was used up
	CauseNoAnswer         Cause = "no_answer"   // no document has the answer
	CauseRepeatedNoAnswer Cause = "unanswered"  // no document has the answer, and several questions right before it got none either
	CauseModel            Cause = "model"       // the model asked for a person
	CauseUnsupported      Cause = "unsupported" // the gate refused the text of the answer
	CauseFailure          Cause = "failure"     // something was broken
)

// CauseOf returns the cause of an escalation that was decided with a code at admission.
func CauseOf(c Code) Cause {
	switch c {
	case CodeDanger:
		return CauseDanger
	case CodeKeyword:
		return CauseKeyword
	case CodeWantsAction, CodeReminder:
		return CauseRequest
	case CodeAttached:
		return CauseFile
	case CodeMinuteCap, CodeDayCap:
		return CauseCap
	default:
		return CausePerson
	}
}

// LacksDocument reports whether an answer in the documents could have avoided the escalation.
func (c Cause) LacksDocument() bool {
	return c == CauseNoAnswer || c == CauseModel || c == CauseUnsupported
}
