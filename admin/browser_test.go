//go:build chaos

package admin_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// browser is a Chromium that shows the page of a rig. It runs no script of the page.
type browser struct {
	*rig

	ctx  context.Context
	site string
	axe  string // the source of axe-core
}

// Examine, Report and Documents are what the page shows beside the admin room.
func (b *browser) Examine(context.Context) doctor.Report { return doctor.Report{At: b.now} }

func (b *browser) Report(context.Context) health.Report { return health.Report{Status: health.OK} }

func (b *browser) Documents(ctx context.Context, scope policy.Scope, biggest int) (knowledge.Overview, error) {
	docs, err := index.BiggestDocuments(ctx, b.st.DB(), scope, biggest)
	return knowledge.Overview{Biggest: docs}, err
}

// openBrowser starts the page and a browser.
func openBrowser(t *testing.T, r *rig) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	require.NoError(t, err, "deploy/setup.sh browser installs it")
	b := &browser{rig: r, axe: axeCore(t)}
	server := httptest.NewUnstartedServer(nil)
	b.site = "http://" + server.Listener.Addr().String()
	r.settings.WebAddress = b.site
	r.previewer = turnsPreviewer{r.newTurns()}
	r.restart()
	site, err := web.New(r.ctx, web.Options{
		Store:     r.st,
		Room:      r.admin.Web,
		Memory:    r.admin.Web,
		Questions: r.admin.Web,
		Examiner:  b,
		Health:    b,
		Documents: b,
		Address:   b.site,
		Owner:     owner,
		Name:      "Nora",
		Defaults:  r.settings.Defaults,
		Zone:      r.settings.Zone,
		Currency:  "EUR",
		Now:       time.Now,
	})
	require.NoError(t, err)
	server.Config.Handler = site
	server.Start()
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()))
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b.ctx = ctx
	require.NoError(t, chromedp.Do(ctx)) // starts it; it would end with a context that has a timeout
	b.allowScripts(false)
	return b
}

// axeCore returns the source of the checker of accessibility, from its package.
func axeCore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	pack := exec.CommandContext(t.Context(), "sh", "-c", "npm pack --silent axe-core@4 && tar xzf axe-core-*.tgz")
	pack.Dir = dir
	out, err := pack.CombinedOutput()
	require.NoError(t, err, string(out))
	source, err := os.ReadFile(filepath.Join(dir, "package", "axe.min.js"))
	require.NoError(t, err)
	return string(source)
}

// run has the browser do something within a minute.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

// get has the browser return a value within a minute.
func get[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(b.t, err)
	return value
}

// allowScripts says whether the page may run scripts. The checks need some, the page none.
func (b *browser) allowScripts(allow bool) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !allow})
	require.NoError(b.t, err)
	_, err = chromedp.Call(b.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: allow})
	require.NoError(b.t, err)
}

// open shows a page.
func (b *browser) open(path string) { b.run(chromedp.Navigate(b.site + path)) }

// click clicks on what a selector finds, and waits for the page that follows.
func (b *browser) click(selector chromedp.CSS) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.Click(selector))
	require.NoError(b.t, err, selector)
}

// text returns the text of the page.
func (b *browser) text() string { return get(b, chromedp.Text(chromedp.CSS("main"))) }

// look shows the page in a size and a colour.
func (b *browser) look(width int64, scheme string) {
	b.t.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 400}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size)
	require.NoError(b.t, err)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}, // else it takes a while until it has scrolled
	}}
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media)
	require.NoError(b.t, err)
}

