package web

// Routes returns the patterns of all routes, and whether they are open to everybody.
func Routes() map[string]bool {
	all := map[string]bool{}
	for _, r := range (&Site{}).routes() {
		all[r.pattern] = r.open
	}
	return all
}
