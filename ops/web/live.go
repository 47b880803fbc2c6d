package web

import (
	"encoding/json"
	"fmt"

	"multis/store"
)

// livePattern is the route that the script asks what waits.
const livePattern = "GET /waiting"

// script is the only script, and scriptVersion a hash of it.
var (
	script, _     = files.ReadFile("pages/page.js") // it is embedded
	scriptVersion = hashText(script)
)

// sendScript answers with the script.
func (s *Site) sendScript(v *visit) error {
	sendFile(v, "text/javascript; charset=utf-8", script, scriptVersion)
	return nil
}

// sendFile answers with a file that belongs to all pages. Under the address with its version browsers may keep it.
func sendFile(v *visit, kind string, data []byte, version string) {
	v.Header().Set("Content-Type", kind)
	if v.r.URL.RawQuery == version {
		v.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = v.Write(data) // if the connection broke, there is nobody to tell
}

// live answers with what waits, as the ids of the cards on the first page. It has no text of anybody.
func (s *Site) live(v *visit) error {
	waiting, err := s.waitingIDs(v)
	if err != nil {
		return err
	}
	v.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(v).Encode(waiting)
}

// waitingIDs returns the ids of the cards of what waits; the list is never nil.
func (s *Site) waitingIDs(v *visit) ([]string, error) {
	ids, err := store.WaitingCards(v.r.Context(), v.db, v.now)
	if err != nil {
		return nil, err
	}
	questions, err := s.Questions.Questions(v.r.Context())
	for _, q := range questions {
		ids = append(ids, fmt.Sprintf("question-%d", q.ID))
	}
	return append([]string{}, ids...), err
}
