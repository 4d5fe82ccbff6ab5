// SPDX-License-Identifier: Apache-2.0
// Shows the functions of the helper: the payload's first word selects one.
'use strict';
const allot = require(process.env.ALLOT_HELPERS + '/allot_pipe.js');

allot.run(async (task) => {
  if (Buffer.isBuffer(task.payload) || task.payload.length > 1000) {
    return task.checkpoint(task.payload);
  }
  const [word, rest] = task.payload.split(' ', 2);
  switch (word) {
    case 'fail': return allot.fail('it is b\u00e4d');
    case 'retry': return allot.retry('not yet', 1.5);
    case 'snooze': return allot.snooze(2);
    case 'release': return allot.release('not here');
    case 'throw': throw new Error('thrown');
    case 'print': console.log('a stray line'); break;
    case 'beat': task.heartbeat(); break;
    case 'log': task.log('logged', 'warn'); break;
    case 'progress': task.progress(40, 'half b\u00e4d'); break;
    case 'failing': {
      const error = new Error('thrown');
      return rest === 'fail' ? allot.fail(error) : allot.retry(error, 2);
    }
    case 'checkpoint': await task.checkpoint(rest); break;
    case 'submit': task.log(await task.submit('x.next', rest, { delay: '5m', prio: 2 })); break;
    case 'replace': await task.replaceWith('x.next', rest, { queue: 'other' }); break;
    case 'refused': return task.checkpoint('x').catch((error) => allot.fail(error.code));
    case 'facts':
      task.log([task.id, task.queue, task.type, task.attempt, task.max_attempts,
        task.traceparent, task.stopRequested].join(' '));
      break;
    case 'stop':
      while (!task.stopRequested) await new Promise((wake) => setTimeout(wake, 5));
      return allot.retry(`stopped: ${task.stopReason}`);
    case 'crash': process.exit(3);
    case 'return': return { nothing: undefined, true: true, false: false, number: 7 }[rest];
  }
});
