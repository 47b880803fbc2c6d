package config

import "time"

// Injection configures how contacts' messages are checked for prompt injections.
type Injection struct {
	Enabled  bool          // whether messages are checked before a model reads them
	Judge    bool          // whether the agent's model checks them as well: one more call for each answer
	MaxFlags int           // how many flagged messages of a contact within a day start a hold
	HoldTime time.Duration // how long no model answers the contact during a hold
}
