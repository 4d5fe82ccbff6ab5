<?php
// SPDX-License-Identifier: Apache-2.0
// Dispatches ALLOT_JOBS jobs (10,000), each in a transaction with a row of `orders`, every seventh
// rolled back, while workers, PHP processes and the database server are killed. Exactly the jobs of
// the committed rows run. Then runs batches in which one member is killed on its last try.
namespace Tests;

use App\Jobs\Counts;
use App\Jobs\Note;
use App\Jobs\Waits;
use Illuminate\Support\Facades\Bus;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

require __DIR__ . '/support.php';

/** @return int[] children of a process whose command line contains the text */
function children(int $parent, string $text): array
{
    $pids = [];
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        $stat = @file_get_contents($file);
        if (!$stat || !preg_match('/^(\d+) \(.*\) \S (\d+) /s', $stat, $match) || (int) $match[2] !== $parent) {
            continue;
        }
        if (str_contains((string) @file_get_contents("/proc/{$match[1]}/cmdline"), $text)) {
            $pids[] = (int) $match[1];
        }
    }
    return $pids;
}

/** Kills one process of the kind; false: none exists at the moment. */
function kill_one(string $kind): bool
{
    $allotd = (int) getenv('APP_ALLOTD');
    $workers = children($allotd, 'allot-worker');
    $of_kind = match ($kind) {
        'worker' => $workers,
        'php' => array_merge(...array_map(fn ($pid) => children($pid, 'allot:work'), $workers ?: [0])),
        'server' => [(int) @file_get_contents(getenv('APP_WORK') . '/db/pid')],
    };
    return $of_kind && ($pid = $of_kind[array_rand($of_kind)]) > 1 && posix_kill($pid, SIGKILL);
}

/** A batch whose last member is killed on its last try, the process alone or its worker with it. */
function batch_with_a_kill(string $name, bool $worker): void
{
    $last = new Waits($name);
    $batch = Bus::batch([new Note("$name, one"), new Note("$name, two"), $last])->allowFailures()
        ->finally(fn ($batch) => DB::table('seen')->insert(
            ['job' => $batch->name, 'what' => 'finally', 'detail' => '', 'attempt' => 1, 'task' => '']))
        ->name($name)->dispatch();
    for ($try = 1; $try <= $last->tries; $try++) {
        $pid = eventually(fn () => DB::table('seen')->where('job', $name)->where('what', 'process')
            ->where('attempt', $try)->value('detail'),
                          "$name: try $try");
        [, $parent] = explode(') ', file_get_contents("/proc/$pid/stat"));
        posix_kill($worker ? (int) explode(' ', $parent)[1] : (int) $pid, SIGKILL);
    }
    eventually(fn () => $batch->fresh()->failedJobs === 1, "$name: the failure is recorded");
    eventually(fn () => $batch->fresh()->pendingJobs === 1, "$name: the others are done");
    eventually(fn () => in_array('finally@1', seen($name)), "$name: finally() was called");
    eventually(fn () => in_array('failed', seen($name)), "$name: failed() was called");
}

run(['Exactly the jobs that were committed run, whatever is killed' => function () {
    $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
    $killed = ['worker' => 0, 'php' => 0, 'server' => 0];
    for ($i = 1; $i <= $jobs; $i++) {
        try {
            DB::beginTransaction();
            DB::table('orders')->insert(['name' => "job $i"]);
            Queue::push(new Counts("job $i"));
            $i % 7 === 0 ? DB::rollBack() : DB::commit();
        } catch (\PDOException $error) {  // `orders` shows whether it was committed
            eventually(function () {
                try {
                    return DB::reconnect('mysql')->select('SELECT 1');
                } catch (\PDOException $away) {
                    return false;
                }
            }, 'the server is back');
        }
        if ($i % 97 === 0) {
            $kind = $i % 970 === 0 ? 'server' : ($i % 2 ? 'worker' : 'php');
            $killed[$kind] += kill_one($kind) ? 1 : 0;
        }
    }
    $committed = fn () => DB::table('orders')->where('name', 'like', 'job %')->count();
    $ran = fn () => DB::table('seen')->where('what', 'ran')->distinct()->count('job');
    eventually(fn () => $ran() >= $committed(), 'all committed jobs ran', 600);
    $extra = DB::selectOne("SELECT COUNT(DISTINCT job) AS n FROM seen LEFT JOIN orders ON name = job WHERE name IS NULL")->n;
    equal(0, $extra, 'jobs that ran and were not committed');
    eventually(fn () => Queue::size() === 0, 'the queue is empty', 600);
    equal(0, DB::table('seen')->where('what', 'failed')->count(), 'jobs that failed');
    printf("%d jobs, %d committed, %d runs; killed: %s\n", $jobs, $committed(),
           DB::table('seen')->where('what', 'ran')->count(), json_encode($killed));
    foreach ($killed as $kind => $times) {
        equal(true, $times > 0, "kills of $kind");
    }
},
'A batch whose member is killed on its last try ends' => function () {
    foreach (range(1, 5) as $i) {
        batch_with_a_kill("batch $i, a process", false);
        batch_with_a_kill("batch $i, a worker", true);
    }
}]);
