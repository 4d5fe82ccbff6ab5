// SPDX-License-Identifier: Apache-2.0
// Walks through the dashboard with Debian's Chromium; see tests/nightly/ui, which starts what it needs.
//   ALLOT_URL, ALLOT_TOKEN, ALLOT_READER (may only read), ALLOT_SHOTS (a folder, or empty),
//   ALLOT_CODE (the address of a login code that was just made, without the proxy)
import {chromium} from 'playwright-core';
import {readFileSync, mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';

const url = process.env.ALLOT_URL;
const shots = process.env.ALLOT_SHOTS;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NARROW = {width: 375, height: 800};
const WIDE = {width: 1280, height: 800};

let passed = 0;
const failures = [];
async function check(what, test) {
  try {
    await test();
    passed += 1;
    console.log('ok      ' + what);
  } catch (error) {
    failures.push(what);
    console.log('FAILED  ' + what + '\n        ' + String(error.message).split('\n').join('\n        '));
  }
}
function expect(good, what) {
  if (!good) throw new Error(what);
}

// A browser session, and what went wrong in it: errors of the console, and requests elsewhere.
async function session(browser, options, token) {
  const context = await browser.newContext({viewport: WIDE, ...options});
  context.setDefaultTimeout(120_000);  // also on a machine that does much else
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push('exception: ' + error.message));
  page.on('console', (line) => {
    if (line.type() === 'error' && !page.expectsRefusal) faults.push('console: ' + line.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url + '/ui/')) faults.push('asked for ' + request.url());
  });
  page.on('dialog', (dialog) => {
    faults.push('a script ran: ' + dialog.message());
    dialog.dismiss();
  });
  page.faults = faults;
  await page.goto(url + '/ui/');
  await page.fill('[name=token]', token);
  await page.click('.login button');
  await page.waitForSelector('h1');
  return page;
}

function expectNoFaults(page) {
  const all = page.faults.splice(0);
  expect(all.length === 0, all.join('\n'));
}

async function open(page, path, status = 200) {
  page.expectsRefusal = status >= 400;
  const answer = await page.goto(url + '/ui/' + path);
  expect(answer.status() === status, `/ui/${path} answers ${answer.status()}`);
  expect((await page.locator('h1').count()) === 1, 'the page has no h1, or several');
  expect(!(await page.title()).includes('owned'), 'a script of a text ran');
}

// Elements that reach beyond the screen are cut off, or make the whole page wider.
async function expectNoOverflow(page) {
  const wide = await page.evaluate(() => {
    const screen = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= screen) return '';
    return [...document.querySelectorAll('body *')]
        .filter((each) => each.getBoundingClientRect().right > screen + 1)
        .map((each) => each.outerHTML.slice(0, 150)).slice(0, 5).join('\n') || 'something';
  });
  expect(wide === '', 'wider than the screen: ' + wide);
}

async function seriousOnes(page) {
  await page.evaluate(axe);
  const report = await page.evaluate(() => window.axe.run());
  return report.violations.filter((each) => ['serious', 'critical'].includes(each.impact));
}

async function expectAccessible(page) {
  const serious = await seriousOnes(page);
  expect(serious.length === 0, serious.map((each) =>
    `${each.id}: ${each.help}: ` + each.nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(' | ')).join('\n'));
}

async function shoot(page, name) {
  if (!shots) return;
  mkdirSync(shots, {recursive: true});
  await page.screenshot({path: `${shots}/${name}.png`, fullPage: true});
}

