#!/bin/sh
# Prints the commit that is checked out, as a version: dev-123456789abc. It needs no git, because the image that builds
# multis has none, and only .git/HEAD, .git/refs and .git/packed-refs. Without them it prints "dev".
set -eu
cd "$(dirname "$0")/.."

head=$(cat .git/HEAD 2>/dev/null || true)
case $head in
'ref: '*)
	ref=${head#ref: }
	head=$(cat ".git/$ref" 2>/dev/null || sed -n "s|^\([0-9a-f]*\) $ref\$|\1|p" .git/packed-refs 2>/dev/null || true)
	;;
esac
case $head in
'' | *[!0-9a-f]*) echo dev ;;
*) printf 'dev-%.12s\n' "$head" ;;
esac
