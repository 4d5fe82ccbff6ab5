<?php
// SPDX-License-Identifier: Apache-2.0
// Since Symfony 7.2:
//   ALLOT_CONSUME=', "--keepalive=1"' ALLOT_PROGRAM='progress_every = "3s"' adapters/symfony/tests/run BUILD sid keepalive
namespace Tests;

use App\Message\Acts;

require __DIR__ . '/support.php';

run([
    'messenger:consume --keepalive tells that a message makes progress' => function () {
        ends(dispatch(new Acts('works', 'worksForSixSeconds')));
        equal(['ran@1'], seen('works'), 'what ran');
    },
    'Its signals do not disturb a process that waits' => function () {
        usleep(3500000);
        ends(dispatch(new Acts('large', 'prints', 0, str_repeat('x', 8 << 20))));
        equal(['ran@1'], seen('large'), 'what ran');
        equal(0, substr_count(file_get_contents(getenv('APP_WORK') . '/log'), 'is started again'), 'processes that ended');
    },
]);
