// SPDX-License-Identifier: Apache-2.0
// Keeps a page up to date: fetches it every 2 s with the tag of the last answer, and replaces the
// regions that are marked data-live. Pauses in a hidden tab, while a field has input, and while
// text is selected. Without it everything works by links and forms.
const EVERY_MS = 2000;
const SLOWEST_MS = 30000;
const pace = document.getElementById('pace');
const regions = () => [...document.querySelectorAll('[data-live]')];
const keys = (root) => new Set([...root.querySelectorAll('[data-key]')].map((each) => each.dataset.key));
let tag = null;
let wait = EVERY_MS;
let timer = 0;

// Announces only new text, and nothing on the first fetch.
const announcer = document.createElement('p');
announcer.setAttribute('aria-live', 'polite');
announcer.className = 'skip';
document.body.append(announcer);
let known = keys(document);

function announce() {
  const now = [...document.querySelectorAll('[data-key]')];
  const fresh = now.filter((each) => !known.has(each.dataset.key));
  known = keys(document);
  if (fresh.length > 0) announcer.textContent = fresh.map((each) => each.textContent).join(' ');
}

function busy() {
  if (document.hidden) return true;
  const selection = document.getSelection();
  if (selection && !selection.isCollapsed) return true;
  const fields = document.querySelectorAll('main input:not([type=hidden])');
  return [...fields].some((field) => field.value !== field.defaultValue || field === document.activeElement);
}

// Identity of the focused element across a replacement: id, address or text.
function nameOf(element) {
  return element.id || element.getAttribute('href') || element.textContent;
}

function replace(region, fresh) {
  const open = new Set([...region.querySelectorAll('details[open]')].map((each) => each.id));
  const tops = new Map([...region.querySelectorAll('pre')].map((each, at) => [at, each.scrollTop]));
  const inside = region.contains(document.activeElement);
  const focused = inside ? document.activeElement : null;
  const name = focused && nameOf(focused);
  region.replaceChildren(...fresh.childNodes);
  for (const each of region.querySelectorAll('details')) if (open.has(each.id)) each.open = true;
  region.querySelectorAll('pre').forEach((each, at) => { each.scrollTop = tops.get(at) ?? 0; });
  if (!focused) return;
  const again = [...region.querySelectorAll(focused.tagName)].find((each) => nameOf(each) === name);
  if (again) again.focus({preventScroll: true});
}

async function look() {
  const headers = tag ? {'If-None-Match': tag} : {};
  const answer = await fetch(location.href, {headers, cache: 'no-store', redirect: 'manual'});
  if (answer.status === 304) return;
  if (!answer.ok) throw new Error(answer.type === 'opaqueredirect' ? 'logged out' : String(answer.status));
  tag = answer.headers.get('ETag');
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  // Another version of the program answers, and its pages need their own style and module.
  if (page.documentElement.dataset.mark !== document.documentElement.dataset.mark) return location.reload();
  if (busy()) { tag = null; return; }
  for (const region of regions()) {
    const fresh = page.getElementById(region.id);
    if (fresh && fresh.innerHTML !== region.innerHTML) replace(region, fresh);
  }
  announce();
}

async function turn() {
  clearTimeout(timer);
  if (!busy()) {
    try {
      await look();
      wait = EVERY_MS;
      if (pace) pace.textContent = 'Live, every 2 s';
    } catch (error) {
      wait = Math.min(wait * 2, SLOWEST_MS);
      if (pace) pace.textContent = 'Not up to date: ' + error.message;
    }
  } else if (pace && !document.hidden) {
    pace.textContent = 'Paused while you select or type';
  }
  timer = setTimeout(turn, wait);
}

if (regions().length > 0) {
  document.addEventListener('visibilitychange', () => { if (!document.hidden) turn(); });
  timer = setTimeout(turn, EVERY_MS);
}