// check looks at the page as it is: in each size and colour it is photographed, nothing scrolls sideways, and axe finds nothing serious.
func (b *browser) check(name string) {
	b.t.Helper()
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.look(width, scheme)
			picture := filepath.Join(b.t.ArtifactDir(), fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
			require.NoError(b.t, os.WriteFile(picture, get(b, chromedp.FullScreenshot(100)), 0o600))
			b.allowScripts(true)
			sideways := get(b, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
			get(b, chromedp.Evaluate[chromedp.Void](b.axe))
			found := get(b, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
				.filter(v => v.impact == "serious" || v.impact == "critical").map(v => v.id + ": " + v.nodes.map(n => n.html).join(" | ")))`,
				chromedp.EvalAwaitPromise))
			b.allowScripts(false)
			require.False(b.t, sideways, "%s at %d scrolls sideways", name, width)
			require.Empty(b.t, found, "%s at %d, %s", name, width, scheme)
		}
	}
}

// openDay gives the desk what waits for the owner: an escalation of Ben's, a draft to Ana, and a tool call.
func (r *rig) openDay() (ben, ana store.Chat, calls []store.Approval) {
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ben = r.customer("Ben")
	r.escalateQuestion(ben, "What does delivery cost?")
	ana = r.customer("Ana")
	r.asOwner("/delivery draft ana")
	r.customerAsks(ana, "What does delivery cost?")
	calls = r.callCard(store.ApprovalConfirm, `{"url": "https://shop.example/stock?item=4"}`)
	return ben, ana, calls
}

// TestWeb_InARealBrowser works a day on the page, as an owner does, without JavaScript.
func TestWeb_InARealBrowser(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	b := openBrowser(t, r)
	ben, ana, calls := r.openDay()
	r.ownNote("The plumber is called Otto")

	b.open(regexp.MustCompile(`/sign-in/[0-9a-f]{64}`).FindString(r.asOwner("/web")))
	b.check("sign-in")
	b.click("form button.primary")
	require.Contains(t, b.text(), "3 waiting for you")
	b.check("now")

	b.click(chromedp.CSS(fmt.Sprintf("#approval-%d button[value=yes]", calls[0].ID)))
	require.Contains(t, b.text(), "Approved: fetch_url.")
	require.True(t, *r.approval(calls[0]).Allowed)

	draft := chromedp.CSS(fmt.Sprintf(`[id="draft-%s"] `, r.openDraft()))
	b.run(chromedp.Click(draft+"summary"), chromedp.SetValue(draft+"textarea", "See you at eight"))
	b.click(draft + "button[value=change]")
	b.click(chromedp.CSS(fmt.Sprintf(`[id="draft-%s"] button[value=send]`, r.openDraft())))
	require.Contains(t, b.text(), "The draft is being sent.")
	r.sendQueued()
	require.Contains(t, r.sentTo(ana)[0], "See you at eight")

	before := len(r.sentTo(ben))
	b.run(chromedp.SendKeys(chromedp.CSS("[name=text]"), "I bring it myself."))
	b.click("form.stack[action$=replies] button")
	require.Contains(t, b.text(), "The escalation is answered.")
	r.sendQueued()
	require.Equal(t, []string{"I bring it myself."}, r.sentTo(ben)[before:])

	b.open(fmt.Sprintf("/chats/%d", ben.ID))
	b.check("chat")
	b.click(`a[href$="to=silent"]`)
	b.check("mode")
	b.click("button.primary")
	require.Equal(t, policy.ModeSilent, *r.reload(ben).Mode)

	b.open("/search")
	b.run(chromedp.SendKeys(chromedp.CSS("#q"), "delivery"))
	b.click("form[role=search] button")
	require.Contains(t, b.text(), "Delivery costs 5 euro")
	b.check("search")

	b.open("/memory")
	b.run(chromedp.Click(chromedp.CSS("#note-1 summary")),
		chromedp.SetValue(chromedp.CSS("#note-1-text"), "The plumber is called Erna"))
	b.click("#note-1 details button")
	require.Contains(t, b.text(), "changed, before: “The plumber is called Otto”")
	b.check("memory")
	b.click("form[action$=undo] button")
	require.Contains(t, b.text(), "changed, before: “The plumber is called Erna”", "it is undone")

	file := filepath.Join(t.TempDir(), "hours.md")
	require.NoError(t, os.WriteFile(file, []byte("# Hours\n\nWe are open from 9 to 17.\n"), 0o600))
	b.open("/documents")
	b.check("documents")
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}), chromedp.Click(chromedp.CSS("input[value=public]")))
	b.click("form[enctype] button")
	require.Contains(t, b.text(), "hours.md")

	b.open("/documents")
	b.run(chromedp.SendKeys(chromedp.CSS("#question"), "What does delivery cost?"))
	b.click("form[action='/preview'] button")
	require.Contains(t, b.text(), "Delivery costs 5 euro within the city.")
	b.check("preview")

	b.open("/sessions")
	b.check("sessions")
	b.click("button.danger")
	require.Contains(t, b.text(), "/web")
	b.open("/")
	require.NotContains(t, b.text(), "waiting for you")
}
