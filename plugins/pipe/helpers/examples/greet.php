<?php
// SPDX-License-Identifier: Apache-2.0
// Greets the name in the payload.
require __DIR__ . '/../allot_pipe.php';

AllotPipe\run(function ($task) {
    if ($task->payload === '') return AllotPipe\fail('no name to greet');
    echo "hello, {$task->payload}\n";  // goes to the log
});
