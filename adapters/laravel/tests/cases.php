<?php
// SPDX-License-Identifier: Apache-2.0
// The behaviour of the adapter, each in a case.
namespace Tests;

use App\Jobs;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

require __DIR__ . '/support.php';

run([
    'A job dispatched in a transaction runs once that commits' => function () {
        $task = DB::transaction(function () {
            DB::table('orders')->insert(['name' => 'committed']);
            return Queue::push(new Jobs\Note('committed'));
        });
        ends($task);
        equal(['ran@1'], seen('committed'), 'what ran');
        equal($task, seen_of('committed', 'ran')->task, 'the id that the job knows');
    },
    'A rolled back job does not exist' => function () {
        DB::beginTransaction();
        $task = Queue::push(new Jobs\Note('rolled back'));
        DB::rollBack();
        equal(null, state($task), 'state');
        ends(Queue::push(new Jobs\Note('after it')));
        equal([], seen('rolled back'), 'what ran');
    },
    'A job that throws is retried, and dead after its tries, with failed() called once' => function () {
        $task = Queue::push(new Jobs\Fails('fails'));
        dies($task);
        equal(['ran@1', 'ran@2', 'failed'], seen('fails'), 'what ran');
        equal('DomainException: no such order: fails', seen_of('fails', 'failed')->detail, 'the error of failed()');
        $shown = allot('task', 'show', $task);
        foreach (['DomainException: no such order: fails', 'Fails.php', 'shop.App.Jobs.Fails'] as $text) {
            equal(true, str_contains($shown, $text), "$text in $shown");
        }
    },
]);
