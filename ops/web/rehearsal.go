package web

import (
	"net/http"

	"multis/store"
)

// rehearsalPage is what the page of the last rehearsal shows.
type rehearsalPage struct {
	store.Rehearsal

	Ever   bool // something was rehearsed
	Groups []differenceGroup
}

// differenceGroup are the differences of a kind.
type differenceGroup struct {
	ID, Title string
	Items     []difference
}

// difference is a question with what was sent then, and what would be now.
type difference struct {
	store.RehearsedAnswer

	Asked store.CustomerQuestion
	Chat  store.Chat
}

// rehearsal shows what would differ today from what customers got, as the last /rehearse found it. What was deleted since is left out.
func (s *Site) rehearsal(v *visit) error {
	ctx := v.r.Context()
	var page rehearsalPage
	var err error
	if page.Ever, err = store.GetSetting(ctx, v.db, store.SettingRehearsal, &page.Rehearsal); err != nil {
		return err
	}
	ids := make([]store.MessageID, 0, len(page.Different))
	for _, d := range page.Different {
		ids = append(ids, d.Message)
	}
	asked, err := store.CustomerQuestionsByID(ctx, v.db, ids)
	if err != nil {
		return err
	}
	var chatIDs []store.ChatID
	for _, q := range asked {
		chatIDs = append(chatIDs, q.ChatID)
	}
	chats, err := store.ChatsByID(ctx, v.db, chatIDs)
	if err != nil {
		return err
	}
	for _, kind := range store.DifferenceKinds {
		g := differenceGroup{ID: string(kind), Title: kind.Title()}
		for _, d := range page.Different {
			if q, there := asked[d.Message]; there && d.Kind == kind {
				g.Items = append(g.Items, difference{d, q, chats[q.ChatID]})
			}
		}
		if len(g.Items) > 0 {
			page.Groups = append(page.Groups, g)
		}
	}
	s.show(v, http.StatusOK, "rehearsal", "Rehearsal", page)
	return nil
}
