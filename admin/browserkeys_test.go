//go:build chaos

package admin_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// runScript has the page run its script, under its own policy.
func (b *browser) runScript() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	require.NoError(b.t, err)
}

// signIn opens the page by a link and its button.
func (b *browser) signIn() {
	b.t.Helper()
	b.open(regexp.MustCompile(`/sign-in/[0-9a-f]{64}`).FindString(b.asOwner("/web")))
	b.click("form button.primary")
}

// focused says what is wrong with how the focused element is shown once the page has scrolled to it; empty for nothing.
const focused = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
	const e = document.activeElement, box = e.getClientRects()[0], style = getComputedStyle(e), wrong = [];
	if (!box) return "the focus is nowhere";
	if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) wrong.push("has no outline");
	const at = document.elementFromPoint(box.left + Math.min(box.width / 2, 10), box.top + Math.min(box.height / 2, 10));
	if (!at || !e.contains(at)) wrong.push("is covered or out of sight");
	return wrong.length ? e.outerHTML.slice(0, 120) + " " + wrong.join(", ") + JSON.stringify([box, at && at.outerHTML.slice(0, 80)]) : "";
})`

// tabTo presses Tab until an element has the focus, and looks at each one on the way.
func (b *browser) tabTo(selector string) {
	b.t.Helper()
	for range 200 {
		b.run(chromedp.KeyEvent(kb.Tab))
		if !get(b, chromedp.Evaluate[bool]("document.activeElement !== document.body")) {
			continue
		}
		require.Empty(b.t, get(b, chromedp.Evaluate[string](focused, chromedp.EvalAwaitPromise)))
		if get(b, chromedp.Evaluate[bool](fmt.Sprintf("document.activeElement.matches(%q)", selector))) {
			return
		}
	}
	require.Fail(b.t, "the key Tab never gets to "+selector)
}

// enter gets to an element by Tab, presses Enter, and waits for the page that follows.
func (b *browser) enter(selector string) {
	b.t.Helper()
	b.tabTo(selector)
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(kb.Enter))
	require.NoError(b.t, err, selector)
}

// TestWeb_InARealBrowserByKeyboard works on the page with the keyboard alone, on a screen and in the width of a phone.
func TestWeb_InARealBrowserByKeyboard(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	b := openBrowser(t, r)
	b.runScript()
	ben, ana, calls := r.openDay()

	b.look(1280, "light")
	b.open(regexp.MustCompile(`/sign-in/[0-9a-f]{64}`).FindString(r.asOwner("/web")))
	b.enter("form button.primary")
	require.Contains(t, b.text(), "3 waiting for you")

	b.run(chromedp.KeyEvent(kb.Tab))
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.matches(".skip")`)), "the first key offers to skip the pages")
	b.run(chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "#main", get(b, chromedp.Evaluate[string]("location.hash")))

	b.enter(fmt.Sprintf("#approval-%d button[value=yes]", calls[0].ID))
	require.Contains(t, b.text(), "Approved: fetch_url.")
	require.True(t, *r.approval(calls[0]).Allowed)

	draft := fmt.Sprintf(`[id="draft-%s"] `, r.openDraft())
	b.tabTo(draft + "summary")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.tabTo(draft + "textarea")
	b.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("See you at eight"))
	b.enter(draft + "button[value=change]")
	b.enter(fmt.Sprintf(`[id="draft-%s"] button[value=send]`, r.openDraft()))
	require.Contains(t, b.text(), "The draft is being sent.")
	r.sendQueued()
	require.Contains(t, r.sentTo(ana)[0], "See you at eight")

	b.look(390, "dark")
	b.open("/")
	b.tabTo("[id^=escalation] textarea")
	b.run(chromedp.KeyEvent("I bring it myself."))
	b.enter("form[action$=replies] button")
	require.Contains(t, b.text(), "The escalation is answered.")

	b.tabTo(".more")
	b.run(chromedp.KeyEvent(kb.Enter))
	require.True(t, get(b, chromedp.Evaluate[bool](`document.getElementById("more").matches(":popover-open")`)))
	b.run(chromedp.KeyEvent(kb.Escape))
	require.False(t, get(b, chromedp.Evaluate[bool](`document.getElementById("more").matches(":popover-open")`)))

	b.open(fmt.Sprintf("/chats/%d", ben.ID))
	b.enter(`a[href$="to=silent"]`)
	b.enter("button.primary")
	require.Equal(t, policy.ModeSilent, *r.reload(ben).Mode)

	b.open("/sessions")
	b.enter("button.danger")
	b.open("/")
	require.NotContains(t, b.text(), "waiting for you")
}

// TestWeb_InARealBrowserWithScript has things change while the owner types: nothing that is shown moves.
func TestWeb_InARealBrowserWithScript(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	b := openBrowser(t, r)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	r.escalateQuestion(r.customer("Ben"), "What does delivery cost?")
	r.callCard(store.ApprovalConfirm, `{"url": "https://shop.example/stock?item=4"}`)
	first := r.lastSent().Event
	b.runScript()
	b.look(390, "light")
	b.signIn()
	b.run(chromedp.SendKeys(chromedp.CSS("[name=text]"), "My own words"))
	shown := func() string {
		return get(b, chromedp.Evaluate[string](`JSON.stringify([...document.querySelectorAll("main *")].map((e) => {
			const box = e.getBoundingClientRect();
			return [box.left, box.top, box.width, box.height];
		}).concat([[scrollY, document.querySelector("[name=text]").value, document.activeElement.name]]))`))
	}
	live := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			get(b, chromedp.Evaluate[bool](`document.dispatchEvent(new Event("visibilitychange"))`))
			return get(b, chromedp.Evaluate[string](`document.getElementById("live").textContent`)) == want
		}, 20*time.Second, 200*time.Millisecond, want)
	}
	live("")
	require.Eventually(t, func() bool { return get(b, chromedp.Title()) == "(2) Now · multis" }, 20*time.Second, 100*time.Millisecond)
	before := shown()
	r.callCard(store.ApprovalConfirm, `{"url": "https://shop.example/stock?item=5"}`)
	live("1 more. Show")
	r.react(first, "👎")
	live("1 more, 1 no longer waiting. Show")
	require.Equal(t, before, shown(), "nothing moves, and the words stay")
	b.check("now-live")
	b.runScript()

	b.open("/")
	require.Contains(t, b.text(), "2 waiting for you")
	b.run(chromedp.SendKeys(chromedp.CSS("[name=text]"), "My own words"))
	get(b, chromedp.Evaluate[bool](`(() => { const b = document.querySelector("form[action$=replies] button"); b.click(); b.click(); return true })()`))
	require.Eventually(t, func() bool { return r.count("select count(*) from audit_entries where action = 'escalations'") == 1 },
		20*time.Second, 100*time.Millisecond)
	require.Contains(t, b.text(), "The escalation is answered.")
	require.Equal(t, 1, r.count("select count(*) from audit_entries where action = 'escalations'"), "a form is sent once")

	r.asOwner("/web end all")
	live("You are signed out. What you typed stays here. Sign in")
}
