package knowledge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"multis/internal/fetch"
	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	pageAge      = 6 * time.Hour    // age from which a page is fetched again before it is quoted
	pageRetry    = 10 * time.Minute // minimum time between two attempts to fetch the same page
	maxLinked    = 3                // linked pages that are fetched for one question, for each prefix
	maxStale     = 5                // pages that are fetched again before one question
	pageTimeout  = 5 * time.Second  // timeout for one page, so that one that hangs leaves time for others
	pagesTimeout = 15 * time.Second // timeout for all pages of one question
	maxWebPages  = 500              // stored pages, of all prefixes, from which linked ones are no longer added
	minLinkWord  = 4                // length of the beginning of a question's word that is looked for in links
)

// MaxUnread is the age from which a page that cannot be read again is no longer quoted.
const MaxUnread = 3 * 24 * time.Hour

// Pages are the web pages whose addresses begin with one of the owner's prefixes. Customers are answered from them where
// no document helps. They are fetched when a question needs them, and stored as public documents with the time of their
// fetch.
type Pages struct {
	documents *Library
	prefixes  []string
	now       func() time.Time

	maxPages int

	mu      sync.Mutex
	fetched map[string]time.Time // the last fetches of this process, as isDue names them
}

// NewPages returns the pages below prefixes, each of which ends in a slash. Without prefixes there are no pages.
func NewPages(l *Library, prefixes []string) *Pages {
	return &Pages{
		documents: l,
		prefixes:  prefixes,
		now:       time.Now,
		maxPages:  maxWebPages,
		fetched:   map[string]time.Time{},
	}
}

// Find fetches the pages that may answer a question, unless they were fetched lately: the pages at the prefixes
// themselves, and those of the linked pages below the prefixes whose links share the most words with the question. It
// reports whether any page changed, so that a new search may find more. A page that cannot be fetched is left out.
func (p *Pages) Find(ctx context.Context, question string) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, pagesTimeout)
	defer cancel()
	for _, root := range p.prefixes {
		if ctx.Err() != nil || !p.isDue("links of "+root, pageRetry) {
			continue
		}
		page, err := p.fetchRoot(ctx, root)
		if err != nil {
			p.handleFetchFailure(ctx, root, err)
			continue
		}
		changed = p.update(ctx, root) || changed
		if full, err := p.isFull(ctx); full || err != nil {
			continue // those that are stored are read again by Refresh
		}
		links := p.links(page)
		slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(b.matches(question), a.matches(question)) })
		for _, l := range links[:min(len(links), maxLinked)] {
			changed = p.update(ctx, l.address) || changed
		}
	}
	return changed
}

// ForgetPages removes the pages that were fetched for customers and are below none of the prefixes any more. Nobody would
// read them again, and what they said then would be quoted for ever. What the owner gave to /index stays.
func (l *Library) ForgetPages(ctx context.Context, prefixes []string) error {
	origins, err := index.OriginsOutside(ctx, l.st.DB(), prefixes)
	if err != nil {
		return err
	}
	for _, origin := range origins {
		if err := l.Remove(ctx, origin); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// fetchRoot fetches the page at a prefix.
func (p *Pages) fetchRoot(ctx context.Context, root string) (fetch.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return p.documents.options.Fetch.GetAllowed(ctx, root, "", p.allows)
}

// Refresh fetches stored pages again that are older than pageAge, so that no answer quotes outdated text: first those
// among the documents that a search found, then the oldest of the others. It removes a page that is gone, or that was not
// read for MaxUnread. It reports whether any page changed, so that a new search may find something else.
func (p *Pages) Refresh(ctx context.Context, found []store.DocumentID) (changed bool, err error) {
	stale, err := index.StaleOrigins(ctx, p.documents.st.DB(), p.prefixes, p.now().Add(-pageAge), maxStale, found)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, pagesTimeout)
	defer cancel()
	for _, address := range stale {
		changed = p.update(ctx, address) || changed
	}
	return changed, nil
}

// isFull reports whether so many pages are stored that no others are added: a site may link to any number of them, such as a calendar.
func (p *Pages) isFull(ctx context.Context) (bool, error) {
	n, err := index.CountOrigins(ctx, p.documents.st.DB(), p.prefixes)
	return n >= p.maxPages, err
}

// allows reports whether an address is below one of the prefixes.
func (p *Pages) allows(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if slices.Contains(strings.Split(u.Path, "/"), "..") {
		return false
	}
	return p.prefixOf(u.String()) != ""
}

// prefixOf returns the prefix of an address; empty for none.
func (p *Pages) prefixOf(address string) string {
	for _, prefix := range p.prefixes {
		if strings.HasPrefix(address, prefix) {
			return prefix
		}
	}
	return ""
}

// isDue reports whether this process has not begun the fetch called what within wait. If so, it records that the fetch begins now.
func (p *Pages) isDue(what string, wait time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	maps.DeleteFunc(p.fetched, func(_ string, last time.Time) bool { return now.Sub(last) >= pageRetry })
	if last, known := p.fetched[what]; known && now.Sub(last) < wait {
		return false
	}
	p.fetched[what] = now
	return true
}

// update fetches and indexes one page, unless it was fetched within pageRetry. It reports whether the page was changed or removed.
func (p *Pages) update(ctx context.Context, address string) bool {
	if ctx.Err() != nil || !p.allows(address) || !p.isDue(address, pageRetry) {
		return false
	}
	reading, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	report, err := p.documents.IndexAddress(reading, File{Origin: address, Role: policy.RolePublic, isAllowed: p.allows})
	if err != nil {
		return p.handleFetchFailure(ctx, address, err)
	}
	if report.Unchanged {
		if err := index.ConfirmFetched(ctx, p.documents.st.Writer(), address); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot note that a page is unchanged")
		}
	}
	return !report.Unchanged
}

