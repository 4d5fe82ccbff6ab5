// SPDX-License-Identifier: Apache-2.0
// Greets the name in the payload.
'use strict';
const allot = require('../allot_pipe.js');

allot.run(async (task) => {
  if (task.payload === '') return allot.fail('no name to greet');
  console.log(`hello, ${task.payload}`); // goes to the log
});
