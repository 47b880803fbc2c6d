package policy

// Defaults decide for chats that nobody decided about by hand.
type Defaults struct {
	Profile  Profile
	Networks map[string]Mode // by what Network calls it; a network without an entry follows the profile
	// FirstDelivery is how what is said goes out in chats that answer although nobody set their mode by hand. Empty is DeliveryDraft.
	FirstDelivery Delivery
}

// Delivery is how what is said in a chat goes out: as set by hand, else at once where the mode was set by hand or does not answer, else as
// FirstDelivery says. setMode and set are nil where nobody set one.
func (d Defaults) Delivery(set *Delivery, setMode *Mode, kind Kind, protocol string) Delivery {
	mode, _ := d.Mode(setMode, kind, protocol)
	switch {
	case set != nil:
		return *set
	case setMode != nil, !mode.Answers(), d.FirstDelivery == DeliveryAuto:
		return DeliveryAuto
	default:
		return DeliveryDraft
	}
}

// Mode is the mode in force: set by hand, else the network's, else the profile's. set is nil when nobody set one.
func (d Defaults) Mode(set *Mode, kind Kind, protocol string) (mode Mode, why string) {
	if set != nil {
		return *set, "You set it."
	}
	return DefaultMode(d.Profile, kind, d.Networks[Network(protocol)])
}
