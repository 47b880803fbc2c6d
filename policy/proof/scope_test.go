package proof

import "testing"

// A number of a row's label names the row, also where the name of a cell has the same one.
func TestCheck_NumberOfRowLabel(t *testing.T) {
	t.Parallel()
	const row = "Ticket: 10-day ticket | Dog up to 10 kg: 155 € | Dog over 10 kg: 180 €"
	checkEach(t, map[string]checkCase{
		"the right cell": {"The 10-day ticket, dog up to 10 kg: 155 €.", row, "", Follows},
		"another cell":   {"The 10-day ticket, dog up to 10 kg: 180 €.", row, "", Unknown},
	})
}