async function firstLink(page, list, pattern) {
  await open(page, list);
  const links = await page.locator('main a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
  const found = links.find((each) => pattern.test(each));
  expect(found, `/ui/${list} has no link to ${pattern}`);
  return found.slice(new URL(url).pathname.length + '/ui/'.length);
}

// Every page there is, with ids that exist.
async function pagesOf(page) {
  const dead = await firstLink(page, 'queues/default/dead', /\/ui\/tasks\/[^/]+$/);
  const waiting = await firstLink(page, 'queues/reports/waiting', /\/ui\/tasks\/[^/]+$/);
  const done = await firstLink(page, 'queues/default/history', /\/ui\/tasks\/[^/]+$/);
  const odd = await firstLink(page, 'locks', /\/ui\/locks\/%3C/);
  return ['', 'failures', 'failures?queue=default', 'queues', 'queues/default', 'queues/mail', 'queues/reports',
    'queues/default/dead', 'queues/reports/waiting', 'queues/reports/waiting?type=none', 'queues/default/running',
    'queues/default/history', dead, waiting, done, 'search', 'search?queue=default&state=dead&type=test.fail',
    'search?queue=reports&state=waiting', 'search?queue=default&key=%22%3E%3Ci%3E3', 'schedules', 'schedules/nightly',
    'schedules/digest', 'schedules/paused', 'locks', 'locks/billing', odd, 'routes', 'bulk', await firstLink(page, 'bulk', /\/ui\/bulk\/\d+$/)];
}

function actionsOn(dead, waiting) {
  return [`${waiting}/again`, 'queues/mail/pause', 'queues/mail/resume', 'queues/default/dead/retry', 'queues/default/dead/discard',
    `${dead}/retry`, `${dead}/discard`, `${dead}/cancel`, 'schedules/nightly/pause', 'schedules/nightly/resume',
    'schedules/nightly/run-now', 'locks/billing/break', 'bulk/1/stop'];
}

const nameOf = (path) => (path || 'overview').replace(/[^a-z0-9]+/gi, '-').slice(0, 60);

async function walk(browser, title, options, token) {
  const page = await session(browser, options, token);
  const scripts = options.javaScriptEnabled !== false;
  const paths = await pagesOf(page);
  for (const path of paths) {
    await check(`${title}: /ui/${path}`, async () => {
      await open(page, path);
      await shoot(page, `${title.replace(/\W+/g, '-')}-${nameOf(path)}`);
      expectNoFaults(page);
      if (!scripts) return;
      await expectNoOverflow(page);
      await expectAccessible(page);
      expectNoFaults(page);
    });
  }
  await page.context().close();
}

// Does an action from its confirmation on, as a person does.
async function act(page, path, {fields = {}, keyboard = false, note}) {
  await open(page, path);
  for (const [name, value] of Object.entries(fields)) await page.fill(`.confirm [name=${name}]`, value);
  const button = page.locator('.confirm button.main');
  if (keyboard) {
    await tabTo(page, (element) => element.matches('.confirm button.main'));
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  } else {
    await Promise.all([page.waitForNavigation(), button.click()]);
  }
  expect(page.url().includes('note=' + note), `after /ui/${path} the browser is at ${page.url()}`);
  expect((await page.locator('p.note').count()) === 1, 'nothing says that it was done');
  expectNoFaults(page);
}

async function tabTo(page, wanted) {
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`(${wanted})(document.activeElement)`)) return;
  }
  throw new Error('200 times Tab did not lead to ' + wanted);
}

// Each action really done, once.
async function actions(browser, title, options, keyboard = false) {
  const page = await session(browser, options, process.env.ALLOT_TOKEN);
  const taskOf = (queue, list) => firstLink(page, `queues/${queue}/${list}`, /\/ui\/tasks\/[^/]+$/);
  const all = [
    ['queues/mail/resume', {note: 'resumed'}],
    ['queues/mail/pause', {note: 'paused', fields: {reason: '<b>"moving"</b>'}}],
    ['schedules/nightly/pause', {note: 'schedule_paused', fields: {reason: '<i>off'}}],
    ['schedules/nightly/resume', {note: 'schedule_resumed'}],
    ['schedules/nightly/run-now', {note: 'ran'}],
    [async () => (await taskOf('default', 'dead')) + '/discard', {note: 'discarded'}],
    [async () => (await taskOf('reports', 'waiting')) + '/cancel', {note: 'cancelled', fields: {reason: '<u>'}}],
    [async () => (await taskOf('reports', 'waiting')) + '/again',
      {note: 'again', fields: {payload: '{"i": "</textarea><script>alert(1)</script>"}\n', reason: '<s>typo'}}],
    ['queues/default/dead/retry?type=none', {note: 'begun', fields: {rate: '50'}}],
    ['queues/reports/dead/discard?type=none', {note: 'begun'}],
  ];
  for (const [path, how] of all) {
    await check(`${title}: action ${typeof path === 'string' ? path : how.note}`, async () => {
      await act(page, typeof path === 'string' ? path : await path(), {...how, keyboard});
    });
  }
  await check(`${title}: a dead task is retried by the button of its page`, async () => {
    await open(page, await taskOf('default', 'dead'));
    if (keyboard) {
      await tabTo(page, (element) => element.matches('main button.main'));
      await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    } else {
      await Promise.all([page.waitForNavigation(), page.click('main button.main')]);
    }
    expect(page.url().includes('note=retried'), page.url());
    expectNoFaults(page);
  });
  await check(`${title}: logout`, async () => {
    await open(page, '');
    await Promise.all([page.waitForNavigation(), page.click('.who button')]);
    expect(page.url().endsWith('/ui/login'), page.url());
    expectNoFaults(page);
  });
  await page.context().close();
}

