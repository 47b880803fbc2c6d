package policy

// Cause is why a conversation was escalated, for numbers. Its values are stored and are not renamed.
type Cause string

// The causes.
const (
	CauseKeyword     Cause = "keyword"     // a word that always escalates
	CausePerson      Cause = "person"      // the contact asked for a person
	CauseRequest     Cause = "request"     // the contact asked that something is done
	CauseFile        Cause = "file"        // a picture or a file
	CauseCap         Cause = "cap"         // the contact got too many answers
	CauseHours       Cause = "hours"       // outside of the opening hours
	CauseInjection   Cause = "injection"   // it looked like an attempt to give orders
	CauseBudget      Cause = "budget"      // the budget was used up
	CauseNoAnswer    Cause = "no_answer"   // no document has the answer
	CauseUnanswered  Cause = "unanswered"  // the questions before it got no answer either
	CauseModel       Cause = "model"       // the model asked for a person
	CauseUnsupported Cause = "unsupported" // the gate refused the text of the answer
	CauseFailure     Cause = "failure"     // something was broken
)

// CauseOf returns the cause of an escalation that was decided with a code at admission.
func CauseOf(c Code) Cause {
	switch c {
	case CodeKeyword:
		return CauseKeyword
	case CodeWantsAction, CodeReminder:
		return CauseRequest
	case CodeAttached:
		return CauseFile
	case CodeCapMinute, CodeCapDay:
		return CauseCap
	default:
		return CausePerson
	}
}

// LacksDocument reports whether an answer in the documents would have avoided the escalation.
func (c Cause) LacksDocument() bool {
	return c == CauseNoAnswer || c == CauseModel || c == CauseUnsupported
}
