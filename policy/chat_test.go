package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultMode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		profile Profile
		kind    Kind
		network Mode
		want    Mode
	}{
		{"a new direct chat in the personal profile is silent", ProfilePersonal, KindDM, "", ModeSilent},
		{"a new group in the personal profile is silent", ProfilePersonal, KindGroup, "", ModeSilent},
		{"a new direct chat in the business profile is business", ProfileBusiness, KindDM, "", ModeBusiness},
		{"a new group in the business profile is silent", ProfileBusiness, KindGroup, "", ModeSilent},
		{"a network's mode comes before the profile", ProfileBusiness, KindDM, ModeSilent, ModeSilent},
		{"a network can be off", ProfileBusiness, KindDM, ModeOff, ModeOff},
		{"a network can be business in the personal profile", ProfilePersonal, KindDM, ModeBusiness, ModeBusiness},
		{"a network's business makes no group speak", ProfileBusiness, KindGroup, ModeBusiness, ModeSilent},
		{"a network's personal makes no group speak", ProfileBusiness, KindGroup, ModePersonal, ModeSilent},
		{"a network that is off has its groups off", ProfileBusiness, KindGroup, ModeOff, ModeOff},
		{"a network's mode that is not known is off", ProfileBusiness, KindDM, "loud", ModeOff},
		{"without a profile everything is off", "", KindDM, "", ModeOff},
		{"a profile that is not known is off", "party", KindGroup, "", ModeOff},
		{"a space is off", ProfileBusiness, KindSpace, ModeBusiness, ModeOff},
		{"a note to oneself is off", ProfileBusiness, KindSelf, ModeBusiness, ModeOff},
		{"the admin room is outside the ladder", ProfileBusiness, KindAdmin, ModeBusiness, ModeOff},
		{"a kind that is not known is off", ProfileBusiness, "", "", ModeOff},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mode, why := DefaultMode(test.profile, test.kind, test.network)
			require.Equal(t, test.want, mode)
			require.NotEmpty(t, why)
		})
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{ModeBusiness, ModePersonal, ModeSilent, ModeOff} {
		require.True(t, mode.Valid(), mode)
	}
	for _, mode := range []Mode{"", "Business", "loud"} {
		require.False(t, mode.Valid(), mode)
	}
	for _, kind := range []Kind{KindDM, KindGroup, KindSpace, KindSelf, KindAdmin} {
		require.True(t, kind.Valid(), kind)
	}
	for _, kind := range []Kind{"", "DM", "channel"} {
		require.False(t, kind.Valid(), kind)
	}
	require.True(t, AuthorOwnerPhone.IsOwner() && AuthorOwnerClient.IsOwner())
	require.False(t, AuthorMultisOwner.IsOwner() || AuthorOperator.IsOwner() || Author("").IsOwner())
}

func TestCode_EachHasSentence(t *testing.T) {
	t.Parallel()
	codes := []Code{
		CodeAnswer, CodeCommand, CodeKeyword, CodeWantsHuman, CodeWantsAction, CodeShadow, CodeReminder, CodeAttached, CodeTranscribing,
		CodeNetworkLimit, CodeNoFiles, CodeFileTooBig, CodeNoCaptions, CodeNoEdits, CodeNoReactions, CodePartMissing, CodeRestoreDropped,
		CodeTranscribed, CodeTranscriptionFailed, CodeStale, CodeBackfill, CodeEdited, CodeNoText, CodeAskedToStop,
		CodeAcknowledged, CodeFlood, CodeOwnerWrote, CodeOperatorWrote, CodeEcho, CodeBot, CodeBridgeBot, CodeUnknownAuthor,
		CodeNotAllowed, CodeBridged, CodeRoomClosed, CodeNoChat, CodeOff, CodeSilent, CodeNotAddressed, CodePausedAll, CodePausedChat,
		CodeOwnerActive,
		CodeMinuteCap, CodeDayCap, CodeAllowed, CodeUnknownPurpose, CodeWrongSender, CodeNoRoom, CodeTombstoned, CodeUnverified,
		CodeEncrypted, CodeEncryptionUnknown, CodeNoSource, CodeNotice, CodeEmpty, CodeTooLong, CodeControl, CodeBridgeCommand,
	}
	sentences := map[string]Code{}
	for _, code := range codes {
		require.Regexp(t, `^[A-Z].*\.$`, code.Sentence(), code)
		require.NotContains(t, sentences, code.Sentence(), code)
		sentences[code.Sentence()] = code
	}
	require.Empty(t, Code("weather").Sentence())
}

func TestFirstDelivery_DefaultModesOnly(t *testing.T) {
	t.Parallel()
	business := ModeBusiness
	silent := ModeSilent
	auto := DeliveryAuto
	draft := DeliveryDraft
	byProfile := Defaults{Profile: ProfileBusiness}
	for name, c := range map[string]struct {
		defaults Defaults
		set      *Delivery
		mode     *Mode
		kind     Kind
		want     Delivery
	}{
		"by the profile": {byProfile, nil, nil, KindDM, DeliveryDraft},
		"by its network": {
			Defaults{Profile: ProfilePersonal, Networks: map[string]Mode{"whatsapp": ModeBusiness}},
			nil, nil,
			KindDM, DeliveryDraft,
		},
		"by the profile, configured":       {Defaults{Profile: ProfileBusiness, FirstDelivery: DeliveryAuto}, nil, nil, KindDM, DeliveryAuto},
		"by the profile, auto by hand":     {byProfile, &auto, nil, KindDM, DeliveryAuto},
		"by hand":                          {byProfile, nil, &business, KindDM, DeliveryAuto},
		"by hand, drafts by hand":          {byProfile, &draft, &business, KindDM, DeliveryDraft},
		"silent by the profile":            {Defaults{Profile: ProfilePersonal}, nil, nil, KindDM, DeliveryAuto},
		"a group in the business profile":  {byProfile, nil, nil, KindGroup, DeliveryAuto},
		"silent by hand, drafts from then": {byProfile, &draft, &silent, KindDM, DeliveryDraft},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, c.defaults.Delivery(ChatFacts{Mode: c.mode, Delivery: c.set, Kind: c.kind, Protocol: "whatsapp"}), name)
		})
	}
}
