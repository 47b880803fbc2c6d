package schedule

import (
	"fmt"
	"time"
)

// ParseZone returns the time zone of an IANA name. It refuses the names that mean another zone on each machine.
func ParseZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q names no time zone", name)
	}
	return time.LoadLocation(name)
}
