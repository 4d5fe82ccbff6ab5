// SPDX-License-Identifier: Apache-2.0
// Runs tasks of Allot (docs/pipe-workers.md): require('allot_pipe').run(async (task) => ...). The
// function returns any value, or fail('why'), retry('why', 30), snooze(30), release(); delays are
// seconds. The reason of a failure or retry may be an error. Messages of the worker arrive only
// while the function awaits something.
'use strict';
const [fs, net] = [require('fs'), require('net')];

class Verdict {
  constructor(verdict, reason = '', delay = undefined) {
    Object.assign(this, { verdict }, reason instanceof Error ? errorOf(reason) : { reason: String(reason) });
    if (delay !== undefined) this.delay = `${Math.trunc(delay * 1000)}ms`;
  }
}
const errorOf = (error) => ({ class: error?.constructor?.name ?? '',
  message: String(error?.message ?? error), trace: String(error?.stack ?? '') });
const exception = (error) => ({ verdict: 'exception', ...errorOf(error) });
class Refused extends Error {} // error of a call that writes; the cause is in `code`

function write(line) {
  let rest = Buffer.from(JSON.stringify(line) + '\n');
  while (rest.length > 0) rest = rest.subarray(fs.writeSync(4, rest));
}

function payloadOf(data) {
  if (typeof data === 'string') return { payload: data };
  const text = data.toString('utf8');
  const isText = Buffer.from(text).equals(data);
  return isText ? { payload: text } : { payload_base64: data.toString('base64') };
}

class Task { // id, queue, type, attempt, max_attempts, time_left_ms; payload: string, or a Buffer
  constructor(line) {
    Object.assign(this, line);
    if (line.payload_base64 !== undefined) this.payload = Buffer.from(line.payload_base64, 'base64');
    this.stopReason = undefined; // or cancelled, time_limit, lease_in_doubt, worker_leaves
    this.calls = []; // calls without an answer yet
  }
  call(kind, fields) {
    return new Promise((resolve, reject) => {
      this.calls.push({ resolve, reject });
      write({ kind, id: this.id, ...fields });
    });
  }
  answer(line) {
    if (line.kind === 'stop') return void (this.stopReason = line.reason);
    const { resolve, reject } = this.calls.shift();
    if (line.kind === 'done') return resolve(line.ids);
    return reject(Object.assign(new Refused(line.reason), { code: line.code, number: line.number }));
  }
  get stopRequested() { return this.stopReason !== undefined; }
  progress(percent, word = '') {
    write({ kind: 'progress', id: this.id, percent: Math.trunc(percent), word });
  }
  heartbeat() { write({ kind: 'heartbeat', id: this.id }); }
  log(text, level = 'info') { write({ kind: 'log', id: this.id, level, text }); }
  async checkpoint(data) { await this.call('checkpoint', payloadOf(data)); }
  async submit(type, payload = '', options = {}) {
    return (await this.call('submit', { tasks: [{ type, ...payloadOf(payload), ...options }] }))[0];
  }
  async replaceWith(type, payload = '', options = {}) {
    await this.call('replace_with', { tasks: [{ type, ...payloadOf(payload), ...options }] });
  }
}

function run(handle) {
  let task, before = [];
  const take = (line) => {
    if (line.kind !== 'task') return void (task && task.id === line.id && task.answer(line));
    const mine = task = new Task(line);
    new Promise((resolve) => resolve(handle(mine)))
      .then((end) => (end instanceof Verdict ? end : new Verdict('success')), exception)
      .then((verdict) => write({ kind: 'verdict', id: mine.id, ...verdict }));
  };
  new net.Socket({ fd: 3, readable: true, writable: false }).on('data', (chunk) => {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1), before = []) {
      take(JSON.parse(Buffer.concat([...before, chunk.subarray(0, end)])));
    }
    before.push(chunk);
  }).on('end', () => process.exit(0)); // no further task follows
  write({ kind: 'hello', protocol: 1 });
}
const verdict = (word) => (reason, delay) => new Verdict(word, reason, delay);
module.exports = { run, Refused, success: verdict('success'), retry: verdict('retry'),
  fail: verdict('fail'), release: verdict('release'),
  snooze: (delay, reason) => new Verdict('snooze', reason, delay) };
