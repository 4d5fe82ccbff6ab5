<?php
// SPDX-License-Identifier: Apache-2.0
// Tests a failure transport in a Doctrine table:
//   APP_FAILURES=table adapters/symfony/tests/run BUILD SUITE failures
namespace Tests;

use App\Message\Acts;

require __DIR__ . '/support.php';

function failures(): int
{
    // On MySQL, Doctrine marks removed messages with a time at the end of the year 9999.
    return (int) db()->fetchOne("SELECT COUNT(*) FROM messenger_messages
        WHERE queue_name = 'failed' AND (delivered_at IS NULL OR delivered_at < '9999-01-01')");
}

run([
    'with another failure transport: the framework sends it there, and the task is done' => function () {
        ends(dispatch(new Acts('throws', 'throws')));
        equal(['ran@1', 'ran@2', 'failed'], seen('throws'), 'what ran');
        equal(1, failures(), 'failed messages');
    },
    'The process is killed on the last try: the framework sends it there, and the task is done' => function () {
        ends(dispatch(new Acts('killed', 'kills')));
        equal(['ran@1', 'ran@2', 'failed'], seen('killed'), 'what ran');
        equal(2, failures(), 'failed messages');
    },
    'messenger:failed:retry handles it in the command' => function () {
        $id = db()->fetchOne("SELECT MIN(id) FROM messenger_messages WHERE queue_name = 'failed'");
        console('messenger:failed:retry', $id, '--force');
        equal(2, failures(), 'failed messages: it threw again, and was stored again');
    },
    'A transport of Allot is refused as failure transport' => function () {
        putenv('APP_FAILURES=urgent');
        has('allot-dead:', command([getenv('APP_PHP'), getenv('APP_CONSOLE'), 'messenger:consume', 'async'], 1));
    },
]);
