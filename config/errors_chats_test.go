package config

import (
	"strings"
	"testing"
)

func TestParse_ExplainsChatMistakes(t *testing.T) {
	t.Parallel()
	testMistakes(t, map[string]mistake{
		"an unknown key that is nearly right": {
			add:  "chats:\n  reply_max_age: 5m\n  profil: business\n",
			want: `config.yaml:12: chats.profil: unknown key; did you mean "profile"?`,
		},
		"the section of the networks misspelt": {
			add:  "chats:\n  network:\n    whatsapp: {mode: off}\n",
			want: `config.yaml:11: chats.network: unknown key; did you mean "networks"?`,
		},
		"somebody on call who is no operator": {
			add:  "business:\n  escalation:\n    on_call: [\"@late:example.org\"]\n",
			want: `config.yaml:12: business.escalation.on_call: names @late:example.org, who is neither the owner nor one of the operators; add that one to operators`,
		},
		"a label by which a contact could have himself answered": {
			add:  "chats:\n  labels:\n    vip:\n      words: [please]\n      mode: business\n",
			want: `config.yaml:14: chats.labels.vip.mode: cannot be "business", because contacts choose their names and words; leave out names and words, and give the label with /label`,
		},
		"a label by which a contact could skip the drafts": {
			add:  "chats:\n  labels:\n    vip:\n      names: [VIP*]\n      delivery: auto\n",
			want: `config.yaml:14: chats.labels.vip.delivery: cannot be "auto", because contacts choose their names and words; leave out names and words, and give the label with /label`,
		},
		"a label with a capital letter": {
			add:  "chats:\n  labels:\n    Big.Shops:\n      mode: silent\n",
			want: `config.yaml:12: chats.labels.Big.Shops: is not the name of a label; write a word of small letters, digits and hyphens, such as wholesale`,
		},
		"a label for every name": {
			add:  "chats: {labels: {vip: {names: ['*']}}}\n",
			want: `config.yaml:10: chats.labels.vip.names[0]: fits every chat; write a part of the name, such as "ACME*"`,
		},
		"a label with too many words": {
			add:  "chats: {labels: {vip: {words: [" + strings.Repeat("money, ", 101) + "]}}}\n",
			want: `config.yaml:10: chats.labels.vip.words: has 101 items; write at most 100`,
		},
		"hours of a label that cannot be read": {
			add:  "chats: {labels: {vip: {hours: [always]}}}\n",
			want: `config.yaml:10: chats.labels.vip.hours[0]: cannot be read: "always" has no times; write it like mon-fri 9-12:30, 13:30-18`,
		},
		"a key written with dots": {
			add:  "chats.profile: business\n",
			want: `config.yaml:10: chats.profile: unknown key; write a section, and the keys of that section below it`,
		},
		"an unknown key of a network": {
			add:  "chats: {networks: {whatsapp: {modus: off}}}\n",
			want: `config.yaml:10: chats.networks.whatsapp.modus: unknown key; did you mean "mode"?`,
		},
		"a network whose name cannot be one": {
			add:  "chats: {networks: {\"What's App\": {mode: off}}}\n",
			want: `config.yaml:10: chats.networks.What's App: is not the name of a network; write the bridge's protocol, such as whatsapp`,
		},
		"a value where a section belongs": {
			add:  "chats: personal\n",
			want: `config.yaml:10: chats: is a single value; write a section of "key: value" lines`,
		},
		"a number with a fraction": {
			add:  "chats:\n  admin_pause_minutes: 1.5\n",
			want: `config.yaml:11: chats.admin_pause_minutes: "1.5" is not possible here; write a whole number from 0 to 10080`,
		},
		"a negative number": {
			add:  "chats:\n  contact_caps:\n    per_day: -1\n",
			want: `config.yaml:12: chats.contact_caps.per_day: "-1" is not possible here; write a whole number from 1 to 100000`,
		},
		"a length of time without its unit": {
			add:  "chats: {burst_quiet: 4}\n",
			want: `config.yaml:10: chats.burst_quiet: "4" is not a length of time; write it like 30s, 10m or 1h30m`,
		},
		"a burst that ends before it is quiet": {
			add:  "chats:\n  burst_max: 2s\n",
			want: `config.yaml:11: chats.burst_max: is shorter than burst_quiet; write at least 4s`,
		},
		"a burst that is never quiet, by default": {
			add:  "chats:\n  networks: {signal: {mode: off}}\n  burst_quiet: 16s\n",
			want: `config.yaml:10: chats.burst_max: is shorter than burst_quiet; write at least 16s`,
		},
		"an unknown profile": {
			add:  "chats: {profile: private}\n",
			want: `config.yaml:10: chats.profile: "private" is not known here; write one of: personal, business`,
		},
		"an unknown mode": {
			add:  "chats: {networks: {signal: {mode: quiet}}}\n",
			want: `config.yaml:10: chats.networks.signal.mode: "quiet" is not known here; write one of: business, personal, silent, off`,
		},
		"a greeting that is a speech": {
			add:  "business: {greeting: " + strings.Repeat("ha", 300) + "}\n",
			want: `config.yaml:10: business.greeting: is 600 characters long; write at most 500`,
		},
		"a blank greeting": {
			add:  "business: {greeting: \" \"}\n",
			want: `config.yaml:10: business.greeting: is empty; write a text, or leave the key out`,
		},
		"a question back without the two things": {
			add:  "business: {greeting: ~, escalation: {text: \"\"}, texts: {de: {clarify: \"{first}?\"}}}\n",
			want: `config.yaml:10: business.texts.de.clarify: does not name the two things; write {first} and {second} where they go`,
		},
		"an away text without the opening": {
			add:  "business: {greeting: ~, escalation: {text: \"\"}, texts: {de: {away: Wir haben zu.}}}\n",
			want: `config.yaml:10: business.texts.de.away: does not say when you open again; write {opening} where that goes`,
		},
		"a text in an unknown language": {
			add:  "business: {texts: {xx: {greeting: Hm}}}\n",
			want: `config.yaml:10: business.texts.xx: "xx" is not known here; write one of: en, de, fr, es, pt, it, nl, ru, tr, ar`,
		},
		"hours that are none": {
			add:  "business: {hours: [mon-fri 9-25]}\n",
			want: `config.yaml:10: business.hours[0]: cannot be read: there is no time 25:00`,
		},
		"a holiday that is none": {
			add:  "business: {hours: [mon-fri 9-17], holidays: [Christmas]}\n",
			want: `config.yaml:10: business.holidays[0]: "Christmas" is not a holiday; write it like 2026-12-25 or 2026-12-24..2027-01-02`,
		},
		"a calendar that is none": {
			add:  "business: {hours: [mon-fri 9-17], holiday_calendar: testdata/rules.yaml}\n",
			want: `config.yaml:10: business.holiday_calendar: cannot be read: this is not a calendar in iCalendar form: malformed calendar; expected begin`,
		},
		"an answer outside of no hours": {
			add:  "business: {outside_hours: away}\n",
			want: `config.yaml:10: business.outside_hours: has no effect without business.hours; write them, such as [mon-fri 9-18, sat 10-14]`,
		},
		"the former name of a text": {
			add:  "business: {handover: One moment.}\n",
			want: `config.yaml:10: business.handover: unknown key; it is called business.escalation.text here: the same text`,
		},
	})
}
