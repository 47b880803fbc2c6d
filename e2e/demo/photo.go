package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// nowIsShown finds the entry of the page that is open, if one is signed in and it is Now.
const nowIsShown = chromedp.CSS(`.pages a[href="/"][aria-current]`)

// printPage prints the address of the web page and where a picture of its page Now is, or how to get one.
func (d *demo) printPage(ctx context.Context) {
	address := "http://" + d.settings.Page
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		d.out.line("\nThe web page is at %s. For a picture of it, install Chromium: deploy/setup.sh browser", address)
		return
	}
	path, err := photograph(ctx, chromium, address, d.cookie)
	if err != nil {
		d.out.line("\nThe web page is at %s. There is no picture of it: %v", address, err)
		return
	}
	d.out.line("\nThe web page is at %s. A picture of it: %s", address, path)
}

// photograph opens the page Now in Chromium, signed in by the cookie, and writes a picture of it into a file.
func photograph(ctx context.Context, chromium, address string, cookie *http.Cookie) (path string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath(chromium), chromedp.WindowSize(1280, 800),
		chromedp.NoSandbox) // it does not start as root otherwise
	ctx, stop := chromedp.NewContext(ctx, options)
	defer stop()
	session := network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: address}
	if _, err := chromedp.Call(ctx, network.SetCookie, session); err != nil {
		return "", fmt.Errorf("start %s: %w", chromium, err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady(nowIsShown)); err != nil {
		return "", fmt.Errorf("show the page: %w", err)
	}
	photo, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "multis-now-*.png")
	if err != nil {
		return "", err
	}
	defer file.Close()
	_, err = file.Write(photo)
	return file.Name(), err
}