// handleFetchFailure logs why a page cannot be fetched. It removes a page that is gone, too big or no longer allowed, and
// one that was read last before MaxUnread, of which the owner is notified: what it says may be wrong by now. It reports
// whether it removed the page.
func (p *Pages) handleFetchFailure(ctx context.Context, address string, cause error) bool {
	zerolog.Ctx(ctx).Info().Err(cause).Str("page", AddressName(address)).Msg("Cannot read a page for customers")
	if ctx.Err() != nil {
		return false // the page had no time to answer
	}
	_, moved := errors.AsType[fetch.NotAllowedError](cause)
	isGone := moved || IsPermanent(cause)
	stored, err := index.DocumentByOrigin(ctx, p.documents.st.DB(), address)
	if err == nil && (stored.Role != policy.RolePublic || !isGone && p.now().Sub(stored.IndexedAt) < MaxUnread) {
		return false // the owner indexed it for himself, or it may be read again soon
	}
	if err == nil {
		err = p.documents.st.InTx(ctx, func(tx store.Tx) error {
			err := index.RemoveDocument(ctx, tx, address)
			if err != nil {
				return err
			}
			if isGone {
				return nil
			}
			return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicPageUnread, Site: p.prefixOf(address), Page: address})
		})
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot remove a page that is gone")
	}
	return err == nil
}

// link is a link on a page: its target and its text.
type link struct{ address, text string }

// matches counts the words of a question whose first minLinkWord characters occur in the link.
func (l link) matches(question string) (n int) {
	has := strings.ToLower(l.text + " " + l.address)
	for word := range strings.FieldsSeq(strings.ToLower(question)) {
		word = strings.Trim(word, "?!.,;:¿¡\"'()")
		if letters := []rune(word); len(letters) >= minLinkWord && strings.Contains(has, string(letters[:minLinkWord])) {
			n++
		}
	}
	return n
}

// links returns the links on a page that lead to other allowed pages, each once.
func (p *Pages) links(page fetch.Page) (links []link) {
	base, err := url.Parse(page.Address)
	if err != nil {
		return nil
	}
	root, err := html.Parse(bytes.NewReader(page.Data))
	if err != nil {
		return nil
	}
	for n := range root.Descendants() {
		if n.DataAtom != atom.A {
			continue
		}
		at := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		if at < 0 {
			continue
		}
		to, err := base.Parse(n.Attr[at].Val)
		if err != nil {
			continue
		}
		to.Fragment, to.RawFragment = "", ""
		l := link{address: to.String(), text: plain(n)}
		if l.address != page.Address && p.allows(l.address) && !slices.ContainsFunc(links, func(o link) bool { return o.address == l.address }) {
			links = append(links, l)
		}
	}
	return links
}
