package policy

// Keep says which files that contacts send are kept.
type Keep string

// The values of Keep. The zero value keeps none.
const (
	KeepNone  Keep = "none"
	KeepVoice Keep = "voice" // voice notes
	KeepAll   Keep = "all"
)

// Keeps reports whether a file of this author is kept.
func (k Keep) Keeps(author Author, isVoice bool) bool {
	return author == AuthorContact && (k == KeepAll || k == KeepVoice && isVoice)
}
