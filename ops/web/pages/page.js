// Says what is new without moving what is shown, and that a form is on its way. The page does all of its work without it.
"use strict";
(() => {
	const line = document.getElementById("live");
	const count = document.getElementById("waiting");
	const title = document.title;
	const isNow = location.pathname === "/";
	const every = 20_000, again = 10_000;
	let said = "";
	let timer;

	// say shows a line over the page, with a link. An empty text takes the line away.
	function say(text, label, path) {
		if (text === said) return;
		said = text;
		line.textContent = text;
		if (!text || !label) return;
		const link = document.createElement("a");
		link.href = path;
		link.textContent = label;
		line.append(" ", link);
	}

	// compare says how what waits differs from what is shown.
	function compare(waiting) {
		document.title = waiting.length ? `(${waiting.length}) ${title}` : title;
		if (!count.hidden) count.firstElementChild.textContent = waiting.length;
		if (!isNow) return say("");
		const cards = [...document.querySelectorAll("article[id]")].map((card) => card.id);
		const more = waiting.filter((id) => !cards.includes(id)).length;
		const gone = cards.filter((id) => !waiting.includes(id)).length;
		const parts = [];
		if (more) parts.push(`${more} more`);
		if (gone) parts.push(`${gone} no longer waiting`);
		say(parts.length ? parts.join(", ") + "." : "", "Show", "/");
	}

	async function look() {
		clearTimeout(timer);
		if (document.hidden) return;
		let wait = every;
		try {
			const answer = await fetch("/waiting", {redirect: "manual", cache: "no-store"});
			if (answer.type === "opaqueredirect") return say("You are signed out. What you typed stays here.", "Sign in", "/sign-in");
			if (!answer.ok) throw new Error(answer.status);
			compare(await answer.json());
		} catch {
			say("No connection to multis. What you typed stays here.");
			wait = again;
		}
		timer = setTimeout(look, wait);
	}

	// A form is sent once, and its button says so.
	document.addEventListener("submit", (event) => {
		const form = event.target, button = event.submitter;
		if (form.method !== "post") return;
		if (form.dataset.sent) return event.preventDefault();
		form.dataset.sent = "yes";
		if (button) setTimeout(() => { button.setAttribute("aria-disabled", "true"); button.textContent = "Sending…"; });
	});

	document.addEventListener("visibilitychange", look);
	timer = setTimeout(look, every);
})();