// A check that finds nothing must prove that it can find something.
async function judges(browser) {
  const page = await session(browser, {}, process.env.ALLOT_TOKEN);
  await check('axe notices a field without a label', async () => {
    await open(page, 'search');
    await page.evaluate(() => { document.querySelectorAll('label').forEach((each) => each.replaceWith(...each.children)); });
    expect((await seriousOnes(page)).some((each) => each.id === 'label'), 'it does not');
  });
  await check('a page that is too wide is noticed', async () => {
    await open(page, 'search');
    await page.evaluate(() => { document.querySelector('main').replaceChildren(document.createElement('canvas')); });
    await page.evaluate(() => { document.querySelector('canvas').width = 3000; });
    expect(await expectNoOverflow(page).then(() => false, () => true), 'it is not');
  });
  await page.context().close();
}

// Pages shown in place of another page, and before the login.
async function others(browser) {
  for (const [title, options] of [['light', {}], ['375 px, dark', {colorScheme: 'dark', viewport: NARROW}]]) {
    const page = await session(browser, options, process.env.ALLOT_TOKEN);
    for (const [path, status] of [['nothing', 404], ['tasks/0000000000000000', 404], ['tasks/x', 400], ['queues/none', 404],
      ['search?queue=default&state=dead&since=yesterday', 200], ['search?queue=default&key=none', 200]]) {
      await check(`${title}: /ui/${path} (${status})`, async () => {
        await open(page, path, status);
        await shoot(page, `${title.replace(/\W+/g, '-')}-${nameOf(path)}`);
        await expectNoOverflow(page);
        await expectAccessible(page);
      });
    }
    await page.context().clearCookies();
    page.faults.splice(0);
    for (const path of ['login', 'login?code=' + '0'.repeat(32)]) {
      await check(`${title}: /ui/${path}`, async () => {
        await open(page, path);
        await shoot(page, `${title.replace(/\W+/g, '-')}-${nameOf(path)}`);
        await expectNoOverflow(page);
        await expectAccessible(page);
        expectNoFaults(page);
      });
    }
    await page.context().close();
  }
}

// The address of a login code, by its button: once, and not through the proxy.
async function loginCode(browser) {
  const code = new URL(process.env.ALLOT_CODE).search;
  for (const [title, address, good] of [['through the proxy', url + '/ui/login' + code, false],
    ['directly', process.env.ALLOT_CODE, true], ['again', process.env.ALLOT_CODE, false]]) {
    await check(`login code ${title}`, async () => {
      const context = await browser.newContext();
      context.setDefaultTimeout(120_000);
      const page = await context.newPage();
      await page.goto(address);
      await Promise.all([page.waitForNavigation(), page.click('.login button')]);
      expect(page.url().endsWith('/ui/') === good, 'the browser is at ' + page.url());
      await context.close();
    });
  }
}

