package store

// What is written lazily is there for everybody at once, but its commit does not wait for the disk: when the database's machine
// stops, the last half second of it may be gone. Never is something kept without what was committed before it, so all of it is on
// the disk as soon as anything is that was not written lazily. It is for notes on what is under way, which are made anew when
// they are missing.

const enterLazySQL = "select set_config('synchronous_commit', $1, true)"

// Lazy writes lazily, each statement in a transaction of its own.
func (s *Store) Lazy() DB { return Reader{s.pool, enterLazySQL, "off"} }

// Lazy writes lazily what scope names.
func (r Reader) Lazy() Reader {
	r.enter += ", set_config('synchronous_commit', 'off', true)"
	return r
}
