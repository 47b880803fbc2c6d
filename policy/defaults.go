package policy

// Defaults are the settings of chats for which the owner set none.
type Defaults struct {
	Profile  Profile
	Networks map[string]Mode // by the name that Network returns; the profile decides for other networks
	// FirstDelivery is the delivery of chats that are answered because of a default and not because the owner set their mode. Empty means
	// DeliveryDraft.
	FirstDelivery Delivery
}

// Delivery returns the delivery of a chat. set and setMode are the delivery and the mode that the owner set, or nil. Without set, the delivery is
// DeliveryAuto if the owner set the mode or if nothing is answered in the mode, and FirstDelivery otherwise.
func (d Defaults) Delivery(set *Delivery, setMode *Mode, kind Kind, protocol string) Delivery {
	mode, _ := d.Mode(setMode, kind, protocol)
	switch {
	case set != nil:
		return *set
	case setMode != nil, !mode.Answers(), d.FirstDelivery == DeliveryAuto:
		return DeliveryAuto
	case d.FirstDelivery == DeliveryShadow:
		return DeliveryShadow
	default:
		return DeliveryDraft
	}
}

// Mode returns the mode of a chat and a sentence that says where it comes from: set, else the mode of the network, else that of the
// profile. set is nil if the owner set none.
func (d Defaults) Mode(set *Mode, kind Kind, protocol string) (mode Mode, why string) {
	if set != nil {
		return *set, "You set it."
	}
	return DefaultMode(d.Profile, kind, d.Networks[Network(protocol)])
}
