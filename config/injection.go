package config

import "time"

// Answers configures how answers of models to contacts are checked.
type Answers struct {
	Judge string // decides what the check of words leaves open: AgentModel, or a value like that of LLM.Model
}

// Injection configures how contacts' messages are checked for prompt injections.
type Injection struct {
	Enabled  bool          // whether messages are checked before a model reads them
	Judge    bool          // whether the agent's model checks them as well: one more call for each answer
	MaxFlags int           // how many flagged messages of a contact within a day start a hold
	HoldTime time.Duration // how long no model answers the contact during a hold
}
