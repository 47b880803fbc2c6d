package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func names(labels []Label) (names []string) {
	for _, l := range labels {
		names = append(names, l.Name)
	}
	return names
}

func TestLabels_MatchHandNetworkNameWords(t *testing.T) {
	t.Parallel()
	d := Defaults{Labels: []Label{
		{Name: "wholesale", Names: []string{"ACME*", "* Ltd", "a*b*c"}},
		{Name: "chat", Networks: []string{"discord"}},
		{Name: "vip"},
		{Name: "refund", Words: []string{"money back"}},
	}}
	for name, c := range map[string]struct {
		facts ChatFacts
		want  []string
	}{
		"nothing fits":             {ChatFacts{Kind: KindDM, Name: "Ana", Protocol: "whatsapp"}, nil},
		"the name begins so":       {ChatFacts{Kind: KindDM, Name: "Acme Tools"}, []string{"wholesale"}},
		"the name ends so":         {ChatFacts{Kind: KindDM, Name: "Miller LTD"}, []string{"wholesale"}},
		"the name has all parts":   {ChatFacts{Kind: KindDM, Name: "a-b-c"}, []string{"wholesale"}},
		"the parts do not overlap": {ChatFacts{Kind: KindDM, Name: "abb"}, nil},
		"the name has it inside":   {ChatFacts{Kind: KindDM, Name: "The ACME"}, nil},
		"a network, as its bridge": {ChatFacts{Kind: KindGroup, Protocol: "discordgo"}, []string{"chat"}},
		"by hand, in the file's order": {
			ChatFacts{Kind: KindDM, Protocol: "discord", Labels: []string{"vip", "refund"}},
			[]string{"chat", "vip", "refund"},
		},
		"taken by hand": {
			ChatFacts{Kind: KindDM, Protocol: "discord", Name: "ACME", RemovedLabels: []string{"chat", "vip"}},
			[]string{"wholesale"},
		},
		"not configured":             {ChatFacts{Kind: KindDM, Labels: []string{"friend"}}, nil},
		"no rule is for other rooms": {ChatFacts{Kind: KindSelf, Protocol: "discord", Name: "ACME"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, names(d.LabelsOf(c.facts)), name)
		})
	}
	dm := ChatFacts{Kind: KindDM}
	require.Equal(t, []string{"refund"}, d.LabelsByWords(dm, "I want my MONEY  back!"))
	require.Empty(t, d.LabelsByWords(dm, "money, backwards"))
	require.Empty(t, d.LabelsByWords(ChatFacts{Kind: KindDM, Labels: []string{"refund"}}, "money back"), "it has it")
	require.Empty(t, d.LabelsByWords(ChatFacts{Kind: KindDM, RemovedLabels: []string{"refund"}}, "money back"), "the owner took it")
	require.Empty(t, d.LabelsByWords(ChatFacts{Kind: KindDM, Labels: make([]string, MaxLabels)}, "money back"),
		"it has as many as a chat may have")
}

func TestSettings_ChatThenLabelThenDefault(t *testing.T) {
	t.Parallel()
	auto, silent := DeliveryAuto, ModeSilent
	d := Defaults{
		Profile: ProfilePersonal, Networks: map[string]Mode{"whatsapp": ModeOff}, FirstDelivery: DeliveryShadow,
		Labels: []Label{
			{Name: "plain"},
			{Name: "first", Mode: ModeBusiness, Delivery: DeliveryDraft},
			{Name: "second", Mode: ModeSilent, Delivery: DeliveryAuto},
		},
	}
	labels := []string{"plain", "first", "second"}
	for name, c := range map[string]struct {
		facts    ChatFacts
		mode     Mode
		why      string
		delivery Delivery
	}{
		"the chat's own": {
			ChatFacts{Kind: KindDM, Mode: &silent, Delivery: &auto, Labels: labels},
			ModeSilent, "You set it.",
			DeliveryAuto,
		},
		"its first label with one": {
			ChatFacts{Kind: KindDM, Protocol: "whatsapp", Labels: labels},
			ModeBusiness,
			"Its label first is business.", DeliveryDraft,
		},
		"only the mode is its own": {ChatFacts{Kind: KindDM, Mode: &silent, Labels: labels}, ModeSilent, "You set it.", DeliveryDraft},
		"the network, then the profile": {
			ChatFacts{Kind: KindDM, Protocol: "whatsapp", Labels: []string{"plain"}},
			ModeOff,
			"Its network is off.", DeliveryAuto,
		},
		"a label makes no group answer": {
			ChatFacts{Kind: KindGroup, Labels: labels},
			ModeSilent,
			"Its label first is business, but groups start silent.", DeliveryDraft,
		},
	} {
		t.Run(name, func(t *testing.T) {
			mode, why := d.Mode(c.facts)
			require.Equal(t, c.mode, mode, name)
			require.Equal(t, c.why, why, name)
			require.Equal(t, c.delivery, d.Delivery(c.facts), name)
		})
	}
	answered := Defaults{Profile: ProfilePersonal, Labels: []Label{{Name: "shop", Mode: ModeBusiness}}}
	require.Equal(t, DeliveryDraft, answered.Delivery(ChatFacts{Kind: KindDM, Labels: []string{"shop"}}),
		"a chat that answers because of a label begins as one that answers by default")
}

func TestLabel_OfContactsSwitchesNothingOn(t *testing.T) {
	t.Parallel()
	d := Defaults{
		Profile: ProfileBusiness, Networks: map[string]Mode{"signal": ModeOff},
		Labels: []Label{
			{Name: "named", Names: []string{"*acme*"}, Mode: ModeSilent},
			{Name: "said", Words: []string{"invoice"}, Mode: ModeSilent},
			{Name: "blocked", Mode: ModeOff},
			{Name: "shop", Mode: ModeBusiness},
			{Name: "mute", Networks: []string{"telegram"}, Mode: ModeSilent},
		},
	}
	business := ModeBusiness
	for name, c := range map[string]struct {
		facts ChatFacts
		mode  Mode
		why   string
	}{
		"it silences a chat that answers": {
			ChatFacts{Kind: KindDM, Protocol: "whatsapp", Name: "ACME"},
			ModeSilent,
			"Its label named is silent.",
		},
		"it precedes a later label": {
			ChatFacts{Kind: KindDM, Protocol: "whatsapp", Labels: []string{"said", "shop"}},
			ModeSilent,
			"Its label said is silent.",
		},
		"the network stays off": {ChatFacts{Kind: KindDM, Protocol: "signal", Name: "ACME"}, ModeOff, "Its network is off."},
		"with two of them as well": {
			ChatFacts{Kind: KindDM, Protocol: "signal", Name: "ACME", Labels: []string{"said"}},
			ModeOff,
			"Its network is off.",
		},
		"a chat that is off by a label": {
			ChatFacts{Kind: KindDM, Protocol: "whatsapp", Name: "ACME", Labels: []string{"blocked"}},
			ModeOff,
			"Its label blocked is off.",
		},
		"an owner's label changes off": {
			ChatFacts{Kind: KindDM, Protocol: "signal", Labels: []string{"shop"}},
			ModeBusiness,
			"Its label shop is business.",
		},
		"the chat's own counts first": {
			ChatFacts{Kind: KindDM, Protocol: "signal", Name: "ACME", Mode: &business},
			ModeBusiness,
			"You set it.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			mode, why := d.Mode(c.facts)
			require.Equal(t, c.mode, mode, name)
			require.Equal(t, c.why, why, name)
		})
	}
}
