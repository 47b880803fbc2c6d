package setup

import (
	"os"
	"strings"

	"multis/internal/text"
)

// completing returns a question that completes its answers before it checks them.
func (q Question) completing() Question {
	if q.Complete == nil {
		q.Complete = func(s string) string { return s }
		return q
	}
	if check := q.Check; check != nil {
		q.Check = func(s string) error { return check(q.Complete(s)) }
	}
	return q
}

// zoneFiles list the time zones of a machine, one a line, the name in the third column.
var zoneFiles = []string{"/usr/share/zoneinfo/zone1970.tab", "/usr/share/zoneinfo/zone.tab"}

// zoneNames returns the names of the time zones that this machine knows; none if it has no list.
func zoneNames() []string {
	var names []string
	for _, file := range zoneFiles {
		data, _ := os.ReadFile(file) // without a list nothing is completed
		for line := range strings.Lines(string(data)) {
			if columns := strings.Split(strings.TrimSpace(line), "\t"); len(columns) > 2 && !strings.HasPrefix(line, "#") {
				names = append(names, columns[2])
			}
		}
	}
	return names
}

// completeZone completes a time zone that is typed in lower case, or by its city alone: "vienna". What means no zone, or
// several, stays.
func completeZone(s string, names []string) string {
	typed := zoneForm(s)
	if typed == "" {
		return s
	}
	found := ""
	for _, name := range names {
		form := zoneForm(name)
		if form != typed && !strings.HasSuffix(form, "/"+typed) {
			continue
		}
		if found != "" && found != name {
			return s
		}
		found = name
	}
	if found == "" {
		return s
	}
	return found
}

// zoneForm returns the form in which names of time zones are compared.
func zoneForm(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text.Fold(s))), " ", "_")
}
