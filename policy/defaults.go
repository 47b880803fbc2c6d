package policy

// Defaults decide for chats that nobody decided about by hand.
type Defaults struct {
	Profile  Profile
	Networks map[string]Mode // by protocol; a network without an entry follows the profile
}

// Mode is the mode in force: set by hand, else the network's, else the profile's. set is nil when nobody set one.
func (d Defaults) Mode(set *Mode, kind Kind, protocol string) (mode Mode, why string) {
	if set != nil {
		return *set, "You set it."
	}
	return DefaultMode(d.Profile, kind, d.Networks[protocol])
}
