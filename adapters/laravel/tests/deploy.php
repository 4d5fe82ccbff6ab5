<?php
// SPDX-License-Identifier: Apache-2.0
// Deploys successive releases during continuous dispatches: by a reload of allotd, and by the
// framework's queue:restart. Each committed job runs once, and never with code that a finished
// command has replaced.
namespace Tests;

use App\Jobs\Released;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

require __DIR__ . '/support.php';

const RELEASES = 4;
const JOBS_AFTER = 150;  // per release

/** Dispatches a job in a transaction; its name contains the earliest release that may run it. */
function dispatch_one(string $way, int $release, int &$jobs): void
{
    DB::transaction(function () use ($way, $release, &$jobs) {
        $name = "$way $release/" . ++$jobs;
        DB::table('orders')->insert(['name' => $name]);
        Queue::push(new Released($name));
    });
}

/** Installs new code and runs the command, with jobs dispatched before, during and after it. */
function release(string $way, array $command, int $release, int &$jobs): string
{
    file_put_contents(getenv('APP_WORK') . '/release.new', "<?php return $release;");
    rename(getenv('APP_WORK') . '/release.new', getenv('APP_WORK') . '/release.php');
    $null = ['file', '/dev/null', 'r+'];
    $process = proc_open($command, [$null, $null, STDERR], $pipes);
    do {
        dispatch_one($way, $release - 1, $jobs);
        $status = proc_get_status($process);
    } while ($status['running']);
    equal(0, $status['exitcode'], implode(' ', $command));
    $finished = DB::selectOne('SELECT NOW(6) AS at')->at;
    for ($i = 0; $i < JOBS_AFTER; $i++) {
        dispatch_one($way, $release, $jobs);
    }
    return $finished;
}

/** @return string[] end of each release's command */
function deploys(string $way, array $command): array
{
    static $release = 0;
    $jobs = 0;
    $finished = [];
    for ($i = 0; $i < RELEASES; $i++) {
        $finished[++$release] = release($way, $command, $release, $jobs);
    }
    $ended = fn () => DB::table('seen')->where('job', 'like', "$way %")->where('what', 'release');
    eventually(fn () => $ended()->distinct()->count('job') === $jobs, 'all committed jobs ran');
    eventually(fn () => Queue::size() === 0, 'the queue is empty');
    equal($jobs, DB::table('orders')->where('name', 'like', "$way %")->count(), 'rows of committed transactions');
    equal($jobs, DB::table('seen')->where('job', 'like', "$way %")->where('what', 'ran')->count(), 'runs');
    foreach ($ended()->get() as $row) {
        preg_match('/ (\d+)\//', $row->job, $least);
        equal(true, (int) $row->detail >= (int) $least[1], "{$row->job} ran with release {$row->detail}; new enough");
    }
    printf("%d jobs with %d releases, %d of them while a command ran\n", $jobs, RELEASES, $jobs - RELEASES * JOBS_AFTER);
    return $finished;
}

run([
    'A deploy by a reload loses no job, and no old code runs after it' => function () {
        $finished = deploys('reload', [getenv('APP_BUILD') . '/bin/allot', 'reload', '--wait']);
        foreach ($finished as $release => $at) {
            $old = DB::table('seen')->where('what', 'release')->where('at', '>', $at)->where('detail', '<', $release);
            equal(0, $old->count(), "jobs that ended with old code after release $release");
        }
    },
    'A deploy by queue:restart loses no job, and none that is dispatched after it runs with old code' => function () {
        deploys('restart', [getenv('APP_PHP'), getenv('APP_ARTISAN'), 'queue:restart']);
    },
]);
