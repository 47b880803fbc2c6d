package config

import "time"

// Injection configures how contacts' messages are checked for attempts to give the assistant orders.
type Injection struct {
	Enabled  bool          // whether they are checked before a model reads them
	Judge    bool          // whether the agent's model judges them as well: one more call for each answer
	MaxFlags int           // how many flagged messages of a contact within a day begin a hold
	HoldTime time.Duration // how long no model answers that contact then
}
