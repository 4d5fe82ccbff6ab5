<?php
// SPDX-License-Identifier: Apache-2.0
// Shows the functions of the helper: the payload's first word selects one.
require getenv('ALLOT_HELPERS') . '/allot_pipe.php';

AllotPipe\run(function ($task) {
    if (!preg_match('//u', $task->payload) || strlen($task->payload) > 1000) {
        return $task->checkpoint($task->payload);
    }
    [$word, $rest] = explode(' ', $task->payload . ' ', 2);
    $rest = rtrim($rest);
    switch ($word) {
        case 'fail': return AllotPipe\fail("it is b\u{e4}d");
        case 'retry': return AllotPipe\retry('not yet', 1.5);
        case 'snooze': return AllotPipe\snooze(2);
        case 'release': return AllotPipe\release('not here');
        case 'throw': throw new RuntimeException('thrown');
        case 'print': echo "a stray line\n"; break;
        case 'beat': $task->heartbeat(); break;
        case 'log': $task->log('logged', 'warn'); break;
        case 'progress': $task->progress(40, "half b\u{e4}d"); break;
        case 'failing':
            $error = new RuntimeException('thrown');
            return $rest === 'fail' ? AllotPipe\fail($error) : AllotPipe\retry($error, 2);
        case 'checkpoint': $task->checkpoint($rest); break;
        case 'submit':
            $task->log($task->submit('x.next', $rest, ['delay' => '5m', 'prio' => 2]));
            break;
        case 'replace': $task->replace_with('x.next', $rest, ['queue' => 'other']); break;
        case 'refused':
            try {
                $task->checkpoint('x');
            } catch (AllotPipe\Refused $error) {
                return AllotPipe\fail(explode(':', $error->getMessage())[0]);
            }
            break;
        case 'facts':
            $task->log(implode(' ', [$task->id, $task->queue, $task->type, $task->attempt,
                $task->max_attempts, $task->traceparent, var_export($task->stop_requested(), true)]));
            break;
        case 'stop':
            while (!$task->stop_requested()) usleep(5000);
            return AllotPipe\retry("stopped: $task->stop_reason");
        case 'crash': exit(3);
        case 'return': return ['nothing' => null, 'true' => true, 'false' => false, 'number' => 7][$rest];
    }
});
