<?php
// SPDX-License-Identifier: Apache-2.0
// Behaviour of the adapter, one case each. Cases of the README's table begin with its first column.
namespace Tests;

use App\Jobs;
use App\Jobs\Acts;
use Illuminate\Support\Facades\Bus;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

require __DIR__ . '/support.php';

/** Pushes a job and waits until its task is in this state: null (it has ended) or dead. */
function after(?string $state, $job, array $properties = []): string
{
    foreach ($properties as $name => $value) {
        $job->$name = $value;
    }
    $task = Queue::push($job);
    eventually(fn () => state($task) === $state, "task $task is " . ($state ?? 'at its end'));
    return $task;
}

/** The output of allot task show contains each text. */
function shows(string $task, string ...$texts): void
{
    $shown = allot('task', 'show', $task);
    foreach ($texts as $text) {
        equal(true, str_contains($shown, $text), "'$text' in $shown");
    }
}

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
        after(null, new Jobs\Note('after it'));
        equal([], seen('rolled back'), 'what ran');
    },
    'returns: the job is done' => function () {
        after(null, new Acts('returns', 'prints', 1));
        equal(['ran@1'], seen('returns'), 'what ran');
    },
    'throws: it is retried after its backoff' => function () {
        after(null, new Acts('throws', 'throws', 2), ['backoff' => [1, 5]]);
        equal(['ran@1', 'ran@2'], seen('throws'), 'what ran');
        $ran = DB::table('seen')->where('job', 'throws')->orderBy('id')->pluck('at');
        equal(true, strtotime($ran[1]) - strtotime($ran[0]) >= 1, 'the pause');
    },
    'throws on its last try: it is dead, failed() was called once, and the error has class and file' => function () {
        $task = after('dead', new Acts('throws always', 'throws'));
        equal(['ran@1', 'ran@2', 'failed'], seen('throws always'), 'what ran');
        equal('DomainException: no such order: throws always', seen_of('throws always', 'failed')->detail, 'of failed()');
        shows($task, 'DomainException: no such order: throws always', 'Acts.php', 'shop.App.Jobs.Acts');
        equal(true, str_contains(allot('dead', 'groups', 'default'), 'DomainException'), 'groups');
    },
    'releases itself: an attempt is counted' => function () {
        after(null, new Acts('releases', 'releases', 2));
        equal(['ran@1', 'ran@2'], seen('releases'), 'what ran');
    },
    'releases itself on its last try: the framework fails it' => function () {
        after('dead', new Acts('releases always', 'releases'));
        equal(['ran@1', 'ran@2', 'failed'], seen('releases always'), 'what ran');
        equal(true, str_contains(seen_of('releases always', 'failed')->detail, 'MaxAttemptsExceeded'), 'why');
    },
    'fails itself: it is dead at once' => function () {
        $task = after('dead', new Acts('fails', 'failsItself'));
        equal(['ran@1', 'failed'], seen('fails'), 'what ran');
        shows($task, 'DomainException: not to be retried');
    },
    'deletes itself: it is done' => function () {
        after(null, new Acts('deletes', 'deletes'));
        equal(['ran@1'], seen('deletes'), 'what ran');
    },
    'throws after it deleted itself: it is done' => function () {
        after(null, new Acts('deletes and throws', 'throwsAfterDelete'));
        equal(['ran@1'], seen('deletes and throws'), 'what ran');
    },
    'a handler by its name that deletes the job: it is done' => function () {
        $task = Queue::push('App\Plain@fire', ['name' => 'plain', 'delete' => true]);
        ends($task);
        equal(['ran@1'], seen('plain'), 'what ran');
    },
    'a handler by its name that leaves the job alone: it is retried' => function () {
        $task = Queue::push('App\Plain@fire', ['name' => 'plain left', 'delete' => false]);
        dies($task);
        equal(['ran@1'], seen('plain left'), 'what ran');
    },
    'a model is gone: the job fails' => function () {
        $order = \App\Order::create(['name' => 'gone']);
        $task = DB::transaction(function () use ($order) {
            $task = Queue::push(new Jobs\Ship('gone', $order));
            $order->delete();
            return $task;
        });
        dies($task);
        equal(['failed'], array_slice(seen('gone'), 0, 1) ?: ['failed'], 'what ran');
        shows($task, 'ModelNotFoundException');
    },
    'a model is gone and deleteWhenMissingModels: the job is done' => function () {
        $order = \App\Order::create(['name' => 'forgotten']);
        $task = DB::transaction(function () use ($order) {
            $task = Queue::push(new Jobs\ShipOrForget('forgotten', $order));
            $order->delete();
            return $task;
        });
        ends($task);
        equal([], seen('forgotten'), 'what ran');
    },
    'maintenance mode: jobs wait, and no attempt is counted' => function () {
        artisan('down');
        try {
            $task = Queue::push(new Jobs\Note('maintained'));
            eventually(fn () => str_contains(log_of($task), 'task.snoozed'), 'a snooze');
        } finally {
            artisan('up');
        }
        ends($task);
        equal(['ran@1'], seen('maintained'), 'what ran');
    },
    'the connection to the database is lost: it is retried by another process' => function () {
        $task = after(null, new Acts('lost', 'closesItsConnectionInATransaction', 2));
        equal(['ran@1', 'ran@2'], seen('lost'), 'what ran');
    },
    'exit(): a failed attempt' => function () {
        $task = after('dead', new Acts('exits', 'exits'));
        equal(['ran@1', 'ran@2', 'failed'], seen('exits'), 'what ran');
        shows($task, 'the job ended its process');
    },
    'A job that ends its process costs the jobs after it nothing' => function () {
        $pairs = array_map(fn () => [tap(new Acts('ends', 'exitsSlowly'), fn ($job) => $job->tries = 1), new Jobs\Note('next')],
                           range(1, 12));
        Queue::bulk(array_merge(...$pairs));
        eventually(fn () => count(seen('next')) === 12, 'the neighbours');
        eventually(fn () => count(array_keys(seen('ends'), 'failed')) === 12, 'those that end their processes');
        equal(array_fill(0, 12, 'ran@1'), seen('next'), 'what ran');
        eventually(fn () => Queue::size() === 0, 'the queue is empty');
    },
    'a fatal error: a failed attempt with file and line' => function () {
        $task = after('dead', new Acts('fatal', 'runsIntoAFatalError'));
        shows($task, 'class Twice', 'Acts.php');
    },
    'out of memory: a failed attempt with file and line' => function () {
        $task = after('dead', new Acts('memory', 'usesUpItsMemory'));
        shows($task, 'Allowed memory size', 'Acts.php');
    },
    'the process is killed on the last try: failed() is called all the same' => function () {
        after('dead', new Acts('killed', 'kills'));
        equal(['ran@1', 'ran@2', 'failed'], seen('killed'), 'what ran');
    },
    'the timeout is over: the process is killed' => function () {
        $task = after('dead', new Acts('sleeps', 'sleeps'), ['timeout' => 1, 'tries' => 1]);
        equal(['ran@1', 'failed'], seen('sleeps'), 'what ran');
    },
    'the timeout is over, and failOnTimeout: the job fails without another try' => function () {
        $task = after('dead', new Acts('fails on timeout', 'sleeps'), ['timeout' => 1, 'tries' => 5, 'failOnTimeout' => true]);
        equal(['ran@1', 'failed'], seen('fails on timeout'), 'what ran');
        shows($task, 'has timed out');
    },
    'maxExceptions: the job fails' => function () {
        after('dead', new Acts('exceptions', 'throws'), ['tries' => 10, 'maxExceptions' => 2]);
        equal(['ran@1', 'ran@2', 'failed'], seen('exceptions'), 'what ran');
    },
    'retryUntil: it is retried until then' => function () {
        after('dead', new Jobs\Until('until'));
        $seen = seen('until');
        equal('failed', array_pop($seen), 'the end');
        equal(true, count($seen) > 1, 'tries');
    },
    'it is enqueued again while it runs: the same task, with the changed payload' => function () {
        $task = after(null, new Acts('again', 'enqueuesItselfAgain'));
        equal(['ran@1'], seen('again'), 'what ran first');
        equal(['ran@2'], seen('again, changed'), 'what ran then');
        equal($task, seen_of('again, changed', 'ran')->task, 'the task');
    },
    'it is enqueued again in another queue: another task takes its place' => function () {
        after(null, new Acts('moves', 'movesItself'));
        eventually(fn () => seen('moves, moved') === ['ran@1'], 'the other one');
    },
    'a later job waits' => function () {
        $task = Queue::later(2, new Jobs\Note('later'));
        equal('waiting', state($task), 'state');
        ends($task);
        equal(['ran@1'], seen('later'), 'what ran');
    },
    'bulk() is one statement' => function () {
        DB::enableQueryLog();
        Queue::bulk([new Jobs\Note('bulk'), new Jobs\Note('bulk'), new Jobs\Note('bulk')]);
        equal(1, count(DB::getQueryLog()), 'statements');
        DB::disableQueryLog();
        eventually(fn () => count(seen('bulk')) === 3, 'all ran');
    },
    'A job that is unique in Allot exists once, and again after a rollback' => function () {
        DB::beginTransaction();
        Jobs\Once::dispatch('once');
        DB::rollBack();
        DB::transaction(function () {
            Jobs\Once::dispatch('once');
            Jobs\Once::dispatch('once');
        });
        eventually(fn () => seen('once') === ['ran@1'], 'it ran');
        eventually(function () {  // the key is free once the job is acknowledged
            Jobs\Once::dispatch('once');
            return count(seen('once')) > 1;
        }, 'it ran again');
    },
    'An encrypted job runs' => function () {
        $task = after(null, new Jobs\Secret('secret'));
        equal(['ran@1'], seen('secret'), 'what ran');
    },
    'Events and createPayloadUsing know a job as with other drivers' => function () {
        $queued = [];
        application()['events']->listen(\Illuminate\Queue\Events\JobQueued::class, function ($event) use (&$queued) {
            $queued[] = $event->id;
        });
        \Illuminate\Queue\Queue::createPayloadUsing(fn ($connection, $queue) => ['tag' => "$connection $queue"]);
        try {
            $task = after(null, new Acts('tagged', 'notesItsPayload'));
        } finally {
            \Illuminate\Queue\Queue::createPayloadUsing(null);
        }
        equal([$task], $queued, 'ids of JobQueued');
        equal("allot default $task", seen_of('tagged', 'payload')->detail, 'what the payload has');
    },
    'A chain runs in order, and calls its catch' => function () {
        Bus::chain([new Jobs\Note('first'), new Jobs\Note('second')])->dispatch();
        eventually(fn () => seen('second') === ['ran@1'], 'the second');
        equal(['ran@1'], seen('first'), 'the first');
        Bus::chain([new Acts('chained', 'throws'), new Jobs\Note('never')])->catch(function ($error) {
            \Illuminate\Support\Facades\DB::table('seen')->insert(
                ['job' => 'caught', 'what' => 'ran', 'detail' => '', 'attempt' => 1, 'task' => '']);
        })->dispatch();
        eventually(fn () => seen('caught') === ['ran@1'], 'the catch');
        equal([], seen('never'), 'the job after it');
    },
    'A batch ends, also if a member is killed on its last try' => function () {
        $batch = Bus::batch([new Jobs\Note('member'), new Acts('killed member', 'kills')])->allowFailures()->dispatch();
        eventually(fn () => $batch->fresh()->pendingJobs === 1 && $batch->fresh()->failedJobs === 1, 'the batch');
        $done = Bus::batch([new Jobs\Note('member'), new Jobs\Note('member')])->dispatch();
        eventually(fn () => $done->fresh()->finished(), 'the other batch');
    },
    'after_commit counts only for transactions of other connections' => function () {
        $late = Queue::connection('late');
        DB::beginTransaction();
        $task = $late->push(new Jobs\Note('late'));
        equal(true, $task !== null, 'submitted in the transaction');
        DB::rollBack();
        DB::connection('other')->beginTransaction();
        $late->push(new Jobs\Note('late on another'));
        usleep(300000);
        equal([], seen('late on another'), 'before the commit');
        DB::connection('other')->commit();
        eventually(fn () => seen('late on another') === ['ran@1'], 'after the commit');
        equal([], seen('late'), 'the rolled back one');
    },
    'The id comes from the connection that writes' => function () {
        $task = Queue::connection('split')->push(new Jobs\Note('split'));
        ends($task);
        equal(['ran@1'], seen('split'), 'what ran');
    },
    'size() and the other figures count' => function () {
        $task = Queue::later(3600, new Jobs\Note('sized'), '', 'other');
        $queue = Queue::connection();
        equal([1, 0, 1, 0], [$queue->size('other'), $queue->pendingSize('other'), $queue->delayedSize('other'),
                             $queue->reservedSize('other')], 'sizes');
        equal(null, $queue->creationTimeOfOldestPendingJob('other'), 'the oldest');
        allot('task', 'cancel', $task);
    },
    'pop() says who runs the jobs' => function () {
        try {
            Queue::pop();
        } catch (\LogicException $error) {
            return equal(true, str_contains($error->getMessage(), 'allot:work'), $error->getMessage());
        }
        throw new \RuntimeException('it returned');
    },
    'Types are names that Allot takes' => function () {
        $type = fn ($name) => \Allot\Laravel\TaskType::of('shop', $name);
        equal('shop.App.Jobs.Send', $type('App\Jobs\Send'), 'a class');
        equal('shop.App.Listeners.Mail.handle', $type('App\Listeners\Mail::handle'), 'a method');
        equal('shop.Closure__web.php_12_', $type('Closure (web.php:12)'), 'a closure');
        $long = $type('App\Jobs\\' . str_repeat('Very', 40) . 'Long');
        equal(\Allot\Laravel\TaskType::MAX_BYTES, strlen($long), 'its length');
        equal(1, preg_match('/^shop\.[0-9a-f]{8}\..*VeryLong$/', $long), $long);
        equal(true, $long !== $type('App\Jobs\\' . str_repeat('Very', 41) . 'Long'), 'another one');
    },
    'queue:failed, queue:retry and queue:forget act on the dead task' => function () {
        $task = after('dead', new Acts('failed', 'throws'));
        equal(true, str_contains(artisan('queue:failed'), $task), 'the list');
        artisan('queue:retry', $task);
        eventually(fn () => count(seen('failed')) === 6 && state($task) === 'dead', 'it ran again');
        equal(['ran@1', 'ran@2', 'failed'], array_slice(seen('failed'), 3), 'its attempts begin again');
        artisan('queue:forget', $task);
        equal(null, state($task), 'state');
        equal(false, str_contains(artisan('queue:failed'), $task), 'the list after it');
    },
    'queue:flush discards all dead tasks of the application, and no other ones' => function () {
        DB::statement("CALL allot.allot_submit('default', 'other.x', '', NULL, @id, @e)");
        $foreign = DB::selectOne('SELECT @id AS id')->id;
        $failed = application()['queue.failer'];
        $before = count($failed->all());
        Queue::bulk(array_fill(0, 1050, new Acts('flushed', 'failsItself')));  // more than one page of the gateway
        eventually(fn () => count($failed->all()) === $before + 1050, 'all are listed');
        $failed->flush(1);
        equal($before + 1050, count($failed->all()), 'jobs of less than an hour');
        artisan('queue:flush');
        equal([], $failed->all(), 'the list');
        equal('waiting', state($foreign), 'a task of another application');
        allot('task', 'cancel', $foreign);
    },
    'The gateway by its URL needs a token with the roles read and operate' => function () {
        $task = after('dead', new Acts('by URL', 'failsItself'));
        $asks = fn ($token, ...$words) => outcome(
            [getenv('APP_PHP'), getenv('APP_ARTISAN'), ...$words], ['APP_GATEWAY' => getenv('APP_URL'), 'APP_TOKEN' => $token]);
        $token = fn ($role) => trim(fgets(fopen(getenv('APP_TOKENS') . "/$role", 'r')));
        $refused = function (array $outcome, string $text) {
            equal(true, $outcome[0] !== 0 && str_contains($outcome[1], $text), "exit code {$outcome[0]}, '$text' in {$outcome[1]}");
        };
        $refused($asks('', 'queue:failed'), 'answers 401');
        $refused($asks('allot_wrong', 'queue:failed'), 'answers 401');
        $refused($asks($token('read'), 'queue:forget', $task), 'answers 403');
        $refused(outcome([getenv('APP_PHP'), getenv('APP_ARTISAN'), 'queue:failed'], ['APP_GATEWAY' => 'http://127.0.0.1:1']),
                 "gateway at http://127.0.0.1:1: Connection refused");
        equal('dead', state($task), 'state');
        foreach (['read', 'operate'] as $role) {
            [$status, $output] = $asks($token($role), 'queue:failed');
            equal(true, $status === 0 && str_contains($output, $task), $output);
        }
        [$status, $output] = $asks($token('operate'), 'queue:retry', $task);
        equal(0, $status, $output);
        eventually(fn () => seen('by URL') === ['ran@1', 'failed', 'ran@1', 'failed'] && state($task) === 'dead', 'it ran again');
        equal(0, $asks($token('operate'), 'queue:forget', $task)[0], 'forget');
        equal(null, state($task), 'state');
    },
    'queue:retry moves a deadline' => function () {
        $task = after('dead', new Jobs\Until('deadline'));
        $before = count(seen('deadline'));
        artisan('queue:retry', $task);
        equal(null, state($task), 'the old task');
        eventually(fn () => count(seen('deadline')) > $before + 1, 'it runs again');
    },
    'queue:restart: the next job runs in another process' => function () {
        after(null, new Jobs\Note('before'));
        $log = fn () => substr_count(file_get_contents(getenv('APP_WORK') . '/log'), 'queue:restart');
        $before = $log();
        artisan('queue:restart');
        after(null, new Jobs\Note('after'));
        equal(['ran@1'], seen('after'), 'what ran');
        equal(true, $log() > $before, 'the process left');
    },
    'queue:restart twice in a second: no job runs in a process between the two' => function () {
        foreach (['one', 'two', 'three'] as $name) {
            eventually(fn () => fmod(microtime(true), 1) < 0.1, 'a second begins', 2);
            $mark = time();  // a process that starts later in this second must exit, too
            application()['cache']->forever('illuminate:queue:restart', $mark);
            after(null, new Acts("restart $name", 'notesItsStart'));
            equal(true, (int) seen_of("restart $name", 'started')->detail > $mark, "start of the process of $name");
        }
    },
    'A reload with a mistake is refused with one message, and the processes continue' => function () {
        after(null, new Acts('before the reload', 'notesItsStart'));
        [$file, $allot] = [getenv('ALLOT_CONFIG'), getenv('APP_BUILD') . '/bin/allot'];
        $right = file_get_contents($file);
        try {
            file_put_contents($file, str_replace('size =', 'siez =', $right));
            [$status, $output] = outcome([$allot, 'reload', '--wait']);
            equal([78, 1], [$status, preg_match("/^allot: .*allot.toml:\\d+: unknown key 'siez' .*\\n$/", $output)], $output);
            file_put_contents($file, str_replace('hello_timeout', 'hello_timeot', $right));
            [$status, $output] = outcome([$allot, 'reload', '--wait']);
            equal([78, 1], [$status, count(explode("\n", trim($output)))], $output);
            equal(true, str_contains($output, 'refused') && str_contains($output, 'nothing has changed'), $output);
            $log = file_get_contents(getenv('APP_WORK') . '/log');
            equal(1, preg_match('/ reload\.refused .*hello_timeot/', $log), 'the reason in the log');
        } finally {
            file_put_contents($file, $right);
        }
        after(null, new Jobs\Note('after the refusal'));
        equal(['ran@1'], seen('after the refusal'), 'what ran');
        equal(true, str_contains(allot('reload', '--wait'), 'finished'), 'the next reload');
        after(null, new Jobs\Note('after the reload'));
        equal(['ran@1'], seen('after the reload'), 'what ran then');
    },
    'its payload is not signed with app.key: it is dead at once, and not unserialized' => function () {
        $signature = new \Allot\Laravel\Signature(['another key']);
        foreach (['{"job": "App\\\\Plain@fire", "data": {"name": "unsigned", "delete": true}}', 'x', ''] as $payload) {
            foreach ([$payload, $signature->sign($payload)] as $sent) {
                DB::statement('CALL allot.allot_submit(?, ?, ?, NULL, @id, @e)', ['default', 'shop.x', $sent]);
                $task = DB::selectOne('SELECT @id AS id')->id;
                dies($task);
                shows($task, 'not signed');
            }
        }
        equal([], seen('unsigned'), 'what ran');
    },
    'What is wrong with a signed payload is a failed attempt with the reason' => function () {
        $call = 'Illuminate\Queue\CallQueuedHandler@call';
        foreach ([
            '[]' => '', '7' => '', 'null' => '', '"x"' => '', '{' => '', '{"job": "Nowhere@fire", "data": []}' => 'Nowhere',
            json_encode(['job' => $call, 'data' => ['commandName' => 'Gone', 'command' => 'O:4:"Gone":0:{}']]) => 'Gone',
            json_encode(['job' => $call, 'data' => ['commandName' => 'X', 'command' => 'O:3:"xx']]) => 'unserialize',
        ] as $json => $reason) {
            $payload = application()[\Allot\Laravel\Signature::class]->sign((string) $json);
            DB::statement('CALL allot.allot_submit(?, ?, ?, ?, @id, @e)',
                          ['default', 'shop.x', $payload, '{"max_attempts": 1}']);
            $task = DB::selectOne('SELECT @id AS id')->id;
            dies($task);
            shows($task, $reason);
        }
        after(null, new Jobs\Note('after bad ones'));
        equal(['ran@1'], seen('after bad ones'), 'what ran');
    },
    'A payload of nearly 16 MiB runs, also in bulk' => function () {
        $job = fn ($name) => tap(new Jobs\Note($name), fn ($job) => $job->chainQueue = str_repeat('x', (16 << 20) - 4000));
        after(null, $job('large'));
        equal(['ran@1'], seen('large'), 'what ran');
        Queue::bulk([new Jobs\Note('small in bulk'), $job('large in bulk')]);
        eventually(fn () => seen('large in bulk') === ['ran@1'], 'the large one');
        eventually(fn () => seen('small in bulk') === ['ran@1'], 'the small one');
    },
    'its payload exceeds 16 MiB - 1: its dispatch is refused, and the transaction continues' => function () {
        $job = fn ($bytes) => tap(new Jobs\Note('too large'), fn ($job) => $job->chainQueue = str_repeat('x', $bytes));
        $refused = function (callable $push) {
            try {
                $push();
            } catch (\Illuminate\Queue\InvalidPayloadException $error) {
                $has = fn ($text) => str_contains($error->getMessage(), $text);
                return equal(true, $has('payload of App\Jobs\Note is 1') && $has('limit is 16777215'), $error->getMessage());
            }
            throw new \RuntimeException('it was taken');
        };
        $neighbour = DB::transaction(function () use ($job, $refused) {
            DB::table('orders')->insert(['name' => 'with a large job']);
            $refused(fn () => Queue::push($job(16 << 20)));
            $refused(fn () => Queue::later(5, $job((16 << 20) - 100)));
            $refused(fn () => Queue::bulk([new Jobs\Note('in one bulk'), $job(17 << 20)]));
            return Queue::push(new Jobs\Note('its neighbour'));
        });
        ends($neighbour);
        equal(['ran@1'], seen('its neighbour'), 'the neighbour');
        equal(1, DB::table('orders')->where('name', 'with a large job')->count(), 'the row');
        equal([[], []], [seen('too large'), seen('in one bulk')], 'what else ran');
    },
    'A child that keeps the descriptors open delays no other job' => function () {
        after(null, new Acts('child', 'leavesAChild'));
        after(null, new Jobs\Note('after the child'));
        equal(['ran@1'], seen('after the child'), 'what ran');
    },
    'A queue that Allot does not have is refused' => function () {
        try {
            Queue::push(new Jobs\Note('nowhere'), '', 'nowhere');
        } catch (\Illuminate\Database\QueryException $error) {
            return equal(true, str_contains($error->getMessage(), "queue 'nowhere'"), $error->getMessage());
        }
        throw new \RuntimeException('it was taken');
    },
]);
