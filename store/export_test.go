package store

// ContinueStatements returns the statements of ContinueChat.
func ContinueStatements() []string { return continueSQL }
