<?php
// SPDX-License-Identifier: Apache-2.0
// Behaviour of the adapter, one case each. Cases of the README's table begin with its first column.
namespace Tests;

use Allot\Symfony\AllotStamp;
use Allot\Symfony\Payload;
use App\Message;
use App\Message\Acts;
use App\Message\Note;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;

require __DIR__ . '/support.php';

function refused(string $reason, callable $send): void
{
    try {
        $send();
    } catch (TransportException $error) {
        has($reason, $error->getMessage());
        return;
    }
    throw new \RuntimeException('it was taken');
}

run([
    "Each row of the README's table has a case" => function () {
        preg_match_all('/^\\| (?!the message \\|)([^|-][^|]*?) \\|/m', file_get_contents(__DIR__ . '/../README.md'), $rows);
        $cases = file_get_contents(__FILE__) . file_get_contents(__DIR__ . '/failures.php');
        foreach ($rows[1] as $row) {
            has("\n    '$row: ", $cases);
        }
        equal(true, count($rows[1]) > 20, 'rows');
    },
    'A message dispatched in a transaction is handled once that commits' => function () {
        $task = db()->transactional(function () {
            db()->insert('orders', ['name' => 'committed']);
            return dispatch(new Note('committed'));
        });
        ends($task);
        equal(['ran@1'], seen('committed'), 'what ran');
        equal($task, seen_of('committed', 'ran')['task'], 'the id that the handler knows');
    },
    'A rolled back message does not exist' => function () {
        db()->beginTransaction();
        $task = dispatch(new Note('rolled back'));
        db()->rollBack();
        equal(null, state($task), 'state');
        ends(dispatch(new Note('after it')));
        equal([], seen('rolled back'), 'what ran');
    },
    'is handled: the task is done' => function () {
        ends(dispatch(new Acts('returns', 'prints')));
        equal(['ran@1'], seen('returns'), 'what ran');
    },
    'its handler throws: it is retried with the delay of the retry strategy' => function () {
        ends(dispatch(new Acts('throws', 'throws', 2)));
        equal(['ran@1', 'ran@2'], seen('throws'), 'what ran');
    },
    'its handler throws on the last try: it is dead, and the error has class, message, file and trace' => function () {
        $task = dies(dispatch(new Acts('throws always', 'throws')));
        equal(['ran@1', 'ran@2', 'failed'], seen('throws always'), 'what ran');
        shows($task, 'DomainException: no such order: throws always', 'ActsHandler.php', 'shop.App.Message.Acts');
        has('DomainException', allot('dead', 'groups', 'default'));
        has('"attempts_charged": 2', allot('task', 'show', $task, '--json'));
    },
    'its handler throws UnrecoverableMessageHandlingException: it is dead at once' => function () {
        $task = dies(dispatch(new Acts('cannot recover', 'cannotRecover')));
        equal(['ran@1', 'failed'], seen('cannot recover'), 'what ran');
        shows($task, 'UnrecoverableMessageHandlingException: not to be retried');
    },
    'its handler throws RecoverableMessageHandlingException: it is put off, and no attempt is counted' => function () {
        $task = ends(dispatch(new Acts('recovers', 'recovers')));
        equal(['ran@1', 'ran@1', 'ran@1', 'ran@1'], seen('recovers'), 'what ran');
        has('task.snoozed', log_of($task));
    },
    'one of its handlers throws: only that one runs again' => function () {
        ends(dispatch(new Message\Both('both')));
        equal(['first@1', 'second@1', 'second@2'], seen('both'), 'what ran');
    },
    'it has no handler: it is retried, then dead' => function () {
        shows(dies(dispatch(new Message\Unhandled('unhandled'))), 'No handler for message');
        equal(['failed'], seen('unhandled'), 'what was noted');
    },
    'its handler takes batches: each is a batch of one' => function () {
        $tasks = array_map(fn ($i) => dispatch(new Message\Batched('batched')), range(1, 4));
        array_map(fn ($task) => ends($task), $tasks);
        equal(4, count(seen('batched')), 'what ran');
        equal('1', seen_of('batched', 'ran')['detail'], 'the size of the batch');
    },
    'A handler of batches refuses one: it is retried, then dead' => function () {
        shows(dies(dispatch(new Message\Batched('refused'))), 'DomainException: not this one');
        equal(['ran@1', 'ran@2', 'failed'], seen('refused'), 'what ran');
    },
    'a handler of batches keeps it although it is to flush: a failed attempt, and the process is replaced' => function () {
        $task = dies(dispatch(new Message\Kept('kept')));
        shows($task, 'neither acknowledged nor rejected', 'the process of its last try has ended');
    },
    'a listener of WorkerMessageReceivedEvent leaves it: it is put off for 10 s, and no attempt is counted' => function () {
        $task = dispatch(new Acts('left', 'isLeft'));
        eventually(fn () => str_contains(log_of($task), 'task.snoozed'), 'a snooze');
        ends($task);
        equal(['ran@1'], seen('left'), 'what ran');
    },
    'the connection to the database is lost: it is retried, and the process is replaced' => function () {
        $replaced = fn () => substr_count(file_get_contents(getenv('APP_WORK') . '/log'), '"the process ends"');
        $before = $replaced();
        ends(dispatch(new Acts('lost', 'losesItsConnection', 2)));
        equal(['ran@1', 'ran@2'], seen('lost'), 'what ran');
        eventually(function () use ($replaced, $before) {
            ends(dispatch(new Message\Nothing()));
            return $replaced() > $before;
        }, 'the process gives its next message back');
    },
    'exit(): a failed attempt' => function () {
        $task = dies(dispatch(new Acts('exits', 'exits')));
        equal(['ran@1', 'ran@2', 'failed'], seen('exits'), 'what ran');
        shows($task, 'the handler ended its process');
    },
    'a fatal error: a failed attempt with file and line' => function () {
        shows(dies(dispatch(new Acts('fatal', 'runsIntoAFatalError'))), 'class Twice', 'ActsHandler.php');
    },
    'out of memory: a failed attempt with file and line' => function () {
        shows(dies(dispatch(new Acts('memory', 'usesUpItsMemory'))), 'Allowed memory size', 'ActsHandler.php');
    },
    'the process is killed: a failed attempt, and it is retried' => function () {
        ends(dispatch(new Acts('killed once', 'kills', 2)));
        equal(['ran@1', 'ran@2'], seen('killed once'), 'what ran');
    },
    'the process is killed on the last try: the framework records the failure, and does not run it' => function () {
        $task = dies(dispatch(new Acts('killed', 'kills')));
        equal(['ran@1', 'ran@2', 'failed'], seen('killed'), 'what ran');
        shows($task, 'the process of its last try has ended');
    },
    'its time limit is over: the process is killed' => function () {
        dies(dispatch(new Acts('sleeps', 'sleeps'), [new AllotStamp(['time_limit' => '5s'])]));
        equal(['ran@1', 'ran@2', 'failed'], seen('sleeps'), 'what ran');
    },
    'it is sent again by another transport while it is handled: another task takes its place' => function () {
        ends(dispatch(new Acts('moves', 'movesItself')));
        eventually(fn () => seen_of('moves', 'ran')['detail'] === 'urgent', 'the other one');
        equal(['ran@1', 'failed', 'ran@1'], seen('moves'), 'what ran');
    },
    'its payload is not signed: it is dead at once, and not decoded' => function () {
        $signature = new \Allot\Symfony\Signature('another secret', []);
        foreach (['O:8:"DateTime":0:{}', 'x', ''] as $payload) {
            foreach ([$payload, $signature->sign($payload)] as $sent) {
                db()->executeStatement('CALL allot.allot_submit(?, ?, ?, NULL, @id, @e)', ['default', 'shop.x', $sent]);
                shows(dies(db()->fetchOne('SELECT @id')), 'not signed');
            }
        }
    },
    'it cannot be decoded: it is dead at once' => function () {
        $gone = addslashes('O:36:"Symfony\Component\Messenger\Envelope":2:{s:44:"' . "\0Symfony\\Component\\Messenger\\Envelope\0" .
            'stamps";a:0:{}s:45:"' . "\0Symfony\\Component\\Messenger\\Envelope\0" . 'message";O:4:"Gone":0:{}}');
        foreach (['' => '', '{}' => '', 'O:3:"xx' => '', 'i:7;}' => '', $gone => 'Gone'] as $body => $reason) {
            $payload = (new Payload('async', ['body' => (string) $body]))->signed(service('test.signature'));
            db()->executeStatement('CALL allot.allot_submit(?, ?, ?, NULL, @id, @e)', ['default', 'shop.x', $payload]);
            $task = dies(db()->fetchOne('SELECT @id'));
            shows($task, 'fail: ', $reason);
            has('"attempts_charged": 1', allot('task', 'show', $task, '--json'));
        }
        ends(dispatch(new Note('after bad ones')));
        equal(['ran@1'], seen('after bad ones'), 'what ran');
    },
    'its transport is not an argument of messenger:consume: it is dead at once' => function () {
        shows(dies(send('unlisted', new Note('unlisted'))), "transport 'unlisted'");
    },
    'messenger:stop-workers: the next message is handled by another process' => function () {
        ends(dispatch(new Note('before')));
        console('messenger:stop-workers');
        $task = ends(dispatch(new Note('after')));
        equal(['ran@1'], seen('after'), 'what ran');
        has('messenger:stop-workers', log_of($task));
    },
    'A message of another transport is handled by its name, and its own retry strategy' => function () {
        $task = dies(dispatch(new Message\Urgent('urgent')));
        equal(['ran@1', 'ran@2', 'ran@3', 'failed'], seen('urgent'), 'what ran');
        equal('urgent', seen_of('urgent', 'ran')['detail'], 'the transport');
        has('"max_attempts": 4', allot('task', 'show', $task, '--json'));
    },
    'A retry strategy of the application decides by the error' => function () {
        $task = dies(send('own', new Acts('own', 'throws')));
        equal(['ran@1', 'ran@2', 'failed'], seen('own'), 'what ran');
        ends(send('own', new Acts('own recovers', 'recovers')));
        equal(['ran@1', 'ran@1', 'ran@1', 'ran@1'], seen('own recovers'), 'what ran');
        dies(send('own', new Acts('own killed', 'kills')));
        equal(['ran@1', 'failed'], seen('own killed'), 'what ran');
        allot('dead', 'retry', $task);
        eventually(fn () => count(seen('own')) === 6 && state($task) === 'dead', 'it ran again');
    },
    'A message of the JSON serializer is handled' => function () {
        ends(send('json', new Note('json')));
        equal('json', seen_of('json', 'ran')['detail'], 'the transport');
        $task = dies(send('json', new Acts('json throws', 'throws')));
        equal(['ran@1', 'ran@2', 'failed'], seen('json throws'), 'what ran');
        has('Acts', console('messenger:failed:show', $task));
    },
    'DelayStamp: it waits' => function () {
        $task = dispatch(new Note('later'), [new DelayStamp(1500)]);
        equal('waiting', state($task), 'state');
        ends($task);
        $row = seen_of('later', 'ran');
        equal(1, $row['attempt'], 'the attempt');
    },
    'AllotStamp: a unique key is free again after a rollback' => function () {
        $once = fn () => dispatch(new Note('once'), [new AllotStamp(['unique_key' => 'once', 'unique_for' => '0s'])]);
        db()->beginTransaction();
        $once();
        db()->rollBack();
        [$one, $same] = db()->transactional(fn () => [$once(), $once()]);
        equal($one, $same, 'the task');
        ends($one);
        equal(['ran@1'], seen('once'), 'what ran');
    },
    'AllotStamp: an option that Allot does not have is refused' => function () {
        refused('unknown option "dellay"', fn () => dispatch(new Note('x'), [new AllotStamp(['dellay' => '5s'])]));
    },
    'With replicas, the primary is asked' => function () {
        db('split')->ensureConnectedToReplica();  // its account may not call the procedures
        equal(true, service('test.split')->getMessageCount() >= 0, 'the count');
        db('split')->ensureConnectedToReplica();
        ends(send('split', new Note('split')));
        equal(['ran@1'], seen('split'), 'what ran');
    },
    'A transport over mysqli sends' => function () {
        ends(send('mysqli', new Note('mysqli')));
        equal(['ran@1'], seen('mysqli'), 'what ran');
        equal([0, 0], [service('test.mysqli')->getMessageCount(), service('test.mysqli')->getMessageCount()], 'counts');
    },
    'A queue that Allot does not have is refused' => function () {
        refused("queue 'nowhere'", fn () => send('nowhere', new Note('nowhere')));
    },
    'Types are names that Allot takes' => function () {
        $type = fn ($name) => \Allot\Symfony\TaskType::of('shop', $name);
        equal('shop.App.Message.Send', $type('App\Message\Send'), 'a class');
        equal('shop.class_anonymous__x', $type("class@anonymous\0/x"), 'an anonymous class');
        $long = $type('App\Message\\' . str_repeat('Very', 40) . 'Long');
        equal(\Allot\Symfony\TaskType::MAX_BYTES, strlen($long), 'its length');
        equal(1, preg_match('/^shop\.[0-9a-f]{8}\..*VeryLong$/', $long), $long);
        equal(true, $long !== $type('App\Message\\' . str_repeat('Very', 41) . 'Long'), 'another one');
    },
    'messenger:failed:show, retry and remove act on the dead task' => function () {
        $throws = dies(dispatch(new Acts('dead', 'throws')));
        $succeeds = dies(dispatch(new Acts('dead in allotd', 'throwsInAllotd')));
        has($throws, console('messenger:failed:show', '--max=1000'));
        has('no such order: dead', console('messenger:failed:show', $throws));
        console('messenger:failed:retry', $throws, $succeeds, '--force');
        equal(['ran@1', 'ran@2', 'failed', 'ran@1'], seen('dead'), 'what ran');
        equal('dead', state($throws), 'the one that throws again');
        equal(['ran@1', 'ran@2', 'failed', 'ran@1'], seen('dead in allotd'), 'what ran');
        equal(null, state($succeeds), 'the one that was handled');
        console('messenger:failed:remove', $throws, '--force');
        equal(null, state($throws), 'the removed one');
    },
    'allot dead retry: its attempts begin again' => function () {
        $task = dies(dispatch(new Acts('retried', 'throws')));
        allot('dead', 'retry', $task);
        eventually(fn () => count(seen('retried')) === 6 && state($task) === 'dead', 'it ran again');
        equal(['ran@1', 'ran@2', 'failed'], array_slice(seen('retried'), 3), 'what ran');
    },
    'Figures: messenger:stats counts' => function () {
        $task = dispatch(new Message\Note('counted'), [new DelayStamp(3600000), new AllotStamp(['queue' => 'other'])]);
        equal(1, service('test.urgent')->getMessageCount(), 'the count');
        allot('task', 'cancel', $task);
    },
    'messenger:consume outside of allotd says who handles messages' => function () {
        has('messages of Allot are run by allotd',
            command(['/bin/sh', '-c', 'exec "$0" "$@" 3<&- 4>&-', getenv('APP_PHP'), getenv('APP_CONSOLE'), 'messenger:consume', 'async'], 1));
    },
    'messenger:consume of another transport besides is refused' => function () {
        has('by a command of their own',
            command([getenv('APP_PHP'), getenv('APP_CONSOLE'), 'messenger:consume', 'async', 'database'], 1));
    },
    'AllotStamp: a partition key keeps the order' => function () {
        $send = fn ($i) => dispatch(new Note('ordered'), [new AllotStamp(['queue' => 'keyed', 'partition_key' => 'a'])]);
        $tasks = array_map($send, range(1, 5));
        array_map(fn ($task) => ends($task), $tasks);
        equal($tasks, db()->fetchFirstColumn("SELECT task FROM seen WHERE name = 'ordered' ORDER BY id"), 'what ran');
        refused('partition_key', fn () => dispatch(new Note('x'), [new AllotStamp(['queue' => 'keyed'])]));
    },
    'A payload that a previous secret has signed counts' => function () {
        $former = new \Allot\Symfony\Signature('former', []);
        $now = new \Allot\Symfony\Signature('new', ['former']);
        equal('x', $now->verified($former->sign('x')), 'the former one');
        equal(null, $former->verified($now->sign('x')), 'the new one');
    },
    'A payload of nearly 16 MiB is handled, and a larger one is refused' => function () {
        refused('the limit is 16 MiB - 1', fn () => dispatch(new Acts('too large', 'prints', 0, str_repeat('x', 16 << 20))));
        ends(dispatch(new Acts('large', 'prints', 0, str_repeat('x', (16 << 20) - 4000))));
        equal(['ran@1'], seen('large'), 'what ran');
    },
    'A payload that is not text is handled, and sent again' => function () {
        ends(dispatch(new Acts('bytes', 'throws', 2, "\xff\0\xfe")));
        equal(['ran@1', 'ran@2'], seen('bytes'), 'what ran');
    },
    'A child that keeps the descriptors open delays no other message' => function () {
        ends(dispatch(new Acts('child', 'leavesAChild')));
        ends(dispatch(new Note('after the child')));
        equal(['ran@1'], seen('after the child'), 'what ran');
    },
]);
