package pgserver

// Find returns the folder of the Postgres programs that Start uses, or ErrNoBinaries.
func Find() (string, error) { return binaries() }