async function confirmations(browser) {
  for (const [title, options] of [['light', {}], ['dark, 375 px', {colorScheme: 'dark', viewport: NARROW}]]) {
    const page = await session(browser, options, process.env.ALLOT_TOKEN);
    const dead = await firstLink(page, 'queues/default/dead', /\/ui\/tasks\/[^/]+$/);
    const waiting = await firstLink(page, 'queues/reports/waiting', /\/ui\/tasks\/[^/]+$/);
    for (const path of actionsOn(dead, waiting)) {
      await check(`${title}: confirmation ${path}`, async () => {
        await open(page, path);
        await shoot(page, `${title.replace(/\W+/g, '-')}-confirm-${nameOf(path)}`);
        await expectNoOverflow(page);
        await expectAccessible(page);
        expectNoFaults(page);
      });
    }
    await page.context().close();
  }
}

// Every link, button and field can be reached, and shows that it has the focus.
async function keyboard(browser) {
  const page = await session(browser, {}, process.env.ALLOT_TOKEN);
  await check('keyboard: the other pages are behind More', async () => {
    await open(page, '');
    await tabTo(page, (element) => element.matches('.more summary'));
    await page.keyboard.press('Enter');
    await tabTo(page, (element) => element.matches('.more a[href$="/ui/workers"]'));
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect((await page.locator('nav > a[aria-current=page]').textContent()) === 'Workers', page.url());
  });
  for (const path of await pagesOf(page)) {
    await check(`keyboard: /ui/${path}`, async () => {
      await open(page, path);
      const wanted = await page.evaluate(() => {
        document.querySelector('details.more').open = true;
        const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')];
        all.forEach((each, at) => { each.dataset.stop = at; });
        document.querySelectorAll('[data-live]').forEach((each) => each.removeAttribute('data-live'));
        return all.length;
      });
      const seen = new Set();
      for (let i = 0; i < wanted + 20 && seen.size < wanted; ++i) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
          const element = document.activeElement;
          if (!element || element === document.body) return null;
          const style = getComputedStyle(element);
          if (style.outlineStyle === 'none') throw new Error('no outline: ' + element.outerHTML.slice(0, 150));
          return element.dataset.stop ?? null;
        });
        if (at !== null) seen.add(at);
      }
      expect(seen.size === wanted, `${seen.size} of ${wanted} can be reached by Tab`);
    });
  }
  await page.context().close();
}

// A token that may only read sees no form but the logout, and each action is refused.
async function readOnly(browser) {
  await walk(browser, 'read-only', {}, process.env.ALLOT_READER);
  const page = await session(browser, {}, process.env.ALLOT_READER);
  const dead = await firstLink(page, 'queues/default/dead', /\/ui\/tasks\/[^/]+$/);
  const waiting = await firstLink(page, 'queues/reports/waiting', /\/ui\/tasks\/[^/]+$/);
  for (const path of await pagesOf(page)) {
    await check(`read-only: no action on /ui/${path}`, async () => {
      await open(page, path);
      const forms = await page.locator('main form[method=post], main a.danger').count();
      expect(forms === 0, `${forms} actions are offered`);
    });
  }
  for (const path of actionsOn(dead, waiting)) {
    await check(`read-only: ${path} is refused`, () => open(page, path, 403));
  }
  await page.context().close();
}

async function main() {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
  const all = process.env.ALLOT_TOKEN;
  try {
    await loginCode(browser);
    await judges(browser);
    await others(browser);
    await walk(browser, 'light', {}, all);
    await walk(browser, 'dark', {colorScheme: 'dark'}, all);
    await walk(browser, '375 px', {viewport: NARROW}, all);
    await walk(browser, '375 px, dark', {viewport: NARROW, colorScheme: 'dark'}, all);
    await walk(browser, 'no JavaScript', {javaScriptEnabled: false}, all);
    await confirmations(browser);
    await keyboard(browser);
    await readOnly(browser);
    await actions(browser, 'actions', {});
    await actions(browser, 'actions, no JavaScript', {javaScriptEnabled: false});
    await actions(browser, 'actions, keyboard', {}, true);
  } finally {
    await browser.close();
  }
  for (const each of failures) console.log('FAILED in ' + each);
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exit(failures.length === 0 && passed > 0 ? 0 : 1);
}

await main();
