package policy

// Cap names a limit on money. It limits the total cost of all calls that count towards it.
type Cap string

// The caps. Their values are stored.
const (
	CapDay   Cap = "day"   // all calls of a day
	CapChat  Cap = "chat"  // the calls of a chat on a day
	CapAgent Cap = "agent" // the calls of an agent on a day
	CapRun   Cap = "run"   // the calls of a task, over all of its attempts
)

// SpendRequest is a request to reserve what a call may cost. Amounts are millionths of the currency.
type SpendRequest struct {
	Day      string // "2006-01-02" in the owner's time zone
	Chat     ChatID // zero for a call that belongs to no chat
	Agent    string // empty for a call of no agent
	Run      string // empty for a call outside of a task
	Purpose  string
	Model    string
	Amount   int64 // the highest possible cost of the call
	DayCap   int64 // the caps, as amounts; see Cap
	ChatCap  int64
	AgentCap int64
	RunCap   int64
}

// Reservation is the answer to a SpendRequest. If Refused is set, nothing was reserved and the call must not be made.
type Reservation struct {
	ID           int64
	Refused      Cap  // the cap that the call would exceed; empty when the amount is reserved
	FirstRefusal bool // it is the first refusal by this cap on that day, or in that task
}

// Settlement is the actual cost of a call.
type Settlement struct {
	Amount  int64 // millionths of the currency
	In, Out int64 // tokens, zero when unknown
	Cached  int64 // tokens of In that came from the provider's cache
}
