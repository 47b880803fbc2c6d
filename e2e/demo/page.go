package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// linkForm matches the link that /web gives.
var linkForm = regexp.MustCompile(`(http://\S+)/sign-in/([0-9a-f]{64})`)

// page has a draft wait, and signs in to the web page by the link of the admin room: it shows the draft then, and not before.
func (d *demo) page(ctx context.Context) error {
	if err := (deskSteps{d}).leaveDraft(ctx); err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar}
	address := &url.URL{Scheme: "http", Host: d.settings.Page, Path: "/"}
	before, err := visit(ctx, browser, http.MethodGet, address.String(), nil)
	if err != nil {
		return err
	}
	if strings.Contains(before, tyrePrice) {
		return errors.New("the web page shows the draft without a link")
	}
	said, err := d.command(ctx, "/web", "Signs you in once")
	if err != nil {
		return err
	}
	link := linkForm.FindStringSubmatch(said)
	if link == nil {
		return fmt.Errorf("/web gives no link: %s", said)
	}
	now, err := visit(ctx, browser, http.MethodPost, link[1]+"/sign-in", url.Values{"link": {link[2]}})
	if err != nil {
		return err
	}
	if !strings.Contains(now, tyrePrice) {
		return errors.New("the web page does not show the draft for Finn")
	}
	d.cookie = jar.Cookies(address)[0]
	d.out.check("the web page at %s shows nothing without the link of /web, and the draft with it", address)
	return nil
}

// visit asks for a page as a browser does, and returns what it shows in the end.
func visit(ctx context.Context, browser *http.Client, method, address string, form url.Values) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://"+req.URL.Host)
	resp, err := browser.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", method, req.URL.Path, resp.Status)
	}
	return string(body), err
}
