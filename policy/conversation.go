package policy

import "time"

// ConversationGap is how long a contact is silent before the next message begins a new conversation. In one conversation,
// one clarifying question is asked, and the contact is asked once whether it helped.
const ConversationGap = 12 * time.Hour
