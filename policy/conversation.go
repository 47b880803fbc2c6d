package policy

import "time"

// ConversationGap is the silence after which what a contact writes begins another conversation. In one conversation, one clarifying question is asked,
// and the contact is asked once whether it helped.
const ConversationGap = 12 * time.Hour
